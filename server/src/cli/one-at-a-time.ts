/**
 * For people: while one entry streams, what happens beside it waits, and is told whole at its turn. Two
 * answers that stream at once would otherwise be told in alternating crumbs.
 */
import type { Entry, EntryId } from "@espalier/shared";
import type { FollowListener } from "./follow.js";

type Waiting =
  | { readonly type: "entry"; readonly id: EntryId }
  | { readonly type: "moved"; readonly parent: Entry | null };

export const oneAtATime = (listener: FollowListener): FollowListener => {
  let streamingId: EntryId | null = null;
  let waiting: Waiting[] = [];
  /** What waits, as it is by now. */
  const latestById = new Map<EntryId, Entry>();

  const tell = (entry: Entry): void => {
    listener.entry(entry);
    if (entry.status === "streaming") streamingId = entry.id;
  };

  const tellWaiting = (): void => {
    const items = waiting;
    waiting = [];
    for (const item of items) {
      if (streamingId !== null) waiting.push(item);
      else if (item.type === "moved") listener.moved(item.parent);
      else {
        const entry = latestById.get(item.id) as Entry;
        latestById.delete(item.id);
        tell(entry);
      }
    }
  };

  return {
    older: listener.older,
    moved: (parent) => {
      if (streamingId === null) listener.moved(parent);
      else waiting.push({ type: "moved", parent });
    },
    entry: (entry) => {
      if (streamingId === null) return tell(entry);
      latestById.set(entry.id, entry);
      waiting.push({ type: "entry", id: entry.id });
    },
    grown: (entry, growth) => {
      if (latestById.has(entry.id)) latestById.set(entry.id, entry);
      else listener.grown(entry, growth);
      if (entry.id !== streamingId || entry.status === "streaming") return;
      streamingId = null;
      tellWaiting();
    },
  };
};
