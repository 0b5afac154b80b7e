/**
 * A whole tree as rows, for drawing from the top down: one row an entry.
 *
 * A run of entries goes straight down. At a branch point one child goes on straight: the one on the
 * newest line (the ancestors of the newest entry), else the one with the most below it. The others come
 * before it, each one step to the right. So a row is never deeper than the logarithm of the tree, and a
 * chain of any length is not indented at all. Loops only, never recursion (T5).
 */
import { pathTo, type Tree, type TreeNode } from "@espalier/shared";

export type Row = {
  readonly node: TreeNode;
  /** Box characters that stand before it. */
  readonly lead: string;
  readonly isOnNewestLine: boolean;
  /** Its place among its alternatives, from 1. */
  readonly place: number;
  readonly alternatives: number;
};

type Step = Omit<Row, "isOnNewestLine"> & {
  /** What stands before the rows that go straight on from it. */
  readonly trunk: string;
};

export const newestLine = (tree: Tree): TreeNode[] => (tree.newest === null ? [] : pathTo(tree.newest));

export function* layOut(tree: Tree): Generator<Row> {
  const newest = new Set(newestLine(tree));
  const sizes = sizesOf(tree.roots);
  const pending: Step[] = tree.roots.map((node, index) => ({
    node,
    lead: "",
    trunk: "",
    place: index + 1,
    alternatives: tree.roots.length,
  }));
  pending.reverse();
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    const { node, lead, trunk, place, alternatives } = step;
    yield { node, lead, place, alternatives, isOnNewestLine: newest.has(node) };
    const { children } = node;
    if (children.length === 0) continue;
    const straight = straightOf(children, newest, sizes);
    const stepTo = (index: number, isAside: boolean): Step => ({
      node: children[index] as TreeNode,
      lead: isAside ? `${trunk}├─` : trunk,
      trunk: isAside ? `${trunk}│ ` : trunk,
      place: index + 1,
      alternatives: children.length,
    });
    pending.push(stepTo(straight, false));
    for (let index = children.length - 1; index >= 0; index -= 1)
      if (index !== straight) pending.push(stepTo(index, true));
  }
}

const straightOf = (
  children: readonly TreeNode[],
  newest: ReadonlySet<TreeNode>,
  sizes: ReadonlyMap<TreeNode, number>,
): number => {
  let straight = 0;
  for (const [index, child] of children.entries()) {
    if (newest.has(child)) return index;
    if (sizeIn(sizes, child) >= sizeIn(sizes, children[straight] as TreeNode)) straight = index;
  }
  return straight;
};

/** How many entries each holds below it, itself included; those of one alone are left out. */
const sizesOf = (roots: readonly TreeNode[]): Map<TreeNode, number> => {
  const topDown = [...roots];
  for (let next = 0; next < topDown.length; next += 1)
    for (const child of (topDown[next] as TreeNode).children) topDown.push(child);
  const sizes = new Map<TreeNode, number>();
  for (const node of topDown.reverse()) {
    if (node.children.length === 0) continue;
    let size = 1;
    for (const child of node.children) size += sizeIn(sizes, child);
    sizes.set(node, size);
  }
  return sizes;
};

const sizeIn = (sizes: ReadonlyMap<TreeNode, number>, node: TreeNode): number => sizes.get(node) ?? 1;
