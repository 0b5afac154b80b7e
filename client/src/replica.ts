/**
 * What this client holds of one session: the fold of the records it was given, and where it is in the
 * log. Records change it only through here; nothing optimistic ever enters it (O1).
 */
import {
  type Alternatives,
  type Cursor,
  createRegisters,
  createRuns,
  createTree,
  type EntryId,
  type LogRecord,
  type RecordsMessage,
  type Registers,
  type RunId,
  type Runs,
  type ServerMessage,
  sizeOfDeltas,
  type Tree,
  type TreeNode,
} from "@espalier/shared";
import { createSiblings, type Siblings } from "./siblings.js";

type Joined = Extract<ServerMessage, { type: "joined" }>;
type Window = Extract<ServerMessage, { type: "window" }>;

/** What applying a batch changed, in the order in which it came. */
export type ReplicaChange =
  | { readonly type: "added"; readonly node: TreeNode }
  /** A streaming entry took an append. */
  | { readonly type: "grown"; readonly node: TreeNode }
  /** An entry was replaced as a whole. */
  | { readonly type: "changed"; readonly node: TreeNode }
  | { readonly type: "run"; readonly id: RunId }
  | { readonly type: "register"; readonly key: string };

export type Replica = {
  readonly tree: Tree;
  readonly siblings: Siblings;
  readonly runs: Runs;
  readonly registers: Registers;
  /** Undefined before the first join. */
  readonly cursor: Cursor | undefined;
  /** Takes a fresh window in place of everything that was held. */
  replace(joined: Joined): void;
  /** `isMissing`: something before one of these was not received, so join again (S4). */
  apply(batch: Pick<RecordsMessage, "records" | "upto">): { changes: ReplicaChange[]; isMissing: boolean };
  /** Takes older entries, or those of another branch. Returns the parents of whose children more is known. */
  add(window: Window): ReadonlySet<EntryId | null>;
};

type Given = Pick<Window, "entries" | "alternatives">;

export const createReplica = (): Replica => {
  let tree = createTree();
  let siblings = createSiblings();
  let runs = createRuns();
  let registers = createRegisters();
  let cursor: Cursor | undefined;
  /** Streaming entries whose text was not asked for. */
  let unloadedOpen = new Map<EntryId, number>();

  const add = (
    { entries, alternatives }: Given,
    leaves: readonly (EntryId | null)[],
  ): ReadonlySet<EntryId | null> => {
    const parentIds = new Set<EntryId | null>();
    const give = (given: Alternatives): void => {
      for (const parentId of siblings.give(given)) parentIds.add(parentId);
    };
    const named = new Set(alternatives.map(({ parentId }) => parentId));
    for (const given of alternatives) give(given);
    for (const entry of entries) {
      tree.apply(entry);
      unloadedOpen.delete(entry.id);
      if (!named.has(entry.parentId)) give({ parentId: entry.parentId, total: 1, from: 0, ids: [entry.id] });
    }
    for (const leaf of leaves) if (!named.has(leaf)) give({ parentId: leaf, total: 0, from: 0, ids: [] });
    return parentIds;
  };

  const applyOne = (record: LogRecord): ReplicaChange | "missing" | null => {
    switch (record.kind) {
      case "run":
        runs.apply(record);
        return { type: "run", id: record.id };
      case "register":
        return registers.apply(record) ? { type: "register", key: record.key } : null;
      default:
        return applyToTree(record);
    }
  };

  const applyToTree = (record: LogRecord): ReplicaChange | "missing" | null => {
    if (record.kind === "append" && unloadedOpen.has(record.id)) return passUnloaded(record);
    const applied = tree.apply(record);
    switch (applied.type) {
      case "added":
        siblings.born(applied.node.entry);
        return { type: "added", node: applied.node };
      case "changed":
        return { type: record.kind === "append" ? "grown" : "changed", node: applied.node };
      case "missing":
        return "missing";
      case "ignored":
        return null;
    }
  };

  const passUnloaded = (record: Extract<LogRecord, { kind: "append" }>): "missing" | null => {
    const size = unloadedOpen.get(record.id) ?? 0;
    if (record.at > size) return "missing";
    if (record.status !== undefined) unloadedOpen.delete(record.id);
    else unloadedOpen.set(record.id, Math.max(size, record.at + sizeOfDeltas(record.deltas)));
    return null;
  };

  return {
    get tree() {
      return tree;
    },
    get siblings() {
      return siblings;
    },
    get runs() {
      return runs;
    },
    get registers() {
      return registers;
    },
    get cursor() {
      return cursor;
    },
    replace: (joined) => {
      tree = createTree();
      siblings = createSiblings();
      runs = createRuns();
      registers = createRegisters();
      unloadedOpen = new Map(joined.open.map(({ id, size }) => [id, size]));
      cursor = { epoch: joined.epoch, seq: joined.head };
      for (const run of joined.runs) runs.apply(run);
      for (const register of joined.registers) registers.apply(register);
      add(
        joined,
        joined.lines.map(({ leaf }) => leaf),
      );
    },
    apply: ({ records, upto }) => {
      const changes: ReplicaChange[] = [];
      for (const record of records) {
        const change = applyOne(record);
        if (change === "missing") return { changes, isMissing: true };
        if (change !== null) changes.push(change);
      }
      if (cursor !== undefined) cursor = { epoch: cursor.epoch, seq: upto };
      return { changes, isMissing: false };
    },
    add: (window) => add(window, [window.leaf]),
  };
};
