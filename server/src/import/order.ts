/**
 * The order in which imported entries get their seq. It rises along every line and along every list of
 * alternatives (T2), is by time otherwise, and ends with the active line's leaf wherever it may: where
 * no line is asked for, a view opens on the entry with the highest seq (V2).
 *
 * An entry must come after its elder alternative, the eldest after its parent. So each entry waits for
 * one other at most, and only an entry for which none waits can be the last.
 */
import type { Forest, ForestNode } from "./forest.js";

export const orderOf = (forest: Forest, leaf: ForestNode | null): ForestNode[] => {
  const waitsFor = new Map<ForestNode, ForestNode>();
  const lists = [forest.roots, ...forest.nodes.map(({ children }) => children)];
  for (const list of lists) {
    for (const [place, node] of list.entries()) {
      const before = place === 0 ? node.parent : list[place - 1];
      if (before) waitsFor.set(node, before);
    }
  }
  const last = leaf === null ? null : lastFor(leaf, forest);
  const byTime = forest.nodes.toSorted((a, b) => a.time - b.time || a.index - b.index);
  const placed = new Set<ForestNode>();
  for (const node of byTime) if (node !== last) placeAfterOthers(node, waitsFor, placed);
  if (last !== null) placed.add(last);
  return [...placed];
};

/** Whether the leaf can have the highest seq. */
export const canBeLast = (leaf: ForestNode, forest: Forest): boolean => lastFor(leaf, forest) === leaf;

/** The leaf; where others must follow it, the tip of the line that goes on from it or beside it. */
const lastFor = (leaf: ForestNode, { roots }: Forest): ForestNode => {
  const alternatives = leaf.parent?.children ?? roots;
  let at = leaf.children.length > 0 ? leaf : (alternatives.at(-1) as ForestNode);
  for (let child = at.children.at(-1); child !== undefined; child = at.children.at(-1)) at = child;
  return at;
};

const placeAfterOthers = (
  node: ForestNode,
  waitsFor: ReadonlyMap<ForestNode, ForestNode>,
  placed: Set<ForestNode>,
): void => {
  const line: ForestNode[] = [];
  for (let at: ForestNode | undefined = node; at !== undefined && !placed.has(at); at = waitsFor.get(at)) {
    line.push(at);
  }
  for (const next of line.reverse()) placed.add(next);
};
