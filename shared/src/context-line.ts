/**
 * Which entries of a line the model reads (C2–C4). The latest compaction wins: what lies above its cut is read
 * only where it stands for good (system messages, the kept ids), all that is below it as written.
 *
 * An earlier compaction below the cut is passed over: its summary went into the later one, which says what it
 * kept itself. An id that a compaction names and the path does not hold counts as lying above the path, so that
 * a wrong reference can only show too much, never lose anything.
 */
import type { CompactionEntry, Entry } from "./record.js";
import { settingPlaces } from "./settings.js";
import { isForModel } from "./transcript.js";

/** A line as it is walked upwards: a list with its places, or a tree with its nodes. */
export type Walk<T> = {
  entryOf(item: T): Entry;
  /** Null above the topmost one. */
  above(item: T): T | null;
};

/** What a compaction leaves of the entries above it. Each list has the topmost first. */
export type Cut<T> = {
  readonly compaction: T;
  /** What is read before the summary. */
  readonly systems: readonly T[];
  /** What is read behind the summary, before the window. */
  readonly kept: readonly T[];
  /** From the first kept entry on, to before the compaction. */
  readonly window: readonly T[];
  /** All above the window that this, or the settings, depend on. */
  readonly standing: readonly T[];
  readonly top: T;
};

export type Line<T> = {
  readonly cut: Cut<T> | null;
  /** What follows the compaction, or the whole line. */
  readonly after: readonly T[];
};

/** Walks up to the latest compaction; what lies above that is for `cutOf`, which may remember it. */
export const lineOf = <T>(leaf: T | null, walk: Walk<T>, cutOf: (compaction: T) => Cut<T>): Line<T> => {
  const after: T[] = [];
  for (let at = leaf; at !== null; at = walk.above(at)) {
    if (walk.entryOf(at).type === "compaction") return { cut: cutOf(at), after: after.reverse() };
    after.push(at);
  }
  return { cut: null, after: after.reverse() };
};

/** Costs the whole path above the compaction. */
export const cutAt = <T>(compaction: T, walk: Walk<T>): Cut<T> => {
  const above: T[] = [];
  for (let at = walk.above(compaction); at !== null; at = walk.above(at)) above.push(at);
  above.reverse();
  const entries = above.map(walk.entryOf);
  const entry = walk.entryOf(compaction) as CompactionEntry;
  const { start, mark } = startOf(entry, entries);

  const keptIds = new Set<string>(entry.keptIds);
  const elided = entries.slice(0, start);
  const settingItems = new Set(settingPlaces(elided).map((place) => above[place]));
  const systems: T[] = [];
  const kept: T[] = [];
  const standing: T[] = [];
  elided.forEach((each, place) => {
    const item = above[place] as T;
    if (isSystem(each)) systems.push(item);
    else if (keptIds.has(each.id) && isForModel(each)) kept.push(item);
    else if (!settingItems.has(item) && place !== mark) return;
    standing.push(item);
  });
  return { compaction, systems, kept, window: above.slice(start), standing, top: above[0] ?? compaction };
};

const isSystem = (entry: Entry): boolean =>
  entry.type === "message" && entry.role === "system" && isForModel(entry);

/** Where the window starts, and the entry above it that says so, if that is not its first. */
const startOf = (
  { firstKeptId, upToId }: CompactionEntry,
  entries: readonly Entry[],
): { start: number; mark: number | null } => {
  const first = firstKeptId === null ? -1 : entries.findIndex(({ id }) => id === firstKeptId);
  const upTo = entries.findIndex(({ id }) => id === upToId);
  if (firstKeptId !== null && (upTo < 0 || first <= upTo + 1))
    return { start: Math.max(first, 0), mark: null };
  return { start: upTo + 1, mark: upTo < 0 ? null : upTo };
};

/** The items of a line whose entries the context and the settings depend on, the topmost first. */
export const neededOf = <T>({ cut, after }: Line<T>, walk: Walk<T>): readonly T[] => {
  const isNeeded = (item: T): boolean => {
    const entry = walk.entryOf(item);
    // Turns begin at prompts and replies, also where they were erased: a compaction counts them (C5).
    const isOfTurns = entry.type === "erased";
    return isForModel(entry) || isOfTurns || entry.type === "model-change" || entry.type === "option-change";
  };
  if (cut === null) return after.filter(isNeeded);
  // The first kept entry says where the window begins, whatever its type.
  const { firstKeptId } = walk.entryOf(cut.compaction) as CompactionEntry;
  const window = cut.window.filter((item) => isNeeded(item) || walk.entryOf(item).id === firstKeptId);
  return [...cut.standing, ...window, cut.compaction, ...after.filter(isNeeded)];
};
