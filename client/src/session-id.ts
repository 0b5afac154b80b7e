/** A session's id at the client's door: any text may come in, and what is no id is a mistake in the program. */
import { EspalierError, isSessionId, type SessionId } from "@espalier/shared";

/** `what` is what cannot be done with it. Throws `invalid_id`. */
export const sessionId = (id: string, what: string): SessionId => {
  if (isSessionId(id)) return id;
  throw new EspalierError("invalid_id", `unable to ${what}; ${JSON.stringify(id)} is no session id`);
};
