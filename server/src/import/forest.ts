/**
 * The repaired entries as linked nodes: times filled in, alternatives in the source's order, and
 * records that say nothing taken out, their children moved up into their place. Loops only (T5).
 */
import type { ForeignEntry, ForeignKind } from "./foreign.js";

export type ForestNode = {
  readonly entry: ForeignEntry;
  readonly kind: ForeignKind;
  /** ms: its own, else its parent's, else the session's. */
  readonly time: number;
  /** Its place in the file. */
  readonly index: number;
  readonly parent: ForestNode | null;
  readonly children: readonly ForestNode[];
};

export type Forest = {
  readonly roots: readonly ForestNode[];
  /** In file order. */
  readonly nodes: readonly ForestNode[];
  /** The node of a record, or the nearest one above a record that says nothing. */
  at(sourceId: string): ForestNode | null;
};

type Sprout = {
  entry: ForeignEntry;
  kind: ForeignKind | null;
  time: number;
  index: number;
  parent: Sprout | null;
  children: Sprout[];
};

/**
 * Alternatives stand by rank where the source gives one, the others after them: in `time` order, where
 * equal in file order, or in `file` order alone.
 */
export const growForest = (
  entries: readonly ForeignEntry[],
  { order, createdAt }: { order: "time" | "file"; createdAt: number },
): Forest => {
  const sproutsById = new Map<string, Sprout>();
  for (const [index, entry] of entries.entries()) {
    const { sourceId, kind } = entry;
    sproutsById.set(sourceId, { entry, kind, time: createdAt, index, parent: null, children: [] });
  }
  const sprouts = [...sproutsById.values()];
  const roots = link(sprouts, sproutsById);
  const topDown = fillTimes(roots, createdAt);
  sortAlternatives(roots, order);
  for (const { children } of topDown) sortAlternatives(children, order);
  const said = topDown.filter(isSaid);
  const saidRoots = liftOver(roots, null);
  for (const sprout of said) sprout.children = liftOver(sprout.children, sprout);
  return {
    roots: saidRoots as ForestNode[],
    nodes: sprouts.filter(isSaid) as ForestNode[],
    at: (sourceId) => nearestSaid(sproutsById.get(sourceId) ?? null),
  };
};

const isSaid = ({ kind }: Sprout): boolean => kind !== null;

const link = (sprouts: readonly Sprout[], sproutsById: ReadonlyMap<string, Sprout>): Sprout[] => {
  const roots: Sprout[] = [];
  for (const sprout of sprouts) {
    const { parentId } = sprout.entry;
    sprout.parent = parentId === null ? null : (sproutsById.get(parentId) ?? null);
    (sprout.parent?.children ?? roots).push(sprout);
  }
  return roots;
};

/** All sprouts, parents before children. */
const fillTimes = (roots: readonly Sprout[], createdAt: number): Sprout[] => {
  const topDown = [...roots];
  for (let next = 0; next < topDown.length; next++) {
    const sprout = topDown[next] as Sprout;
    sprout.time = sprout.entry.time ?? sprout.parent?.time ?? createdAt;
    for (const child of sprout.children) topDown.push(child);
  }
  return topDown;
};

const UNRANKED = Number.MAX_SAFE_INTEGER;

const sortAlternatives = (alternatives: Sprout[], order: "time" | "file"): void => {
  if (alternatives.length < 2) return;
  alternatives.sort(
    (a, b) =>
      (a.entry.rank ?? UNRANKED) - (b.entry.rank ?? UNRANKED) ||
      (order === "time" ? a.time - b.time : 0) ||
      a.index - b.index,
  );
};

/** The children with each that says nothing replaced by its own, however deep. */
const liftOver = (children: readonly Sprout[], parent: Sprout | null): Sprout[] => {
  const lifted: Sprout[] = [];
  const pending = children.toReversed();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (isSaid(next)) {
      next.parent = parent;
      lifted.push(next);
    } else for (const child of next.children.toReversed()) pending.push(child);
  }
  return lifted;
};

const nearestSaid = (sprout: Sprout | null): ForestNode | null => {
  let at = sprout;
  while (at !== null && !isSaid(at)) at = at.parent;
  return at as ForestNode | null;
};
