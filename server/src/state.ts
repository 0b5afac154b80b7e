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
  type LogRecord,
  pushDelta,
  type Registers,
  type RunId,
  type Runs,
  sizeOfDelta,
  type Tree,
  type TreeNode,
  takeDeltas,
  trimDeltas,
} from "@espalier/shared";

export type SessionState = {
  /** The highest seq, or the floor that seqs must rise from (D2). */
  readonly head: number;
  readonly tree: Tree;
  readonly runs: Runs;
  readonly registers: Registers;
  /** Streaming entries, in the order in which they began. */
  open(): IterableIterator<TreeNode>;
  /** The entry as it was published, before any append: what a repeat is compared with (L4). */
  published(id: EntryId): Entry | undefined;
  /** What was appended to a streaming entry from one position to another (S3). */
  appended(id: EntryId, from: number, to: number): readonly Delta[];
  /** The entry that a run wrote last. */
  lastOfRun(id: RunId): EntryId | undefined;
  apply(record: LogRecord): void;
};

export const createSessionState = (floor: number): SessionState => {
  const tree = createTree();
  const runs = createRuns();
  const registers = createRegisters();
  const openById = new Map<EntryId, TreeNode>();
  const appendedById = new Map<EntryId, AppendHistory>();
  const publishedById = new Map<EntryId, Entry>();
  const lastByRun = new Map<RunId, EntryId>();
  let head = floor;

  const applyToTree = (record: LogRecord): void => {
    const applied = tree.apply(record);
    if (applied.type === "added") {
      const { entry } = applied.node;
      if (entry.status === "streaming") openById.set(entry.id, applied.node);
      if (entry.runId !== undefined) lastByRun.set(entry.runId, entry.id);
    }
    if (applied.type === "changed" && record.kind === "append") {
      if (!publishedById.has(record.id)) publishedById.set(record.id, applied.before);
      if (applied.node.entry.status === "streaming") {
        const history = appendedById.get(record.id) ?? createAppendHistory();
        appendedById.set(record.id, history);
        history.push(record.deltas);
      } else {
        openById.delete(record.id);
        appendedById.delete(record.id);
      }
    }
  };

  return {
    get head() {
      return head;
    },
    tree,
    runs,
    registers,
    open: () => openById.values(),
    published: (id) => publishedById.get(id) ?? tree.get(id)?.entry,
    appended: (id, from, to) => appendedById.get(id)?.slice(from, to) ?? [],
    lastOfRun: (id) => lastByRun.get(id),
    apply: (record) => {
      head = Math.max(head, record.seq);
      if (record.kind === "run") runs.apply(record);
      else if (record.kind === "register") registers.apply(record);
      else applyToTree(record);
    },
  };
};

type AppendHistory = {
  push(deltas: readonly Delta[]): void;
  slice(from: number, to: number): readonly Delta[];
};

/** The deltas of one streaming entry by position. What is asked for lies near the end. */
const createAppendHistory = (): AppendHistory => {
  const deltas: Delta[] = [];
  let size = 0;
  return {
    push: (more) => {
      for (const delta of more) {
        pushDelta(deltas, delta);
        size += sizeOfDelta(delta);
      }
    },
    slice: (from, to) => {
      let index = deltas.length;
      let start = size;
      while (index > 0 && start > from) {
        index -= 1;
        start -= sizeOfDelta(deltas[index] as Delta);
      }
      return takeDeltas(trimDeltas(deltas.slice(index), from - start), to - from);
    },
  };
};
