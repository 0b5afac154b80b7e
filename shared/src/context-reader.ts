/**
 * The context of a leaf in a tree that grows: equal to `context` of its path, at the cost of what changed since
 * it was asked for last.
 *
 * What was read is a list of nodes with the entries they held. A leaf is walked up from until a node of that
 * list is met; what is below that node is undone, what was walked is added, and an entry that is no longer the
 * one that was read is read again, with all below it. Only a compaction that comes, goes or is erased starts
 * the list anew, and costs its kept window; the entries above its cut are walked once and remembered.
 */
import { readOf } from "./context.js";
import { type Cut, cutAt, type Line, lineOf, neededOf, type Walk } from "./context-line.js";
import { type ContextMessage, messageOf } from "./context-message.js";
import type { Entry } from "./record.js";
import { createToolPairs } from "./tool-pairs.js";
import type { TreeNode } from "./tree.js";

export type ContextReader = {
  /**
   * What the model reads at a leaf; nothing for null. Frozen; the messages of entries that did not change are
   * the same objects as before, and so is the list where nothing changed.
   *
   * ```ts
   * const reader = createContextReader();
   * reader.at(tree.get(leafId)); // after each token, each entry, each choice of a branch
   * ```
   */
  at(leaf: TreeNode | null): readonly ContextMessage[];
  /** `contextEntries` of the leaf's path; costs the window, and what is above a cut once. */
  entries(leaf: TreeNode | null): readonly Entry[];
};

const NODES: Walk<TreeNode> = { entryOf: (node) => node.entry, above: (node) => node.parent };

export const createContextReader = (): ContextReader => {
  const cutOf = createCuts();
  const messagesByEntry = new WeakMap<Entry, ContextMessage | null>();
  let list = createList(messagesByEntry, { cut: null, after: [] });

  const restart = (leaf: TreeNode): void => {
    list = createList(messagesByEntry, lineOf(leaf, NODES, cutOf));
  };

  const moveTo = (leaf: TreeNode): void => {
    const fresh: TreeNode[] = [];
    let at: TreeNode | null = leaf;
    while (at !== null && list.lengthAt(at) === null) {
      if (at.entry.type === "compaction") return restart(leaf);
      fresh.push(at);
      at = at.parent;
    }
    if (at === null || !list.isWhole(cutOf)) return restart(leaf);
    list.change(list.lengthAt(at) ?? 0, fresh.reverse());
  };

  return {
    at: (leaf) => {
      if (leaf === null) return NOTHING;
      moveTo(leaf);
      return list.messages();
    },
    entries: (leaf) => neededOf(lineOf(leaf, NODES, cutOf), NODES).map((node) => node.entry),
  };
};

const NOTHING: readonly ContextMessage[] = Object.freeze([]);

/** The nodes that were read, in the order of reading, each with the entry it held then. */
const createList = (messagesByEntry: WeakMap<Entry, ContextMessage | null>, line: Line<TreeNode>) => {
  const { cut } = line;
  const pairs = createToolPairs();
  const nodes: TreeNode[] = [];
  const entries: Entry[] = [];
  /** How much is read up to a node, for the compaction and what is below it: the leaf can only move there. */
  const lengths = new Map<TreeNode, number>();

  const { length: base } = readOf({ cut, after: [] }, NODES);
  if (cut !== null) lengths.set(cut.compaction, base);

  const push = (node: TreeNode): void => {
    const { entry } = node;
    let message = messagesByEntry.get(entry);
    if (message === undefined) {
      message = messageOf(entry);
      messagesByEntry.set(entry, message);
    }
    nodes.push(node);
    entries.push(entry);
    pairs.push(message);
    if (nodes.length > base) lengths.set(node, nodes.length);
  };
  const shorten = (length: number): void => {
    while (nodes.length > length) {
      if (nodes.length > base) lengths.delete(nodes.at(-1) as TreeNode);
      nodes.pop();
      entries.pop();
      pairs.pop();
    }
  };
  /** How many of the first entries are as they were read. */
  const unchanged = (length: number): number => {
    for (let index = 0; index < length; index++) if (nodes[index]?.entry !== entries[index]) return index;
    return length;
  };

  for (const node of readOf(line, NODES)) push(node);

  return {
    /** Null where the node is no leaf that the list can move to as it is. */
    lengthAt: (node: TreeNode): number | null => lengths.get(node) ?? null,
    /** Whether what is above is still what it was: a page brings older entries, an erasure takes a compaction. */
    isWhole: (cutOf: (compaction: TreeNode) => Cut<TreeNode>): boolean =>
      cut === null
        ? nodes[0]?.parent === null
        : cut.compaction.entry.type === "compaction" && cutOf(cut.compaction) === cut,
    /** Keeps what is up to a length, read anew from the first entry that changed, and adds what is fresh. */
    change: (length: number, fresh: readonly TreeNode[]): void => {
      const same = unchanged(length);
      const again = nodes.slice(same, length);
      shorten(same);
      for (const node of again) push(node);
      for (const node of fresh) push(node);
    },
    messages: pairs.messages,
  };
};

/** Cuts by their compaction: what stands above one is looked for once, until an erasure or a page changes it. */
const createCuts = (): ((compaction: TreeNode) => Cut<TreeNode>) => {
  const cutsByNode = new WeakMap<TreeNode, { cut: Cut<TreeNode>; entries: readonly Entry[] }>();
  const dependsOn = ({ compaction, standing }: Cut<TreeNode>) => [compaction, ...standing];
  const isAsFound = ({ cut, entries }: { cut: Cut<TreeNode>; entries: readonly Entry[] }): boolean =>
    cut.top.parent === null && dependsOn(cut).every((node, index) => node.entry === entries[index]);

  return (compaction) => {
    const known = cutsByNode.get(compaction);
    if (known !== undefined && isAsFound(known)) return known.cut;
    const cut = cutAt(compaction, NODES);
    cutsByNode.set(compaction, { cut, entries: dependsOn(cut).map((node) => node.entry) });
    return cut;
  };
};
