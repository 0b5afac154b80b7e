/**
 * The context of a leaf in a tree that grows: equal to `context` of its path, at the cost of what changed since
 * it was asked for last.
 *
 * What was read is a list of nodes with the entries they held. A leaf is walked up from until a node of that
 * list is met; what is below that node is undone, what was walked is added, and an entry that is no longer the
 * one that was read is read again, with all below it. A token changes only what was streaming when it was read;
 * the others are looked through where the tree has rewritten any. Only a compaction that comes, goes or is erased
 * starts the list anew, and costs its kept window; the entries above its cut are walked once and remembered.
 *
 * The list that is given back is a frozen copy: that alone costs the length.
 */
import { readOf } from "./context.js";
import { type Cut, cutAt, type Line, lineOf, neededOf, type Walk } from "./context-line.js";
import { type ContextMessage, messageOf } from "./context-message.js";
import type { Entry } from "./record.js";
import { createToolPairs } from "./tool-pairs.js";
import type { Tree, TreeNode } from "./tree.js";

export type ContextReader = {
  /**
   * What the model reads at a leaf; nothing for null. Frozen; the messages of entries that did not change are
   * the same objects as before, and so is the list where nothing changed.
   *
   * ```ts
   * const reader = createContextReader(tree);
   * reader.at(tree.get(leafId)); // after each token, each entry, each choice of a branch
   * ```
   */
  at(leaf: TreeNode | null): readonly ContextMessage[];
  /** `contextEntries` of the leaf's path; costs the window, and what is above a cut once. */
  entries(leaf: TreeNode | null): readonly Entry[];
};

const NODES: Walk<TreeNode> = { entryOf: (node) => node.entry, above: (node) => node.parent };

/** The tree of the nodes that it is asked about. */
export const createContextReader = (tree: Pick<Tree, "rewrites">): ContextReader => {
  const cutOf = createCuts(tree);
  const messagesByEntry = new WeakMap<Entry, ContextMessage | null>();
  const listOf = (line: Line<TreeNode>) => createList(tree, messagesByEntry, line);
  let list = listOf({ cut: null, after: [] });

  const restart = (leaf: TreeNode): void => {
    list = listOf(lineOf(leaf, NODES, cutOf));
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

/** Nodes with the entries they held when they were added. */
const createSeen = (tree: Pick<Tree, "rewrites">) => {
  const nodes: TreeNode[] = [];
  const entries: Entry[] = [];
  /** Places of those that were streaming, the first ones first. */
  const streaming: number[] = [];
  let { rewrites } = tree;

  const isChanged = (place: number): boolean => nodes[place]?.entry !== entries[place];

  return {
    nodes,
    add: (node: TreeNode): void => {
      if (node.entry.status === "streaming") streaming.push(nodes.length);
      nodes.push(node);
      entries.push(node.entry);
    },
    removeLast: (): void => {
      nodes.pop();
      entries.pop();
      if (streaming.at(-1) === nodes.length) streaming.pop();
    },
    /** The first that holds another entry now; null where none does. Who asks removes it, and all that follow. */
    firstChanged: (): number | null => {
      if (rewrites === tree.rewrites) return streaming.find(isChanged) ?? null;
      rewrites = tree.rewrites;
      const place = nodes.findIndex((_, index) => isChanged(index));
      return place < 0 ? null : place;
    },
  };
};

/** The nodes that were read, in the order of reading. */
const createList = (
  tree: Pick<Tree, "rewrites">,
  messagesByEntry: WeakMap<Entry, ContextMessage | null>,
  line: Line<TreeNode>,
) => {
  const { cut } = line;
  const pairs = createToolPairs();
  const seen = createSeen(tree);
  const { nodes } = seen;
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
    seen.add(node);
    pairs.push(message);
    if (nodes.length > base) lengths.set(node, nodes.length);
  };
  const shorten = (length: number): void => {
    while (nodes.length > length) {
      if (nodes.length > base) lengths.delete(nodes.at(-1) as TreeNode);
      seen.removeLast();
      pairs.pop();
    }
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
      shorten(length);
      const same = seen.firstChanged() ?? length;
      const again = nodes.slice(same);
      shorten(same);
      for (const node of again) push(node);
      for (const node of fresh) push(node);
    },
    messages: pairs.messages,
  };
};

/** Cuts by their compaction: what stands above one is looked for once, until an erasure or a page changes it. */
const createCuts = (tree: Pick<Tree, "rewrites">): ((compaction: TreeNode) => Cut<TreeNode>) => {
  const cutsByNode = new WeakMap<
    TreeNode,
    { readonly cut: Cut<TreeNode>; readonly seen: ReturnType<typeof createSeen> }
  >();

  return (compaction) => {
    const known = cutsByNode.get(compaction);
    if (known?.cut.top.parent === null && known.seen.firstChanged() === null) return known.cut;
    const cut = cutAt(compaction, NODES);
    const seen = createSeen(tree);
    for (const node of [compaction, ...cut.standing]) seen.add(node);
    cutsByNode.set(compaction, { cut, seen });
    return cut;
  };
};
