/**
 * Lists of children beside parent pointers: the pointers are trusted; the lists tell the order of
 * alternatives, and the parent of a record that has no pointer at all.
 */
import type { Report } from "./foreign.js";

export type Listing = {
  readonly sourceId: string;
  readonly parentId: string | null;
  readonly where: string;
  /** Null where the source gives no list. */
  readonly children: readonly string[] | null;
};

/** Who lists each child; the first of several. */
export const listersOf = <T extends Listing>(records: readonly T[]): ReadonlyMap<string, T> => {
  const listers = new Map<string, T>();
  for (const record of records)
    for (const child of record.children ?? []) if (!listers.has(child)) listers.set(child, record);
  return listers;
};

/** The place of each child in its own parent's list; a list that disagrees with the pointers is reported. */
export const ranksOf = (
  records: readonly Listing[],
  disagreement: string,
  report: Report,
): ReadonlyMap<string, number> => {
  const ranks = new Map<string, number>();
  if (records.every(({ children }) => children === null)) return ranks;
  const ownById = ownChildren(records);
  for (const { sourceId, children, where } of records) {
    if (children === null) continue;
    const own = ownById.get(sourceId) ?? NONE;
    const listed = new Set(children);
    for (const id of listed) if (own.has(id)) ranks.set(id, ranks.size);
    if (listed.size !== own.size || children.some((id) => !own.has(id))) report(`${where}: ${disagreement}`);
  }
  return ranks;
};

const NONE: ReadonlySet<string> = new Set();

const ownChildren = (records: readonly Listing[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const ownById = new Map<string, Set<string>>();
  for (const { sourceId, parentId } of records) {
    if (parentId === null || parentId === sourceId) continue;
    const own = ownById.get(parentId);
    if (own === undefined) ownById.set(parentId, new Set([sourceId]));
    else own.add(sourceId);
  }
  return ownById;
};
