/**
 * The confirmed entries that a view shows, from the top of its window to its leaf: a piece of one path.
 * Moving the leaf costs the part that differs; growing by one and looking up cost nothing that grows.
 */
import type { EntryId, TreeNode } from "@espalier/shared";

export type Line = {
  readonly length: number;
  readonly nodes: readonly TreeNode[];
  readonly top: TreeNode | undefined;
  readonly leaf: TreeNode | undefined;
  /** Gives the ids as they are now, whenever it is called: growing does not copy them. */
  ids(): () => EntryId[];
  has(id: EntryId): boolean;
  /** The shown child of an entry, or the shown root for null. */
  childOf(parentId: EntryId | null): TreeNode | undefined;
  /** Shows the path to a leaf. Where it shares entries with what was shown, the top stays. */
  moveTo(leaf: TreeNode, limit: number): void;
  grow(node: TreeNode): void;
  /** Shows up to `count` more loaded ancestors of the top; returns how many there were. */
  extend(count: number): number;
  clear(): void;
};

/** Hears of each entry that begins or ends to be shown. */
export type LineListener = { shown(node: TreeNode): void; hidden(node: TreeNode): void };

export const createLine = (listener: LineListener): Line => {
  const nodes: TreeNode[] = [];
  /** Positions count from `base`, so that older entries come before the others without a new count. */
  const positions = new Map<EntryId, number>();
  let base = 0;
  /** The ids of `nodes`, or null where they must be gathered anew. Only pushed to while it is shared. */
  let gathered: EntryId[] | null = [];

  const grow = (node: TreeNode): void => {
    positions.set(node.entry.id, base + nodes.length);
    nodes.push(node);
    gathered?.push(node.entry.id);
    listener.shown(node);
  };

  const cutTo = (length: number): void => {
    if (nodes.length > length) gathered = null;
    while (nodes.length > length) {
      const node = nodes.pop() as TreeNode;
      positions.delete(node.entry.id);
      listener.hidden(node);
    }
  };

  const indexOf = (node: TreeNode): number | undefined => {
    const position = positions.get(node.entry.id);
    if (position === undefined) return undefined;
    return nodes[position - base] === node ? position - base : undefined;
  };

  return {
    nodes,
    get length() {
      return nodes.length;
    },
    get top() {
      return nodes[0];
    },
    get leaf() {
      return nodes.at(-1);
    },
    ids: () => {
      gathered ??= nodes.map(({ entry }) => entry.id);
      const shared = gathered;
      const { length } = shared;
      return () => shared.slice(0, length);
    },
    has: (id) => positions.has(id),
    childOf: (parentId) => {
      // The parent of the first one is not shown.
      if (nodes[0]?.entry.parentId === parentId) return nodes[0];
      const position = parentId === null ? undefined : positions.get(parentId);
      return position === undefined ? undefined : nodes[position - base + 1];
    },
    moveTo: (leaf, limit) => {
      const added: TreeNode[] = [];
      let at: TreeNode | null = leaf;
      let shared: number | undefined;
      // Beyond the limit the walk goes on only as far as what is shown could be met.
      const most = limit + nodes.length;
      while (at !== null && added.length < most) {
        shared = indexOf(at);
        if (shared !== undefined) break;
        added.push(at);
        at = at.parent;
      }
      cutTo(shared === undefined ? 0 : shared + 1);
      if (shared === undefined && added.length > limit) added.length = limit;
      for (const node of added.reverse()) grow(node);
    },
    grow,
    extend: (count) => {
      const older: TreeNode[] = [];
      for (let at = nodes[0]?.parent ?? null; at !== null && older.length < count; at = at.parent)
        older.push(at);
      for (const node of older) {
        base -= 1;
        positions.set(node.entry.id, base);
        listener.shown(node);
      }
      if (older.length > 0) gathered = null;
      nodes.unshift(...older.reverse());
      return older.length;
    },
    clear: () => cutTo(0),
  };
};
