/**
 * Makes a forest of what a foreign file points at (T4). The rules, in this order:
 *
 * 1. Of entries with one id the first wins; an identical repeat is told from a conflict.
 * 2. An entry whose parent is missing, or that is its own parent, becomes a root.
 * 3. A ring is cut at the member that comes last in the file; the others keep their parents.
 *
 * Each repair is reported. The parent pointer is trusted over everything else.
 */
import { jsonEqual } from "@espalier/shared";
import type { ForeignEntry, Report } from "./foreign.js";

/**
 * The entries in file order, each id once, with parents that are there and that reach a root. `onLost` is
 * told of those whose id was another's before, for formats whose reports do not say where in the file.
 */
export const repair = (
  entries: readonly ForeignEntry[],
  holder: "file" | "conversation",
  report: Report,
  onLost: (entry: ForeignEntry) => void = () => {},
): ForeignEntry[] => {
  const unique = withoutRepeats(entries, report, onLost);
  const indexesById = new Map(unique.map((entry, index) => [entry.sourceId, index]));
  const parents = unique.map((entry, index) => parentIndexOf(entry, index, indexesById, holder, report));
  cutRings(unique, parents, report);
  return unique.map((entry, index) =>
    parents[index] === ROOT && entry.parentId !== null ? { ...entry, parentId: null } : entry,
  );
};

const ROOT = -1;

const withoutRepeats = (
  entries: readonly ForeignEntry[],
  report: Report,
  onLost: (entry: ForeignEntry) => void,
): ForeignEntry[] => {
  const firstsById = new Map<string, ForeignEntry>();
  for (const entry of entries) {
    const first = firstsById.get(entry.sourceId);
    if (first === undefined) firstsById.set(entry.sourceId, entry);
    else if (jsonEqual(first.body, entry.body))
      report(`${entry.where}: repeats ${first.where} exactly; ignored`);
    else {
      const clash = `id ${entry.sourceId} was used by ${first.where} with another body`;
      report(`${entry.where}: ${clash}; the first is kept`);
      onLost(entry);
    }
  }
  return [...firstsById.values()];
};

const parentIndexOf = (
  { sourceId, parentId, where }: ForeignEntry,
  index: number,
  indexesById: ReadonlyMap<string, number>,
  holder: string,
  report: Report,
): number => {
  if (parentId === null) return ROOT;
  const parent = indexesById.get(parentId);
  if (parent === undefined) report(`${where}: parent ${parentId} is not in the ${holder}; becomes a root`);
  else if (parent === index) report(`${where}: ${sourceId} is its own parent; becomes a root`);
  else return parent;
  return ROOT;
};

/** Each entry is walked over once: a walk ends where an earlier one has been, or where it meets itself. */
const cutRings = (entries: readonly ForeignEntry[], parents: number[], report: Report): void => {
  const walks = new Int32Array(parents.length).fill(-1);
  for (let start = 0; start < parents.length; start++) {
    let at = start;
    while (at !== ROOT && walks[at] === -1) {
      walks[at] = start;
      at = parents[at] as number;
    }
    if (at === ROOT || walks[at] !== start) continue;
    const closer = lastOfRing(parents, at);
    parents[closer] = ROOT;
    const { where, sourceId } = entries[closer] as ForeignEntry;
    report(`${where}: ${sourceId} closes a cycle; becomes a root`);
  }
};

const lastOfRing = (parents: readonly number[], start: number): number => {
  let last = start;
  for (let at = parents[start] as number; at !== start; at = parents[at] as number) last = Math.max(last, at);
  return last;
};
