/**
 * What a joiner or a pager is given: the newest entries of a line, and the alternatives around each
 * (V8, V9, J1). Costs what it gives, not what there is.
 */
import {
  ALTERNATIVES_AROUND,
  type Alternatives,
  defaultLeaf,
  type Entry,
  type EntryId,
  type LineAsk,
  newestChild,
  oldestChild,
  type Registers,
  type Tree,
  type TreeNode,
  tipOf,
  WINDOW_BYTES,
} from "@espalier/shared";
import { weightOf } from "./frame.js";
import { isRootOfBefore } from "./place.js";

export type Window = {
  readonly entries: Map<EntryId, Entry>;
  /** A parent with many children may stand here twice, with those around two of them. */
  readonly alternativesByParent: Map<EntryId | null, Alternatives[]>;
};

export const createWindow = (): Window => ({ entries: new Map(), alternativesByParent: new Map() });

/** What a line is found in. */
type Folded = { readonly tree: Tree; readonly registers: Registers };

/** The leaf of a line that is asked for; null is the place before the first entry (J2). */
export const leafOf = ({ tree, registers }: Folded, ask: LineAsk): TreeNode | null => {
  const known = ask.candidates.find((id) => id === null || tree.get(id) !== undefined);
  if (known === undefined) return defaultLeaf(tree, registers);
  const node = known === null ? null : (tree.get(known) as TreeNode);
  if (ask.walk === "stay") return node;
  const choose = ask.walk === "oldest" ? oldestChild : newestChild;
  if (node !== null) return tipOf(node, choose);
  return tree.roots.length === 0 ? null : tipOf(choose(tree.roots), choose);
};

/** Adds up to `limit` entries, the leaf and what is above it; ends before it grows past its bytes. */
export const addLine = (window: Window, tree: Tree, leaf: TreeNode | null, limit: number): void => {
  addAlternatives(window, tree, leaf?.entry.id ?? null, null);
  let bytes = 0;
  let count = 0;
  for (let at = leaf; at !== null && count < limit; at = at.parent) {
    bytes += weightOf(at.entry);
    if (count > 0 && bytes > WINDOW_BYTES) break;
    count += 1;
    window.entries.set(at.entry.id, at.entry);
    addAlternatives(window, tree, at.entry.parentId, at);
  }
};

export const sortedEntries = (window: Window): Entry[] =>
  [...window.entries.values()].sort((a, b) => a.seq - b.seq);

export const alternativesOf = (window: Window): Alternatives[] =>
  [...window.alternativesByParent.values()].flat();

/** The children of one parent from a position on. */
export const alternativesFrom = (
  tree: Tree,
  parentId: EntryId | null,
  from: number,
  limit: number,
): Alternatives => {
  const children = tree.children(parentId);
  const ids = children.slice(from, from + limit).map((child) => child.entry.id);
  return { parentId, total: children.length, from: Math.min(from, children.length), ids };
};

/**
 * Left out where it says nothing: a parent whose one child is given, a leaf with no child. A root of before the
 * last reset is not among the roots of now, so those are always named beside it (F8).
 */
const addAlternatives = (
  window: Window,
  tree: Tree,
  parentId: EntryId | null,
  shown: TreeNode | null,
): void => {
  const { length } = tree.children(parentId);
  const isOfBefore = shown !== null && isRootOfBefore(tree, shown);
  if (length < (shown === null ? 1 : 2) && !isOfBefore) return;
  const position = shown === null ? length - 1 : positionOf(tree.children(parentId), shown);
  const given = window.alternativesByParent.get(parentId) ?? [];
  if (given.some((some) => isOfBefore || holdsPosition(some, position))) return;
  const half = ALTERNATIVES_AROUND / 2;
  const from = Math.max(0, Math.min(position - half, length - ALTERNATIVES_AROUND));
  given.push(alternativesFrom(tree, parentId, from, ALTERNATIVES_AROUND));
  window.alternativesByParent.set(parentId, given);
};

const holdsPosition = ({ from, ids }: Alternatives, position: number): boolean =>
  position >= from && position < from + ids.length;

/** Children stand in order of seq, so this is a binary search (T2). */
const positionOf = (children: readonly TreeNode[], node: TreeNode): number => {
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((children[middle] as TreeNode).entry.seq < node.entry.seq) low = middle + 1;
    else high = middle;
  }
  return low;
};
