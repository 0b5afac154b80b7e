/**
 * A tree as a flat list of sections, for documents: the line that is shown, then each other branch as a section
 * of its own, down its newest line. A branch comes behind the section that it leaves, before the next one that
 * leaves it further down; so no section stands within another, however deep the tree is. Loops only (T5).
 */
import { newestChild, pathTo, type Tree, type TreeNode, tipOf } from "@espalier/shared";

export type Item = {
  readonly node: TreeNode;
  /** Its alternatives, itself among them. */
  readonly alternatives: readonly TreeNode[];
  /** Its place among them, from 0. */
  readonly index: number;
};

export type Section = {
  /** From 0: the line that is shown. */
  readonly number: number;
  readonly items: readonly Item[];
};

export const lineSection = (tree: Tree, leaf: TreeNode): Section => ({
  number: 0,
  items: itemsOf(tree, pathTo(leaf)),
});

/** The sections of all lines, that of `leaf` first. Before a reset only the line of `leaf` is told. */
export function* allSections(tree: Tree, leaf: TreeNode): Generator<Section> {
  const main = lineSection(tree, tipOf(leaf, newestChild));
  yield main;
  let number = 0;
  const pending = branchesOff(main.items);
  for (let start = pending.pop(); start !== undefined; start = pending.pop()) {
    number += 1;
    const nodes = [start.node];
    for (let { children } = start.node; children.length > 0; ) {
      const child = newestChild(children);
      nodes.push(child);
      children = child.children;
    }
    const items = [start, ...itemsOf(tree, nodes.slice(1))];
    yield { number, items };
    // The alternatives of its first entry are sections of the line that it left.
    for (const branch of branchesOff(items.slice(1))) pending.push(branch);
  }
}

const itemsOf = (tree: Tree, nodes: readonly TreeNode[]): Item[] =>
  nodes.map((node) => {
    const alternatives = tree.children(node.entry.parentId);
    const index = alternatives.indexOf(node);
    // A root from before the last reset is no alternative to those after it.
    return index < 0 ? { node, alternatives: [node], index: 0 } : { node, alternatives, index };
  });

/** The neighbours of the items, those to be told first last. */
const branchesOff = (items: readonly Item[]): Item[] => {
  const branches: Item[] = [];
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const { node, alternatives } = items[at] as Item;
    for (let index = alternatives.length - 1; index >= 0; index -= 1)
      if (alternatives[index] !== node)
        branches.push({ node: alternatives[index] as TreeNode, alternatives, index });
  }
  return branches;
};

const NEIGHBOURS = 5;

/** The alternatives to name beside one of many: the first, the last, and those around it. */
export const namedAlternatives = ({
  alternatives,
  index,
}: Item): readonly (readonly [number, TreeNode])[] => {
  const last = alternatives.length - 1;
  const named: (readonly [number, TreeNode])[] = [];
  const from = Math.max(1, index - NEIGHBOURS);
  const to = Math.min(last - 1, index + NEIGHBOURS);
  for (let at = 0; at <= last; at = at === 0 ? from : at + 1) {
    if (at > to && at < last) at = last;
    named.push([at, alternatives[at] as TreeNode]);
  }
  return named;
};
