/** Whether a session is live, its title, and what was written here and is not acknowledged. */
import { useSyncExternalStore } from "react";
import type { Session, SessionSnapshot } from "../session-types.js";

export const useSession = (session: Session): SessionSnapshot => {
  const read = (): SessionSnapshot => session.snapshot;
  return useSyncExternalStore(session.subscribe, read, read);
};
