/**
 * The registers that have a meaning of their own (G1). A key is a kind, and after a colon what of that
 * kind: `pin:ENTRY`, `branch:NAME`. All other keys are the application's.
 */
import { isPrincipalId, type PrincipalId } from "./ids.js";

/** The session's title: text. */
export const TITLE = "title";
/** Set: the session is hidden from lists that do not ask for it (F8). */
export const ARCHIVED = "archived";
/**
 * What came before it is of an earlier logical session: its entries keep their ids and can be branched to,
 * but nothing of it is shown, counted or gone on from unless it is named (F8). Its value is an id of its own.
 */
export const RESET = "reset";
/** A register that names the leaf of the line to show where none is asked for (V2). */
export const ACTIVE_LINE = "view:active";
/** What the application keeps of a session as a whole. */
export const META = "meta";

const BRANCH = "branch:";
const LABEL = "label:";
const PIN = "pin:";
/** Those of one principal, which nobody else sets. */
const COLLAPSE = "collapse:";
const READ = "read:";
const SAVED_VIEW = "saved-view:";

export const KEY_KINDS = { BRANCH, LABEL, PIN, COLLAPSE, READ, SAVED_VIEW } as const;

/** Whose register it is, where it is one that only its owner (or an admin) sets. */
export const ownerOfKey = (key: string): PrincipalId | null => {
  const kind = [COLLAPSE, READ, SAVED_VIEW].find((prefix) => key.startsWith(prefix));
  if (kind === undefined) return null;
  const owner = key.slice(kind.length);
  return isPrincipalId(owner) ? owner : null;
};
