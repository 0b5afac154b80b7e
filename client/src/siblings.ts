/**
 * What is known of the children of each parent (V9). A position in such a list never changes, since
 * children stand in order of seq and none is ever removed (T2, L2): so a list that is known in part is an
 * array with holes, a page fills holes, and a live child is pushed at the end.
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
  /** Takes what a join or a page gave, as of now. */
  give(alternatives: Alternatives): void;
  /** Takes a live entry: one more child of its parent, and a parent with no child yet. */
  born(entry: Entry): void;
};

type List = {
  readonly ids: (EntryId | undefined)[];
  readonly indexes: Map<EntryId, number>;
  infos: Map<EntryId, BranchInfo>;
};

const ALONE: BranchInfo = Object.freeze({ index: 0, total: 1, previousId: undefined, nextId: undefined });

export const createSiblings = (): Siblings => {
  const listsByParent = new Map<EntryId | null, List>();

  const listOf = (parentId: EntryId | null): List => {
    const list = listsByParent.get(parentId) ?? { ids: [], indexes: new Map(), infos: new Map() };
    listsByParent.set(parentId, list);
    return list;
  };

  return {
    count: (parentId) => listsByParent.get(parentId)?.ids.length,
    at: (parentId, index) => listsByParent.get(parentId)?.ids[index],
    info: (entry) => {
      const list = listsByParent.get(entry.parentId);
      const index = list?.indexes.get(entry.id);
      if (list === undefined || index === undefined || list.ids.length < 2) return ALONE;
      const held = list.infos.get(entry.id);
      if (held !== undefined) return held;
      const info: BranchInfo = Object.freeze({
        index,
        total: list.ids.length,
        previousId: list.ids[index - 1],
        nextId: list.ids[index + 1],
      });
      list.infos.set(entry.id, info);
      return info;
    },
    give: ({ parentId, total, from, ids }) => {
      const list = listOf(parentId);
      if (list.ids.length < total) list.ids.length = total;
      ids.forEach((id, offset) => {
        list.ids[from + offset] = id;
        list.indexes.set(id, from + offset);
      });
      list.infos = new Map();
    },
    born: (entry) => {
      listOf(entry.id);
      const list = listsByParent.get(entry.parentId) ?? (entry.parentId === null ? listOf(null) : undefined);
      if (list === undefined || list.indexes.has(entry.id)) return;
      list.indexes.set(entry.id, list.ids.length);
      list.ids.push(entry.id);
      if (list.infos.size > 0) list.infos = new Map();
    },
  };
};
