/**
 * What becomes of a log's records when an entry is erased (L2): its own stands as its tombstone, and its
 * appends hold no deltas. The tombstone is that of the entry as it was folded, and has the erase's seq as
 * its rev: so a fold from the start passes over what follows, and comes to what a live tree came to (T1).
 */
import {
  type Append,
  createTree,
  type Entry,
  type Erase,
  eraseEntry,
  type LogRecord,
} from "@espalier/shared";

type Erased = { readonly erase: Erase; entry: Entry | null; readonly appends: Append[] };

/** The records as their own erases leave them; the same again where that was done before. */
export const withErasures = (records: readonly LogRecord[]): readonly LogRecord[] => {
  const erasedById = erasedOf(records);
  if (erasedById.size === 0) return records;
  const replaced = new Map<number, LogRecord>();
  for (const { erase, entry, appends } of erasedById.values()) {
    for (const append of appends) replaced.set(append.seq, { ...append, deltas: [] });
    if (entry !== null) replaced.set(entry.seq, eraseEntry(foldOf(entry, appends), erase));
  }
  return records.map((record) => replaced.get(record.seq) ?? record);
};

/** The entries as a log keeps them that erased some of them. */
export function* eraseAmong(entries: Iterable<Entry>, erases: Iterable<Erase>): Generator<Entry> {
  const erasesById = new Map([...erases].map((erase) => [erase.id, erase]));
  for (const entry of entries) {
    const erase = erasesById.get(entry.id);
    yield erase === undefined ? entry : eraseEntry(entry, erase);
  }
}

export const isErase = (record: LogRecord): record is Erase => record.kind === "erase";

/** What was erased, by the last erase of each, with its records before that. */
const erasedOf = (records: readonly LogRecord[]): Map<string, Erased> => {
  const erasedById = new Map<string, Erased>();
  for (const erase of records)
    if (isErase(erase)) erasedById.set(erase.id, { erase, entry: null, appends: [] });
  if (erasedById.size === 0) return erasedById;
  for (const record of records) {
    if (record.kind !== "entry" && record.kind !== "append") continue;
    const erased = erasedById.get(record.id);
    if (erased === undefined || record.seq > erased.erase.seq) continue;
    if (record.kind === "entry") erased.entry = record;
    else erased.appends.push(record);
  }
  return erasedById;
};

/** One that stands as a tombstone has its size and status already; what it used may be in its appends alone. */
const foldOf = (entry: Entry, appends: readonly Append[]): Entry => {
  if (entry.type === "erased") {
    const usage = appends.findLast((append) => append.usage !== undefined)?.usage;
    return usage === undefined ? entry : { ...entry, usage };
  }
  const tree = createTree();
  for (const record of [entry, ...appends]) tree.apply(record);
  return tree.get(entry.id)?.entry ?? entry;
};
