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
  /** Notes `entries` as they are now; true where they are others than at the last time. */
  note(): boolean;
  has(writeId: string): boolean;
  attach(writeId: string): void;
  detach(writeId: string): void;
  /** The ids of attached writes up to one, it included. */
  upTo(writeId: string): string[];
  set(writeIds: readonly string[]): void;
  /** Where the entry of a write goes when it is sent now; undefined: where its run writes. */
  placeOf(write: Write, index: number, leafId: EntryId | null): Place | undefined;
};

type OverlayOptions = {
  readonly queue: PendingQueue;
  readonly getTree: () => Tree;
  readonly getAuthor: () => PrincipalId;
};

export const createOverlay = ({ queue, getTree, getAuthor }: OverlayOptions): Overlay => {
  let attached: string[] = [];
  let told: readonly ViewEntry[] = NONE;
  const shownByWrite = new WeakMap<Write, readonly ViewEntry[]>();

  const writes = (): Write[] =>
    attached.flatMap((id) => {
      const write = queue.get(id);
      return write === undefined ? [] : [write];
    });

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

  const entriesOf = (of: readonly Write[]): ViewEntry[] => {
    const tree = getTree();
    return of.flatMap(shown).filter(({ id }) => tree.get(id) === undefined);
  };

  const lastBefore = (write: Write | undefined): EntryId | undefined => {
    const all = writes();
    const before = write === undefined ? all : all.slice(0, all.indexOf(write));
    const live = before.filter(({ state, items }) => state === "pending" && items.length > 0);
    return live.at(-1)?.items.at(-1)?.draft.id;
  };

  return {
    get entries() {
      return attached.length === 0 ? NONE : entriesOf(writes());
    },
    get lastId() {
      return lastBefore(undefined);
    },
    get isAnchored() {
      const tree = getTree();
      return writes().some(({ items }) =>
        items.some(
          ({ draft, intent }) =>
            intent !== undefined && !("at" in intent) && tree.get(draft.id) === undefined,
        ),
      );
    },
    note: () => {
      const before = told;
      told = attached.length === 0 ? NONE : entriesOf(writes());
      return told.length !== before.length || told.some((entry, index) => entry !== before[index]);
    },
    has: (writeId) => attached.includes(writeId),
    attach: (writeId) => {
      attached = [...attached.filter((id) => id !== writeId && queue.get(id) !== undefined), writeId];
    },
    detach: (writeId) => {
      attached = attached.filter((id) => id !== writeId);
    },
    upTo: (writeId) => attached.slice(0, attached.indexOf(writeId) + 1),
    set: (writeIds) => {
      attached = [...writeIds];
    },
    placeOf: (write, index, leafId) => {
      const item = write.items[index];
      if (item?.intent === undefined) return undefined;
      if (!("at" in item.intent)) return item.intent;
      const previous = write.items[index - 1];
      if (previous !== undefined) return { after: previous.draft.id };
      if (!attached.includes(write.id)) return { after: write.anchorId };
      return { after: lastBefore(write) ?? leafId };
    },
  };
};

const NONE: readonly ViewEntry[] = Object.freeze([]);
