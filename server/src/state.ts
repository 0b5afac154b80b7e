/**
 * A session as it is now: the fold of its log, with what deciding needs beside the tree. Only `apply`
 * changes it, in the order of the log.
 */
import {
  createRegisters,
  createRuns,
  createTree,
  type Delta,
  type Entry,
  type EntryId,
  isRunEnded,
  type LogRecord,
  type Register,
  type Registers,
  type Run,
  type RunId,
  type Runs,
  type Tree,
  type TreeNode,
} from "@espalier/shared";
import { createGrowth, type Growth } from "./growth.js";

export type SessionState = {
  /** The highest seq, or the floor that seqs must rise from (D2). */
  readonly head: number;
  readonly tree: Tree;
  readonly runs: Runs;
  readonly registers: Registers;
  /** Registers that are set, and about how many bytes they take: every join carries them (G1). */
  readonly registered: { readonly count: number; readonly weight: number };
  /** What every join names: streaming entries, and runs that have not ended. */
  readonly unfinished: { readonly entries: number; readonly runs: number };
  /** Streaming entries, in the order in which they began. */
  open(): IterableIterator<TreeNode>;
  /** The entry as it was published, before any append: what a repeat is compared with (L4). */
  published(id: EntryId): Entry | undefined;
  /** What was appended to a streaming entry from one position to another (S3). */
  appended(id: EntryId, from: number, to: number): readonly Delta[];
  /** About how many bytes a streaming entry takes (L6). */
  weight(id: EntryId): number;
  /** The entry that a run wrote last. */
  lastOfRun(id: RunId): EntryId | undefined;
  apply(record: LogRecord): void;
};

export const createSessionState = (floor: number): SessionState => {
  const tree = createTree();
  const runs = createRuns();
  const registers = createRegisters();
  const registered = { count: 0, weight: 0 };
  const openById = new Map<EntryId, TreeNode>();
  const growthById = new Map<EntryId, Growth>();
  const publishedById = new Map<EntryId, Entry>();
  const lastByRun = new Map<RunId, EntryId>();
  let openRuns = 0;
  let head = floor;

  const applyToRuns = (record: Run): void => {
    openRuns -= isOpen(runs.get(record.id)) ? 1 : 0;
    openRuns += isOpen(runs.apply(record)) ? 1 : 0;
  };

  const applyToTree = (record: LogRecord): void => {
    const applied = tree.apply(record);
    if (applied.type === "added") {
      const { entry } = applied.node;
      if (entry.status === "streaming") openById.set(entry.id, applied.node);
      if (entry.status === "streaming" && entry.type === "message")
        growthById.set(entry.id, createGrowth(entry));
      if (entry.runId !== undefined) lastByRun.set(entry.runId, entry.id);
    }
    if (applied.type === "changed" && record.kind === "append") {
      const { entry } = applied.node;
      if (!publishedById.has(record.id)) publishedById.set(record.id, applied.before);
      if (entry.status !== "streaming") {
        openById.delete(record.id);
        growthById.delete(record.id);
      } else if (entry.type === "message") growthById.get(record.id)?.push(record.deltas, entry.parts);
    }
  };

  const applyToRegisters = (record: Register): void => {
    const held = registers.record(record.key);
    if (!registers.apply(record)) return;
    registered.count += countOf(record) - countOf(held);
    registered.weight += weightOfRegister(record) - weightOfRegister(held);
  };

  return {
    get head() {
      return head;
    },
    tree,
    runs,
    registers,
    registered,
    get unfinished() {
      return { entries: openById.size, runs: openRuns };
    },
    open: () => openById.values(),
    published: (id) => publishedById.get(id) ?? tree.get(id)?.entry,
    appended: (id, from, to) => growthById.get(id)?.slice(from, to) ?? [],
    weight: (id) => growthById.get(id)?.weight ?? 0,
    lastOfRun: (id) => lastByRun.get(id),
    apply: (record) => {
      head = Math.max(head, record.seq);
      if (record.kind === "run") applyToRuns(record);
      else if (record.kind === "register") applyToRegisters(record);
      else applyToTree(record);
    },
  };
};

const isOpen = (run: Run | undefined): boolean => run !== undefined && !isRunEnded(run.status);

const countOf = (register: Register | undefined): number =>
  register === undefined || register.value === null ? 0 : 1;

export const weightOfRegister = (register: Pick<Register, "key" | "value"> | undefined): number =>
  register === undefined || register.value === null
    ? 0
    : register.key.length + JSON.stringify(register.value).length;
