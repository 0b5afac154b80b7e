/** What of a path the model reads at its end, and what may be summarised of that. */
import { cutAt, lineOf, type Walk } from "./context-line.js";
import type { EntryId } from "./ids.js";
import type { CompactionEntry, Entry } from "./record.js";
import { isForModel } from "./transcript.js";

/** Entries are named by their places in the path. */
export type ReadWindow = {
  /** What is read as written, the topmost first, and between that what the model does not read. */
  readonly places: readonly number[];
  /** So many of the places, from the first, are those of entries that a compaction keeps by id. */
  readonly keptById: number;
  /** The compaction that the model reads. */
  readonly compaction: CompactionEntry | null;
  /** All that the model reads, for its size. */
  readonly entries: readonly Entry[];
};

/** Null where the model reads nothing after the last compaction. */
export const readWindow = (path: readonly Entry[]): ReadWindow | null => {
  const entryOf = (place: number): Entry => path[place] as Entry;
  const walk: Walk<number> = { entryOf, above: (place) => (place === 0 ? null : place - 1) };
  const { cut, after } = lineOf(path.length === 0 ? null : path.length - 1, walk, (at) => cutAt(at, walk));
  if (cut === null)
    return { places: after, keptById: 0, compaction: null, entries: after.map(entryOf).filter(isForModel) };
  if (!after.some((place) => isForModel(entryOf(place)))) return null;
  const compaction = entryOf(cut.compaction) as CompactionEntry;
  // An earlier compaction says nothing any more.
  const window = cut.window.filter((place) => entryOf(place).type !== "compaction");
  const places = [...cut.kept, ...window, ...after];
  const read = [...cut.systems, ...places].map(entryOf).filter(isForModel);
  return { places, keptById: cut.kept.length, compaction, entries: [compaction, ...read] };
};

/** How a compaction names what it keeps. */
export type KeptReferences = {
  readonly firstKeptId: EntryId | null;
  readonly keptIds?: readonly EntryId[];
};

/** Keeps a window from a position in its places on: from the first kept entry, and by id what is scattered above. */
export const keptFrom = (
  path: readonly Entry[],
  { places, keptById }: ReadWindow,
  position: number,
): KeptReferences => {
  const entryAt = (place: number): Entry => path[place] as Entry;
  const first = places[Math.max(position, keptById)];
  const scattered = places.slice(position, keptById).map(entryAt);
  return {
    firstKeptId: first === undefined ? null : entryAt(first).id,
    ...(scattered.length === 0 ? {} : { keptIds: scattered.map(({ id }) => id) }),
  };
};
