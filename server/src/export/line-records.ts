/**
 * The records of one line of a session: its entries, the runs that it asked for or was written by, and the
 * registers that are of the session or of the line. What is said of other lines, what one principal keeps for
 * itself, and resets stay behind. Seqs are the log's own, so they skip.
 */
import {
  ACTIVE_LINE,
  KEY_KINDS,
  type LogRecord,
  ownerOfKey,
  pathTo,
  RESET,
  type Register,
  type TreeNode,
} from "@espalier/shared";
import type { Conversation } from "./conversation.js";
import { inLogOrder } from "./log-order.js";

/** In order of seq. */
export const recordsOfLine = (
  { tree, registers, runs, others }: Conversation,
  leaf: TreeNode,
): Iterable<LogRecord> => {
  const entries = pathTo(leaf).map(({ entry }) => entry);
  const ids = new Set<string>(entries.map(({ id }) => id));
  const runIds = new Set<string | undefined>(entries.map(({ runId }) => runId));
  const beside = [
    ...[...runs.all()].filter(({ id, inputId }) => runIds.has(id) || (inputId !== null && ids.has(inputId))),
    ...registers.all().filter((register) => isOnLine(register, ids)),
    ...others.filter((record) => record.kind === "erase" && ids.has(record.id)),
  ];
  return inLogOrder(entries, beside, null, tree);
};

const { BRANCH, LABEL, PIN } = KEY_KINDS;

const isOnLine = ({ key, value }: Register, ids: ReadonlySet<string>): boolean => {
  if (key === RESET || key === ACTIVE_LINE || ownerOfKey(key) !== null) return false;
  if (key.startsWith(BRANCH)) return ids.has(String(value));
  const about = [LABEL, PIN].find((kind) => key.startsWith(kind));
  return about === undefined || ids.has(key.slice(about.length));
};
