/**
 * What every export is made from: a session's log, folded. Pure; records come from a log, or are what a
 * server told of it, in which they are folded already.
 */
import {
  createRegisters,
  createRuns,
  createTree,
  defaultLeaf,
  type EntryId,
  EspalierError,
  type LogRecord,
  RESET,
  type Registers,
  type Runs,
  type SessionId,
  TITLE,
  type Tree,
  type TreeNode,
} from "@espalier/shared";
import type { LogHeader } from "../store/log-store.js";

export type Conversation = {
  readonly id: SessionId;
  readonly header: LogHeader;
  readonly tree: Tree;
  readonly registers: Registers;
  readonly runs: Runs;
  /** In order: what no fold holds. Earlier resets, erasures, and what this version does not know (L5). */
  readonly others: readonly LogRecord[];
  /** The record with the highest seq, or null. */
  readonly last: LogRecord | null;
};

/**
 * @param records those that it shares with its origin among them, in order of seq.
 * @example const conversation = foldConversation({ id, header, records: log.records });
 */
export const foldConversation = ({
  id,
  header,
  records,
}: {
  readonly id: SessionId;
  readonly header: LogHeader;
  readonly records: Iterable<LogRecord>;
}): Conversation => {
  const tree = createTree();
  const registers = createRegisters();
  const runs = createRuns();
  const others: LogRecord[] = [];
  let last: LogRecord | null = null;
  for (const record of records) {
    if (last === null || record.seq > last.seq) last = record;
    const before = record.kind === "register" ? registers.record(record.key) : undefined;
    if (before !== undefined && before.key === RESET && before.value !== null) others.push(before);
    if (record.kind === "register") registers.apply(record);
    if (record.kind === "run") runs.apply(record);
    else if (tree.apply(record).type === "missing" || isOther(record)) others.push(record);
  }
  return { id, header, tree, registers, runs, others, last };
};

const FOLDED: readonly string[] = ["entry", "append", "register"] satisfies LogRecord["kind"][];
const isOther = ({ kind }: LogRecord): boolean => !FOLDED.includes(kind);

export const titleOf = ({ registers }: Conversation): string | null => {
  const title = registers.get(TITLE);
  return typeof title === "string" && title !== "" ? title : null;
};

/** The end of the line to export: the one that is named, else the one that is shown where none is (V2). */
export const leafOf = ({ id, tree, registers }: Conversation, leaf: EntryId | undefined): TreeNode | null => {
  if (leaf === undefined) return defaultLeaf(tree, registers);
  const node = tree.get(leaf);
  if (node !== undefined) return node;
  throw new EspalierError("not_found", `unable to read ${id}; it has no entry ${leaf}`);
};
