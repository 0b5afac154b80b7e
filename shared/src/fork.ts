/**
 * A fork by copy (F1, F3): where a line may be cut, and what its entries are in a session of their own. Pure:
 * ids are handed in, and nothing of the source changes.
 */
import type { EntryId, Seq } from "./ids.js";
import { createOpenCalls } from "./open-calls.js";
import type { CompactionEntry, Entry } from "./record.js";

/** The last entry of the line that a fork takes, and its place in the path. */
export type ForkPoint = { readonly index: number; readonly entry: Entry };

/**
 * The last entry, at or above a path's end, at which a fork may be cut; null: before the first one. A cut leaves
 * no message that streams above it, and no call of a tool that waits for its result: where one does, or where
 * only some results of a reply are on the path, it snaps back to before that reply (F3). What the conversation
 * has gone on from (a prompt and a reply follow), or was aborted, waits for nothing.
 *
 * ```ts
 * const point = forkPoint(path); // the path ends at the entry that was asked for
 * const isSnapped = point?.entry.id !== path.at(-1)?.id;
 * ```
 * @param path from the first entry down to where the cut was asked for.
 */
export const forkPoint = (path: Iterable<Entry>): ForkPoint | null => {
  const calls = createOpenCalls();
  let point: ForkPoint | null = null;
  let index = 0;
  for (const entry of path) {
    if (entry.status === "streaming") break;
    calls.push(entry, index);
    if (calls.first() === null) point = { index, entry };
    index += 1;
  }
  return point;
};

/**
 * The entries of a path as those of a new session, one at a time: with ids of their own, each below the one
 * before it, the first below nothing, `seq` counted from `from`. Time, author, status, size, usage, meta and
 * content stay. Run and writer are left out: both are of the source, and nobody goes on writing what is copied.
 *
 * References to entries of the path are mapped. Of those to others:
 * - A compaction's `firstKeptId` or `upToId` whose entry was left out of the path stands for its neighbour there
 *   (the next one; for `upToId` the one before). Where that is not known either it is kept as it is, which the
 *   context reads as lying above the path: it shows too much then, and loses nothing.
 * - What `keptIds` names and the path does not hold is left out: there is nothing to keep.
 * - A branch-summary's `fromId` is kept where the line that was left is not part of the path (as a rule): it
 *   names the entry of the source, which the session's origin leads to.
 *
 * ```ts
 * const copies = forkPath(path.slice(0, point.index + 1), () => runtime.newId() as EntryId);
 * ```
 * @param path from the first entry down, as `forkPoint` cut it: a streaming message would stream for ever.
 * @param newId is given the entry that an id is for; never the same id twice.
 */
export function* forkPath(
  path: Iterable<Entry>,
  newId: (source: Entry) => EntryId,
  from = 1,
): Iterable<Entry> {
  const references = createReferences();
  let parentId: EntryId | null = null;
  let seq = from;
  for (const source of path) {
    const id = newId(source);
    references.add(source, id);
    const { runId, writer, ...kept } = source;
    yield { ...references.mapped(kept as Entry), id, parentId, seq: seq as Seq, rev: seq as Seq };
    parentId = id;
    seq += 1;
  }
}

const createReferences = () => {
  const idsBySource = new Map<EntryId, EntryId>();
  /** By an entry that was left out of the path: the copies of what stands before and behind it. */
  const gaps = new Map<EntryId, { readonly before: EntryId | undefined; readonly behind: EntryId }>();
  let previous: { readonly sourceId: EntryId; readonly id: EntryId } | undefined;

  const mappedCompaction = (entry: CompactionEntry): CompactionEntry => {
    const { firstKeptId, upToId, keptIds } = entry;
    const present = keptIds?.flatMap((id) => idsBySource.get(id) ?? []);
    return {
      ...entry,
      firstKeptId:
        firstKeptId === null
          ? null
          : (idsBySource.get(firstKeptId) ?? gaps.get(firstKeptId)?.behind ?? firstKeptId),
      upToId: idsBySource.get(upToId) ?? gaps.get(upToId)?.before ?? upToId,
      ...(present === undefined ? {} : { keptIds: present }),
    };
  };

  return {
    add: (source: Entry, id: EntryId): void => {
      idsBySource.set(source.id, id);
      const { parentId } = source;
      if (parentId !== null && parentId !== previous?.sourceId)
        gaps.set(parentId, { before: previous?.id, behind: id });
      previous = { sourceId: source.id, id };
    },
    mapped: (entry: Entry): Entry => {
      if (entry.type === "compaction") return mappedCompaction(entry);
      if (entry.type === "branch-summary")
        return { ...entry, fromId: idsBySource.get(entry.fromId) ?? entry.fromId };
      return entry;
    },
  };
};
