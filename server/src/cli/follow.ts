/**
 * Follows a session: the last entries of its newest line, then what is written next, wherever the newest
 * entry is; and what is streamed into an entry that was told, to its end, also when the line has moved on.
 */
import type { Session, View } from "@espalier/client";
import type { Entry, EntryId } from "@espalier/shared";
import { type Growth, growthOf } from "./growth.js";

export type FollowListener = {
  /** The line goes on from another entry than the one told last; null: a new root. */
  moved(parent: Entry | null): void;
  /** There are entries above that are not told. */
  older(): void;
  entry(entry: Entry): void;
  grown(entry: Entry, growth: readonly Growth[]): void;
};

/** Returns its undo. `lines` entries are told of what is there already. */
export const follow = (session: Session, lines: number, listener: FollowListener): (() => void) => {
  const toldIds = new Set<EntryId>();
  const streams = new Map<EntryId, { told: Entry; view: View }>();
  const view = session.createView({ limit: Math.max(1, lines), follow: "newest" });
  let lastId: EntryId | null = null;
  let isStarted = false;

  /** Entries at the end of the line that were not told, the oldest first. */
  const untold = (): Entry[] => {
    const entries: Entry[] = [];
    for (let index = view.snapshot.length - 1; index >= 0; index -= 1) {
      const entry = view.at(index)?.entry;
      if (entry === undefined || toldIds.has(entry.id)) break;
      entries.push(entry);
    }
    return entries.reverse();
  };

  const tellLine = (): void => {
    if (view.snapshot.isLoading) return;
    const entries = isStarted || lines > 0 ? untold() : [];
    const [first] = entries;
    if (first !== undefined && isStarted && first.parentId !== lastId) listener.moved(parentOf(first));
    else if (!isStarted && view.snapshot.hasOlder && lines > 0) listener.older();
    if (!isStarted && lines === 0) skip();
    isStarted = true;
    for (const entry of entries) tell(entry);
  };

  const skip = (): void => {
    for (const entry of untold()) {
      toldIds.add(entry.id);
      lastId = entry.id;
    }
  };

  const parentOf = ({ parentId }: Entry): Entry | null =>
    parentId === null ? null : (view.get(parentId)?.entry ?? null);

  const tell = (entry: Entry): void => {
    toldIds.add(entry.id);
    lastId = entry.id;
    listener.entry(entry);
    if (entry.status === "streaming") watch(entry);
  };

  /** A view of its own, so that the stream is heard to its end wherever the line goes. */
  const watch = (entry: Entry): void => {
    const { id } = entry;
    const own = session.createView({ limit: 1, leafId: id });
    streams.set(id, { told: entry, view: own });
    own.subscribe(() => look(id));
    look(id);
  };

  const look = (id: EntryId): void => {
    const stream = streams.get(id);
    const entry = stream?.view.get(id)?.entry;
    if (stream === undefined || entry === undefined || entry === stream.told) return;
    const growth = growthOf(stream.told, entry);
    stream.told = entry;
    if (growth.length > 0) listener.grown(entry, growth);
    if (entry.status === "streaming") return;
    streams.delete(id);
    stream.view.close();
  };

  const undo = view.subscribe(({ type }) => {
    if (type === "line") tellLine();
  });
  tellLine();
  return () => {
    undo();
    view.close();
    for (const stream of streams.values()) stream.view.close();
    streams.clear();
  };
};
