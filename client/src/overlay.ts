/**
 * The pending writes that a view shows below its leaf (O1), in the order in which they were made. A write
 * leaves when its entries are in the tree; while the view looks elsewhere it waits unseen in the queue.
 */
import type { EntryId, Place, PrincipalId, Tree } from "@espalier/shared";
import type { PendingQueue, Write } from "./pending.js";
import { pendingEntry } from "./view-content.js";
import type { ViewEntry } from "./view-types.js";

export type Overlay = {
  /** Shown below the leaf. The same objects until the writes change. */
  readonly entries: readonly ViewEntry[];
  /** The newest entry that is shown and not refused, if any: what the next one goes after. */
  readonly lastId: EntryId | undefined;
  /** One of these stands at a place of its own: what grows below the leaf does not move in above it. */
  readonly isAnchored: boolean;
  /** An attached write has changed, or come into the tree: `entries` are gathered anew when they are read. */
  renew(): void;
  /** An attached write was added to the queue: costs what it brings. */
  added(write: Write): void;
  has(writeId: string): boolean;
  attach(writeId: string): void;
  detach(writeId: string): void;
  /** Shows a write, with those that it goes after, and no others. */
  showOnly(write: Write): void;
  clear(): void;
  /** Where the entry of a write goes when it is sent now; undefined: where its run writes. */
  placeOf(write: Write, index: number, leafId: EntryId | null): Place | undefined;
};

type OverlayOptions = {
  readonly queue: PendingQueue;
  readonly getTree: () => Tree;
  readonly getAuthor: () => PrincipalId;
};

export const createOverlay = ({ queue, getTree, getAuthor }: OverlayOptions): Overlay => {
  let attached = new Set<string>();
  /** Null where they must be gathered anew. */
  let gathered: readonly ViewEntry[] | null = NONE;
  const shownByWrite = new WeakMap<Write, readonly ViewEntry[]>();

  const shown = (write: Write): readonly ViewEntry[] => {
    const held = shownByWrite.get(write);
    if (held !== undefined) return held;
    let parentId = write.anchorId;
    const entries = write.items.map(({ draft }): ViewEntry => {
      const entry = pendingEntry(draft, { parentId, author: getAuthor(), time: write.time });
      parentId = draft.id;
      return Object.freeze({ id: draft.id, entry, state: write.state, error: write.error });
    });
    shownByWrite.set(write, entries);
    return entries;
  };

  const gather = (): readonly ViewEntry[] => {
    const tree = getTree();
    const entries: ViewEntry[] = [];
    for (const id of attached) {
      const write = queue.get(id);
      if (write === undefined) continue;
      for (const entry of shown(write)) if (tree.get(entry.id) === undefined) entries.push(entry);
    }
    return entries.length === 0 ? NONE : entries;
  };

  const getEntries = (): readonly ViewEntry[] => {
    gathered ??= gather();
    return gathered;
  };

  const isOwnPlace = (id: EntryId): boolean =>
    queue.ofEntry(id)?.items.some(({ intent }) => intent !== undefined && !("at" in intent)) ?? false;

  /** A refused write stands in nobody's way: what went after it goes where it would have gone. */
  const goesAfter = (write: Write, leafId: EntryId | null): EntryId | null => {
    let at = write.afterId;
    while (at !== undefined) {
      const before = queue.ofEntry(at);
      if (before === undefined) break;
      if (before.state === "pending") return at;
      at = before.afterId;
    }
    return attached.has(write.id) ? leafId : (at ?? write.anchorId);
  };

  return {
    get entries() {
      return getEntries();
    },
    get lastId() {
      return getEntries().findLast(({ state }) => state === "pending")?.id;
    },
    get isAnchored() {
      // What has a place of its own begins a line, so it is the first of them.
      const [first] = getEntries();
      return first !== undefined && isOwnPlace(first.id);
    },
    renew: () => {
      gathered = attached.size === 0 ? NONE : null;
    },
    has: (writeId) => attached.has(writeId),
    added: (write) => {
      if (gathered !== null) gathered = [...gathered, ...shown(write)];
    },
    attach: (writeId) => {
      if (queue.get(writeId) !== undefined) gathered = null;
      attached.delete(writeId);
      attached.add(writeId);
    },
    detach: (writeId) => void attached.delete(writeId),
    showOnly: (write) => {
      const chain = new Set<string>();
      let first: Write | undefined = write;
      while (first !== undefined && !chain.has(first.id)) {
        chain.add(first.id);
        first = first.afterId === undefined ? undefined : queue.ofEntry(first.afterId);
      }
      attached = new Set([...chain].reverse());
      gathered = null;
    },
    clear: () => {
      attached.clear();
      gathered = NONE;
    },
    placeOf: (write, index, leafId) => {
      const item = write.items[index];
      if (item?.intent === undefined) return undefined;
      if (!("at" in item.intent)) return item.intent;
      const previous = write.items[index - 1];
      return { after: previous === undefined ? goesAfter(write, leafId) : previous.draft.id };
    },
  };
};

const NONE: readonly ViewEntry[] = Object.freeze([]);
