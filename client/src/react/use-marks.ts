/** What of a session's marks and registers a component shows. */
import type { Json } from "@espalier/shared";
import { useCallback, useSyncExternalStore } from "react";
import type { Marks } from "../marks/marks.js";
import type { Session } from "../session-types.js";

/**
 * Renders again when what `read` gives is another value or object: the lists of marks are the same ones until
 * something of them changes.
 *
 * @example
 * const isFolded = useMarks(session, ({ collapsed }) => collapsed.has(id, "thinking"));
 * const pinned = useMarks(session, ({ pins }) => pins.list());
 */
export const useMarks = <T>(session: Session, read: (marks: Marks) => T): T => {
  const readNow = (): T => read(session.marks);
  return useSyncExternalStore(useSubscribeRegisters(session), readNow, readNow);
};

/** A register's value, or null. */
export const useRegister = (session: Session, key: string): Json => {
  const read = (): Json => session.register(key);
  return useSyncExternalStore(useSubscribeRegisters(session), read, read);
};

const useSubscribeRegisters = (session: Session): ((onChange: () => void) => () => void) =>
  useCallback(
    (onChange) =>
      session.subscribe(({ type }) => {
        // With the status comes who this is, and so whose marks are shown.
        if (type === "register" || type === "status") onChange();
      }),
    [session],
  );
