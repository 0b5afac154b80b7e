/** A read of a session as a promise: what it gives is taken in the session's turn, between two commits. */
import { EspalierError } from "@espalier/shared";
import type { Session, SessionRead } from "./session.js";

/** @throws EspalierError where it has ended */
export const readNow = <T>(session: Session, read: (session: SessionRead) => T): Promise<T> =>
  new Promise((resolve, reject) =>
    session.read(
      (now) => {
        try {
          resolve(read(now));
        } catch (cause) {
          reject(cause);
        }
      },
      (error) => reject(new EspalierError(error.code, error.message)),
    ),
  );
