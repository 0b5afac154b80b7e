/**
 * Where new entries go (P1–P3): the parent is decided when an entry gets its seq, also among the
 * entries of a batch that is not in the tree yet (L7).
 */
import type { EntryId, Place, Tree } from "@espalier/shared";

export type Placing = {
  has(id: EntryId): boolean;
  /** The parent of an entry that is there; null for a root. */
  parentOf(id: EntryId): EntryId | null;
  /** The decided parent, or undefined where the entry named is not there. */
  parentFor(place: Place): EntryId | null | undefined;
  /** Counts an entry of the batch as placed. */
  add(id: EntryId, parentId: EntryId | null): void;
};

export const createPlacing = (tree: Tree): Placing => {
  const stagedParents = new Map<EntryId, EntryId | null>();
  const stagedNewest = new Map<EntryId | null, EntryId>();
  /** Where a walk from an entry ended: the batch's next one goes on from there. */
  const tips = new Map<EntryId | null, EntryId | null>();

  const has = (id: EntryId): boolean => stagedParents.has(id) || tree.get(id) !== undefined;

  const newestChild = (id: EntryId | null): EntryId | undefined =>
    stagedNewest.get(id) ?? tree.children(id).at(-1)?.entry.id;

  const tip = (id: EntryId | null): EntryId | null => {
    let at = tips.get(id) ?? id;
    for (let next = newestChild(at); next !== undefined; next = newestChild(at)) at = next;
    tips.set(id, at);
    return at;
  };

  const parentOf = (id: EntryId): EntryId | null =>
    stagedParents.get(id) ?? tree.get(id)?.entry.parentId ?? null;

  return {
    has,
    parentOf,
    parentFor: (place) => {
      if ("after" in place) return place.after === null || has(place.after) ? tip(place.after) : undefined;
      if ("under" in place) return place.under === null || has(place.under) ? place.under : undefined;
      return has(place.forkOf) ? parentOf(place.forkOf) : undefined;
    },
    add: (id, parentId) => {
      // A new branch may lie on a line that was walked; a line that grows at its end goes on as it was.
      if (newestChild(parentId) !== undefined) tips.clear();
      stagedParents.set(id, parentId);
      stagedNewest.set(parentId, id);
    },
  };
};
