/**
 * What is known of the children of each parent (V9). A position in such a list never changes, since
 * children stand in order of seq and none is ever removed (T2, L2): so a list that is known in part is an
 * array with holes, a page fills holes, and a live child is pushed at the end. A reset alone begins one anew:
 * that of the roots.
 */
import type { Alternatives, Entry, EntryId } from "@espalier/shared";

/** An entry among its alternatives. */
export type BranchInfo = {
  /** Counts from 0. */
  readonly index: number;
  readonly total: number;
  /** The neighbours; undefined at an end, and where the id is not known yet (`step` loads it). */
  readonly previousId: EntryId | undefined;
  readonly nextId: EntryId | undefined;
};

export type Siblings = {
  /** How many children a parent has, or undefined where that is not known. */
  count(parentId: EntryId | null): number | undefined;
  /** The id at a position; undefined where it is not known. */
  at(parentId: EntryId | null, index: number): EntryId | undefined;
  /** The same object until something of it changes. */
  info(entry: Entry): BranchInfo;
  /** Takes what a join or a page gave, as of now. Returns the parent, where more is known of its children. */
  give(alternatives: Alternatives): readonly (EntryId | null)[];
  /** Takes a live entry: one more child of its parent, and a parent with no child yet. */
  born(entry: Entry): void;
  /** What roots there were are of an earlier logical session (F8): there is none yet. */
  reset(): void;
};

type List = {
  readonly ids: (EntryId | undefined)[];
  readonly indexes: Map<EntryId, number>;
  readonly infos: Map<EntryId, BranchInfo>;
};

/** Most parents have no child or one: those take no list. */
type Known = List | EntryId | typeof NONE;
const NONE = Symbol("no children");

const ALONE: BranchInfo = Object.freeze({ index: 0, total: 1, previousId: undefined, nextId: undefined });

export const createSiblings = (): Siblings => {
  const knownByParent = new Map<EntryId | null, Known>();
  /** Live children of parents of which no more is known: they are the last ones, however many there are. */
  const lastByParent = new Map<EntryId | null, EntryId[]>();

  const isList = (known: Known | undefined): known is List => typeof known === "object";

  const toList = (parentId: EntryId | null): List => {
    const known = knownByParent.get(parentId);
    if (isList(known)) return known;
    const list: List = { ids: [], indexes: new Map(), infos: new Map() };
    if (typeof known === "string") put(list, known, 0);
    knownByParent.set(parentId, list);
    return list;
  };

  /** False where it was known. */
  const put = (list: List, id: EntryId, index: number): boolean => {
    if (list.ids[index] === id) return false;
    list.ids[index] = id;
    list.indexes.set(id, index);
    list.infos.clear();
    return true;
  };

  return {
    count: (parentId) => {
      const known = knownByParent.get(parentId);
      if (isList(known)) return known.ids.length;
      return known === undefined ? undefined : known === NONE ? 0 : 1;
    },
    at: (parentId, index) => {
      const known = knownByParent.get(parentId);
      if (isList(known)) return known.ids[index];
      return typeof known === "string" && index === 0 ? known : undefined;
    },
    info: (entry) => {
      const list = knownByParent.get(entry.parentId);
      if (!isList(list)) return ALONE;
      const index = list.indexes.get(entry.id);
      if (index === undefined) return ALONE;
      const info: BranchInfo = list.infos.get(entry.id) ?? {
        index,
        total: list.ids.length,
        previousId: list.ids[index - 1],
        nextId: list.ids[index + 1],
      };
      list.infos.set(entry.id, info);
      return info;
    },
    give: ({ parentId, total, from, ids }) => {
      const known = knownByParent.get(parentId);
      const [only] = ids;
      if (!isList(known) && total < 2) {
        lastByParent.delete(parentId);
        if (only !== undefined) knownByParent.set(parentId, only);
        else if (total === 0 && known === undefined) knownByParent.set(parentId, NONE);
        return [];
      }
      const list = toList(parentId);
      let isMore = list.ids.length < total;
      if (isMore) {
        list.ids.length = total;
        list.infos.clear();
      }
      ids.forEach((id, offset) => {
        if (put(list, id, from + offset)) isMore = true;
      });
      const last = lastByParent.get(parentId) ?? [];
      lastByParent.delete(parentId);
      last.forEach((id, offset) => {
        put(list, id, total - last.length + offset);
      });
      return isMore ? [parentId] : [];
    },
    born: (entry) => {
      const { id, parentId } = entry;
      if (!knownByParent.has(id)) knownByParent.set(id, NONE);
      const known = knownByParent.get(parentId);
      if (known === NONE) knownByParent.set(parentId, id);
      else if (known === undefined) {
        const last = lastByParent.get(parentId);
        if (last === undefined) lastByParent.set(parentId, [id]);
        else last.push(id);
      } else if (isList(known) ? !known.indexes.has(id) : known !== id) {
        const list = toList(parentId);
        put(list, id, list.ids.length);
      }
    },
    reset: () => {
      lastByParent.delete(null);
      knownByParent.set(null, NONE);
    },
  };
};
