/**
 * What belongs together on a path, so that a cut does not divide it (C5): the calls of a reply and their results,
 * and what is not finished and what will still come of it.
 */
import { createOpenCalls } from "./open-calls.js";
import type { Entry } from "./record.js";

/** Entries are named by their places in the path. */
export type Pairs = {
  /** Whether a cut above this place would fall between a call and its result. */
  isInside(place: number): boolean;
  /** Messages that stream or have an open call, in order. */
  readonly unfinished: readonly number[];
  /** These, and all that is paired with any of them. */
  closure(places: Iterable<number>): ReadonlySet<number>;
};

/** Pairs as the model reads it: what is not among `places` (in order) has no part in it. */
export const pairsOf = (path: readonly Entry[], places: readonly number[]): Pairs => {
  const calls = createOpenCalls();
  const unfinished = new Set<number>();
  const partnersByPlace = new Map<number, number[]>();
  /** By the place of a reply: the last place that holds one of its results. */
  const endsByPlace = new Map<number, number>();

  for (const place of places) {
    const entry = path[place] as Entry;
    if (entry.status === "streaming") unfinished.add(place);
    for (const reply of calls.push(entry, place)) {
      link(partnersByPlace, reply, place);
      link(partnersByPlace, place, reply);
      endsByPlace.set(reply, place);
    }
  }
  for (const place of calls.all()) unfinished.add(place);
  const inside = insidePlaces(path.length, endsByPlace);

  return {
    isInside: (place) => inside[place] === 1,
    unfinished: [...unfinished].sort((a, b) => a - b),
    closure: (from) => {
      const closed = new Set(from);
      // A set is walked in the order of insertion: what is added on the way is met as well.
      for (const place of closed) for (const partner of partnersByPlace.get(place) ?? []) closed.add(partner);
      return closed;
    },
  };
};

const link = (partnersByPlace: Map<number, number[]>, from: number, to: number): void => {
  const partners = partnersByPlace.get(from);
  if (partners === undefined) partnersByPlace.set(from, [to]);
  else partners.push(to);
};

/** Marks the places below a call, down to its last result. */
const insidePlaces = (length: number, endsByPlace: ReadonlyMap<number, number>): Uint8Array => {
  const inside = new Uint8Array(length);
  let end = -1;
  for (let place = 0; place < length; place += 1) {
    if (place <= end) inside[place] = 1;
    end = Math.max(end, endsByPlace.get(place) ?? -1);
  }
  return inside;
};
