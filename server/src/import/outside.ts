/**
 * Records without a place in the tree are kept beside it, verbatim: in `meta.outside` of the entry that
 * comes before them in the file (the first entry for those before any). No entry takes so many that it
 * could not be sent any more: what is too much goes to the next one.
 */
import type { Json } from "@espalier/shared";
import type { Fields } from "./fields.js";
import type { Place, RecordReader } from "./jsonl.js";

export type Outside = { readonly place: Place; readonly type: string };

type OutsideOf = (entryIndex: number) => readonly Outside[];

const MAX_BYTES = 512 * 1024;
const NONE: readonly Outside[] = Object.freeze([]);

/** Both lists in file order. */
export const assignOutside = (outside: readonly Outside[], entryPlaces: readonly Place[]): OutsideOf => {
  const taken = new Map<number, Outside[]>();
  const last = entryPlaces.length - 1;
  let at = 0;
  let bytes = 0;
  for (const each of outside) {
    const start = at;
    while (at < last && isBefore(entryPlaces[at + 1] as Place, each.place)) at += 1;
    if (at === start && at < last && bytes + each.place.length > MAX_BYTES && bytes > 0) at += 1;
    if (at !== start) bytes = 0;
    bytes += each.place.length;
    const list = taken.get(at);
    if (list === undefined) taken.set(at, [each]);
    else list.push(each);
  }
  return (entryIndex) => taken.get(entryIndex) ?? NONE;
};

const isBefore = (a: Place, b: Place): boolean => a.line < b.line || (a.line === b.line && a.part < b.part);

/** As they stand in `meta`; null where there are none. */
export const readOutside = async (outside: readonly Outside[], read: RecordReader): Promise<Json> => {
  if (outside.length === 0) return null;
  const kept: Fields[] = [];
  for (const { place, type } of outside)
    kept.push({ line: place.line, type, record: (await read(place)) as Json });
  return kept;
};
