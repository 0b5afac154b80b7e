/**
 * The tree: a pure fold of a log's entries and appends (T1). Only `apply` changes it.
 *
 * `parentId` is the only pointer that is stored; parents and children here are derived from it (T3).
 * Children stand in the order of their seq (T2). The server's tree is whole; a replica's may hold an
 * entry whose parent is not loaded, and links the two when the parent comes (T4).
 */
import type { EntryId } from "./ids.js";
import type { Append, Entry, LogRecord } from "./record.js";
import { foldAppend, sizeOfDeltas, trimDeltas } from "./stream.js";

export type TreeNode = {
  /** Frozen from the first look; another object takes its place when the entry changes (S8). */
  readonly entry: Entry;
  /** Null for a root, and where the parent is not loaded. */
  readonly parent: TreeNode | null;
  /** Those that are loaded, in order of seq. */
  readonly children: readonly TreeNode[];
};

const NO_NODES: readonly Node[] = Object.freeze([]);

/**
 * A class for the sake of its getter: an entry is frozen when somebody first looks at it. Freezing is
 * the greater part of a fold's cost, and most of a long log is folded without being looked at.
 */
class Node implements TreeNode {
  held: Entry;
  isFrozen = false;
  parent: Node | null = null;
  children: readonly Node[] = NO_NODES;

  constructor(entry: Entry) {
    this.held = entry;
  }

  get entry(): Entry {
    if (!this.isFrozen) {
      freezeEntry(this.held);
      this.isFrozen = true;
    }
    return this.held;
  }
}

export type Applied =
  | { readonly type: "added"; readonly node: TreeNode }
  | { readonly type: "changed"; readonly node: TreeNode; readonly before: Entry }
  /** Known already, or of a kind that is no part of the tree (L5). */
  | { readonly type: "ignored" }
  /** Something before this record was not applied: the holder must rejoin (S4). */
  | { readonly type: "missing"; readonly id: EntryId };

export type Tree = {
  /** Entries held. */
  readonly size: number;
  /** The entry with the highest seq, or null. */
  readonly newest: TreeNode | null;
  readonly roots: readonly TreeNode[];
  get(id: EntryId): TreeNode | undefined;
  /** The loaded children of an entry, or the roots for null, in order of seq. */
  children(parentId: EntryId | null): readonly TreeNode[];
  /** Entries in the order in which they were first applied. */
  nodes(): IterableIterator<TreeNode>;
  apply(record: LogRecord): Applied;
};

const IGNORED: Applied = Object.freeze({ type: "ignored" });

export const createTree = (): Tree => {
  const nodesById = new Map<EntryId, Node>();
  const childrenOfUnloaded = new Map<EntryId, Node[]>();
  const roots: Node[] = [];
  let newest: Node | null = null;
  /** The parent of the next entry, more often than not. */
  let latest: Node | null = null;

  const nodeOf = (id: EntryId): Node | undefined =>
    latest !== null && latest.held.id === id ? latest : nodesById.get(id);

  const link = (node: Node): void => {
    const { parentId } = node.held;
    if (parentId === null) {
      insertBySeq(roots, node);
      return;
    }
    const parent = nodeOf(parentId);
    if (parent === undefined) {
      const waiting = childrenOfUnloaded.get(parentId);
      if (waiting === undefined) childrenOfUnloaded.set(parentId, [node]);
      else insertBySeq(waiting, node);
      return;
    }
    node.parent = parent;
    if (parent.children === NO_NODES) parent.children = [node];
    else insertBySeq(parent.children as Node[], node);
  };

  const adopt = (node: Node): void => {
    if (childrenOfUnloaded.size === 0) return;
    const waiting = childrenOfUnloaded.get(node.held.id);
    if (waiting === undefined) return;
    childrenOfUnloaded.delete(node.held.id);
    node.children = waiting;
    for (const child of waiting) child.parent = node;
  };

  const applyEntry = (entry: Entry): Applied => {
    const known = nodesById.get(entry.id);
    if (known !== undefined) {
      if (entry.rev <= known.held.rev) return IGNORED;
      const before = known.entry;
      known.held = entry;
      known.isFrozen = false;
      return { type: "changed", node: known, before };
    }
    const node = new Node(entry);
    nodesById.set(entry.id, node);
    link(node);
    adopt(node);
    if (newest === null || entry.seq > newest.held.seq) newest = node;
    latest = node;
    return { type: "added", node };
  };

  const applyAppend = (append: Append): Applied => {
    const node = nodeOf(append.id);
    if (node === undefined) return { type: "missing", id: append.id };
    const before = node.entry;
    if (append.seq <= before.rev) return IGNORED;
    if (append.at > before.size) return { type: "missing", id: append.id };
    node.held = foldAppend(before, trimAppend(append, before.size));
    return { type: "changed", node, before };
  };

  return {
    get size() {
      return nodesById.size;
    },
    get newest() {
      return newest;
    },
    roots,
    get: (id) => nodesById.get(id),
    children: (parentId) =>
      parentId === null
        ? roots
        : (nodesById.get(parentId)?.children ?? childrenOfUnloaded.get(parentId) ?? NO_NODES),
    nodes: () => nodesById.values(),
    apply: (record) => {
      if (record.kind === "append") return applyAppend(record);
      return record.kind === "entry" ? applyEntry(record) : IGNORED;
    },
  };
};

/** An append as it starts at `size`; what lies below was folded before (S4). */
export const trimAppend = (append: Append, size: number): Append =>
  append.at === size
    ? append
    : {
        ...append,
        at: Math.min(size, append.at + sizeOfDeltas(append.deltas)),
        deltas: trimDeltas(append.deltas, size - append.at),
      };

/** Live records come in order of seq, so this is a push; a page brings older ones. */
const insertBySeq = (nodes: Node[], node: Node): void => {
  const { seq } = node.held;
  const last = nodes.at(-1);
  if (last === undefined || last.held.seq < seq) {
    nodes.push(node);
    return;
  }
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((nodes[middle] as Node).held.seq < seq) low = middle + 1;
    else high = middle;
  }
  nodes.splice(low, 0, node);
};

const freezeEntry = (entry: Entry): void => {
  if (entry.type === "message") {
    for (const part of entry.parts) Object.freeze(part);
    Object.freeze(entry.parts);
  }
  Object.freeze(entry);
};
