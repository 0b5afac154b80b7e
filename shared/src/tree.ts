/**
 * The tree: a pure fold of a log's entries and appends (T1). Only `apply` changes it.
 *
 * `parentId` is the only pointer that is stored; parents and children here are derived from it (T3).
 * Children stand in the order of their seq (T2). The server's tree is whole; a replica's may hold an
 * entry whose parent is not loaded, and links the two when the parent comes (T4).
 */

import { eraseEntry } from "./erase.js";
import type { EntryId } from "./ids.js";
import type { Append, Entry, Erase, LogRecord, Register } from "./record.js";
import { RESET } from "./register-keys.js";
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
  /** An entry above it, or itself where none is loaded: the first of its line is found by going on from there. */
  top: Node;

  constructor(entry: Entry) {
    this.held = entry;
    this.top = this;
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
  /**
   * The entry with the highest seq on the lines that began since the last reset, or null: what goes on writing
   * on an earlier line brings that one back for nobody (F8).
   */
  readonly newest: TreeNode | null;
  /** Since the last reset (F8). */
  readonly roots: readonly TreeNode[];
  /** The seq of the last reset, or 0. */
  readonly resetSeq: number;
  /** Counts the changes to entries that were complete, failed or cut off: erasures, and whole ones in their place. */
  readonly rewrites: number;
  get(id: EntryId): TreeNode | undefined;
  /** The first entry of a node's line, as far as that is loaded: its parent is null or not loaded. */
  topOf(node: TreeNode): TreeNode;
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
  let roots: Node[] = [];
  let newest: Node | null = null;
  let resetSeq = 0;
  let rewrites = 0;
  /** The parent of the next entry, more often than not. */
  let latest: Node | null = null;

  const nodeOf = (id: EntryId): Node | undefined =>
    latest !== null && latest.held.id === id ? latest : nodesById.get(id);

  const link = (node: Node): void => {
    const { parentId } = node.held;
    if (parentId === null) {
      if (node.held.seq > resetSeq) insertBySeq(roots, node);
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
    node.top = parent.top;
    if (parent.children === NO_NODES) parent.children = [node];
    else insertBySeq(parent.children as Node[], node);
  };

  const adopt = (node: Node): void => {
    if (childrenOfUnloaded.size === 0) return;
    const waiting = childrenOfUnloaded.get(node.held.id);
    if (waiting === undefined) return;
    childrenOfUnloaded.delete(node.held.id);
    node.children = waiting;
    for (const child of waiting) {
      child.parent = node;
      child.top = node.top;
    }
    // What is above it tells that the line it ends began before the reset.
    if (newest !== null && isOfEarlier(newest)) newest = findNewest();
  };

  const isOfEarlier = (node: Node): boolean => resetSeq > 0 && topOf(node).held.seq < resetSeq;

  const findNewest = (): Node | null => {
    let found: Node | null = null;
    for (const node of nodesById.values())
      if (node.held.seq > (found?.held.seq ?? resetSeq) && !isOfEarlier(node)) found = node;
    return found;
  };

  const applyEntry = (entry: Entry): Applied => {
    const known = nodesById.get(entry.id);
    if (known !== undefined) {
      if (entry.rev <= known.held.rev) return IGNORED;
      const before = known.entry;
      if (before.status !== "streaming") rewrites++;
      known.held = entry;
      known.isFrozen = false;
      return { type: "changed", node: known, before };
    }
    const node = new Node(entry);
    nodesById.set(entry.id, node);
    link(node);
    adopt(node);
    if (entry.seq > (newest?.held.seq ?? resetSeq) && !isOfEarlier(node)) newest = node;
    latest = node;
    return { type: "added", node };
  };

  const applyAppend = (append: Append): Applied => {
    const node = nodeOf(append.id);
    if (node === undefined) return { type: "missing", id: append.id };
    const before = node.entry;
    if (append.seq <= before.rev || before.type === "erased") return IGNORED;
    if (append.at > before.size) return { type: "missing", id: append.id };
    if (before.status !== "streaming") rewrites++;
    node.held = foldAppend(before, trimAppend(append, before.size));
    return { type: "changed", node, before };
  };

  /** One that is not held is a tombstone when it comes. */
  const applyErase = (erase: Erase): Applied => {
    const node = nodeOf(erase.id);
    if (node === undefined || erase.seq <= node.held.rev) return IGNORED;
    const before = node.entry;
    if (before.status !== "streaming") rewrites++;
    node.held = eraseEntry(before, erase);
    node.isFrozen = false;
    return { type: "changed", node, before };
  };

  const applyReset = ({ seq }: Register): void => {
    if (seq <= resetSeq) return;
    resetSeq = seq;
    roots = roots.filter(({ held }) => held.seq > seq);
    if (newest !== null && isOfEarlier(newest)) newest = findNewest();
  };

  return {
    get size() {
      return nodesById.size;
    },
    get newest() {
      return newest;
    },
    get roots() {
      return roots;
    },
    get resetSeq() {
      return resetSeq;
    },
    get rewrites() {
      return rewrites;
    },
    get: (id) => nodesById.get(id),
    topOf: (node) => topOf(node as Node),
    children: (parentId) =>
      parentId === null
        ? roots
        : (nodesById.get(parentId)?.children ?? childrenOfUnloaded.get(parentId) ?? NO_NODES),
    nodes: () => nodesById.values(),
    apply: (record) => {
      if (record.kind === "append") return applyAppend(record);
      if (record.kind === "entry") return applyEntry(record);
      if (record.kind === "erase") return applyErase(record);
      if (record.kind === "register" && record.key === RESET && record.value !== null) applyReset(record);
      return IGNORED;
    },
  };
};

/** Costs the pages that were loaded above it since it was asked last. */
const topOf = (node: Node): Node => {
  let top = node.top;
  while (top.top !== top) top = top.top;
  node.top = top;
  return top;
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
