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
  RESET,
  type RecordsMessage,
  type Register,
  type Registers,
  type RunId,
  type Runs,
  type ServerMessage,
  sizeOfDeltas,
  type Tree,
  type TreeNode,
} from "@espalier/shared";
import { factsAfter, factsOf, type LogFacts, NO_FACTS } from "./log-facts.js";
import { createSiblings, type Siblings } from "./siblings.js";

type Joined = Extract<ServerMessage, { type: "joined" }>;
type Window = Extract<ServerMessage, { type: "window" }>;

/** What applying a batch changed, in the order in which it came. */
export type ReplicaChange =
  | { readonly type: "added"; readonly node: TreeNode }
  /** A streaming entry took an append. */
  | { readonly type: "grown"; readonly node: TreeNode }
  /** An entry was replaced as a whole, as when its content was erased. */
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
  readonly facts: LogFacts;
  /** Counts the erasures that came, also of entries that are not held. */
  readonly erasures: number;
  /** There are registers that the join did not give, and that have not come since. */
  readonly lacksRegisters: boolean;
  /** Takes a fresh window in place of everything that was held. */
  replace(joined: Joined): void;
  /** Takes what came after the cursor. */
  catchUp(joined: Joined): Outcome;
  apply(batch: Pick<RecordsMessage, "records" | "upto">): Outcome;
  /** Takes registers that a join left out; `isLast`: no others are missing now. */
  addRegisters(registers: readonly Register[], isLast: boolean): ReplicaChange[];
  /** Takes older entries, or those of another branch. Returns the parents of whose children more is known. */
  add(window: Window): ReadonlySet<EntryId | null>;
};

/** `isMissing`: something before one of these was not received, so join again (S4). */
type Outcome = { readonly changes: ReplicaChange[]; readonly isMissing: boolean };

type Given = Pick<Window, "entries" | "alternatives">;

export const createReplica = (): Replica => {
  let tree = createTree();
  let siblings = createSiblings();
  let runs = createRuns();
  let registers = createRegisters();
  let cursor: Cursor | undefined;
  let facts = NO_FACTS;
  let lacksRegisters = false;
  let erasures = 0;
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
      // A root from before a reset is no alternative to those that came since (F8).
      const isOfEarlier = entry.parentId === null && entry.seq < tree.resetSeq;
      if (!named.has(entry.parentId) && !isOfEarlier)
        give({ parentId: entry.parentId, total: 1, from: 0, ids: [entry.id] });
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
        return applyLiveRegister(record);
      default:
        return applyToTree(record);
    }
  };

  const applyRegister = (record: Register): ReplicaChange | null => {
    if (!registers.apply(record)) return null;
    tree.apply(record);
    return { type: "register", key: record.key };
  };

  /** What a join gave knows of resets before it; one that comes after it begins the roots anew. */
  const applyLiveRegister = (record: Register): ReplicaChange | null => {
    const change = applyRegister(record);
    if (change !== null && record.key === RESET) siblings.reset();
    return change;
  };

  const applyToTree = (record: LogRecord): ReplicaChange | "missing" | null => {
    if (record.kind === "append" && unloadedOpen.has(record.id)) return passUnloaded(record);
    if (record.kind === "erase") {
      erasures += 1;
      unloadedOpen.delete(record.id);
    }
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

  const apply: Replica["apply"] = ({ records, upto }) => {
    const changes: ReplicaChange[] = [];
    for (const record of records) {
      const change = applyOne(record);
      if (change === "missing") return { changes, isMissing: true };
      if (change !== null) changes.push(change);
    }
    facts = factsAfter(facts, records);
    if (cursor !== undefined) cursor = { epoch: cursor.epoch, seq: upto };
    return { changes, isMissing: false };
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
    get facts() {
      return facts;
    },
    get erasures() {
      return erasures;
    },
    get lacksRegisters() {
      return lacksRegisters;
    },
    replace: (joined) => {
      tree = createTree();
      siblings = createSiblings();
      runs = createRuns();
      registers = createRegisters();
      unloadedOpen = new Map(joined.open.map(({ id, size }) => [id, size]));
      cursor = { epoch: joined.epoch, seq: joined.head };
      facts = factsOf(joined);
      lacksRegisters = joined.hasMoreRegisters ?? false;
      for (const run of joined.runs) runs.apply(run);
      for (const register of joined.registers) applyRegister(register);
      add(
        joined,
        joined.lines.map(({ leaf }) => leaf),
      );
    },
    catchUp: (joined) => {
      const outcome = apply({ records: joined.records, upto: joined.head });
      if (!outcome.isMissing) facts = factsOf(joined);
      return outcome;
    },
    apply,
    addRegisters: (given, isLast) => {
      if (isLast) lacksRegisters = false;
      return given.flatMap((register) => applyRegister(register) ?? []);
    },
    add: (window) => add(window, [window.leaf]),
  };
};
