/**
 * Where new entries go (P1–P3): the parent is decided when an entry gets its seq, also among the
 * entries of a batch that is not in the tree yet (L7).
 */
import type { EntryId, Place, Tree, TreeNode } from "@espalier/shared";

export type Placing = {
  has(id: EntryId): boolean;
  /** The parent of an entry that is there; null for a root. */
  parentOf(id: EntryId): EntryId | null;
  /** Why nothing can be placed there, or null: an alternative to a root of before a reset would begin a line of now (F8). */
  faultOf(place: Place): string | null;
  /** The decided parent, or undefined where nothing can be placed there. */
  parentFor(place: Place): EntryId | null | undefined;
  /** The first of these that is neither an entry itself nor above it. */
  notAbove(ids: Iterable<EntryId>, entry: EntryId | null): EntryId | undefined;
  /** Counts an entry of the batch as placed. */
  add(id: EntryId, parentId: EntryId | null): void;
};

/** A root of what came before the last reset (F8). */
export const isRootOfBefore = (tree: Tree, { entry }: TreeNode): boolean =>
  entry.parentId === null && entry.seq <= tree.resetSeq;

const namedIn = (place: Place): EntryId | null =>
  "after" in place ? place.after : "under" in place ? place.under : place.forkOf;

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

  /** By pointers, and no further up than the oldest that is looked for: an ancestor has a lower seq. */
  const notAbove = (ids: Iterable<EntryId>, entry: EntryId | null): EntryId | undefined => {
    const missing = new Set(ids);
    let at = entry;
    for (; at !== null && stagedParents.has(at); at = stagedParents.get(at) ?? null) missing.delete(at);
    let oldest = Number.POSITIVE_INFINITY;
    for (const id of missing) oldest = Math.min(oldest, tree.get(id)?.entry.seq ?? oldest);
    let node = at === null ? null : (tree.get(at) ?? null);
    for (; node !== null && missing.size > 0 && node.entry.seq >= oldest; node = node.parent)
      missing.delete(node.entry.id);
    const [first] = missing;
    return first;
  };

  const faultOf = (place: Place): string | null => {
    const named = namedIn(place);
    if (named !== null && !has(named)) return `${named} is not in the session`;
    if (!("forkOf" in place)) return null;
    const node = tree.get(place.forkOf);
    return node !== undefined && isRootOfBefore(tree, node)
      ? `${place.forkOf} began a line before the session was reset`
      : null;
  };

  return {
    has,
    parentOf,
    notAbove,
    faultOf,
    parentFor: (place) => {
      if (faultOf(place) !== null) return undefined;
      if ("after" in place) return tip(place.after);
      return "under" in place ? place.under : parentOf(place.forkOf);
    },
    add: (id, parentId) => {
      // A new branch may lie on a line that was walked; a line that grows at its end goes on as it was.
      if (newestChild(parentId) !== undefined) tips.clear();
      stagedParents.set(id, parentId);
      stagedNewest.set(parentId, id);
    },
  };
};
