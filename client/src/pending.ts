/**
 * What was written here and is not acknowledged (O1–O3): kept in order, sent after each join, shown by
 * the view that wrote it. It never enters the tree.
 */
import type { Draft, EntryId, ErrorBody, Place, PrincipalId, RunRequest } from "@espalier/shared";

/** Where a write goes; `leaf` stands for where its view's line ends when it is sent (O3). */
export type Intent = Place | { readonly at: "leaf" };

/** Without an intent it goes where its run writes. */
export type PendingItem = { readonly draft: Draft; readonly intent: Intent | undefined };

/** Says where a write goes when it is sent; undefined: where its run writes. */
export type Placer = { placeOf(write: Write, index: number): Place | undefined };

export type WriteState = "pending" | "failed";

export type Write = {
  /** The first entry's id, or the run's where there is no entry. */
  readonly id: string;
  readonly items: readonly PendingItem[];
  readonly run: RunRequest | undefined;
  /** The confirmed entry that it is shown below; null: below nothing. */
  readonly anchorId: EntryId | null;
  /** The entry that it goes after, where that was pending too when this was written. */
  readonly afterId: EntryId | undefined;
  /** Where the view was before an edit, to go back to when it is discarded (V5). */
  readonly formerLeafId: EntryId | null | undefined;
  /** The view was held there (V4). */
  readonly isFormerHeld?: boolean;
  readonly state: WriteState;
  readonly error: ErrorBody | null;
  /** Who wrote it, where that was known: another's words are not sent as one's own. */
  readonly by?: PrincipalId;
  /** ms, this client's clock: shown until the server's is known. */
  readonly time: number;
};

/** A write was added (there is none before), changed, or taken away (there is none after). */
export type WriteChange = { readonly id: string; readonly before?: Write; readonly after?: Write };

export type PendingQueue = {
  readonly size: number;
  get(id: string): Write | undefined;
  /** The write that an entry is part of. */
  ofEntry(id: EntryId): Write | undefined;
  all(): Write[];
  add(write: Write): void;
  fail(id: string, error: ErrorBody): void;
  /** Pending again; with a fresh place those that went after it go where it went before. */
  retry(id: string, fresh?: Pick<Write, "items" | "anchorId" | "afterId">): void;
  /** It is acknowledged. */
  remove(id: string): void;
  /** It is given up: its place goes to those that went after it (O2). */
  discard(id: string): void;
};

type QueueOptions = {
  readonly restored: readonly Write[];
  readonly onChange: (change: WriteChange) => void;
};

export const createPendingQueue = ({ restored, onChange }: QueueOptions): PendingQueue => {
  const writesById = new Map<string, Write>();
  const writeIdsByEntry = new Map<EntryId, string>();

  const put = (write: Write): void => {
    writesById.set(write.id, write);
    for (const { draft } of write.items) writeIdsByEntry.set(draft.id, write.id);
  };
  for (const write of restored) put(write);

  const change = (write: Write): void => {
    const before = writesById.get(write.id);
    put(write);
    onChange({ id: write.id, ...(before === undefined ? {} : { before }), after: write });
  };

  const remove = (id: string): void => {
    const write = writesById.get(id);
    if (write === undefined) return;
    writesById.delete(id);
    for (const { draft } of write.items) writeIdsByEntry.delete(draft.id);
    onChange({ id, before: write });
  };

  const passOnPlace = ({ items, afterId }: Write): void => {
    const ids = new Set(items.map(({ draft }) => draft.id));
    for (const write of writesById.values())
      if (write.afterId !== undefined && ids.has(write.afterId)) change({ ...write, afterId });
  };

  return {
    get size() {
      return writesById.size;
    },
    get: (id) => writesById.get(id),
    ofEntry: (id) => {
      const writeId = writeIdsByEntry.get(id);
      return writeId === undefined ? undefined : writesById.get(writeId);
    },
    all: () => [...writesById.values()],
    add: change,
    fail: (id, error) => {
      const write = writesById.get(id);
      if (write !== undefined) change({ ...write, state: "failed", error });
    },
    retry: (id, fresh) => {
      const write = writesById.get(id);
      if (write === undefined) return;
      if (fresh !== undefined) passOnPlace(write);
      change({ ...write, ...fresh, state: "pending", error: null });
    },
    remove,
    discard: (id) => {
      const write = writesById.get(id);
      if (write !== undefined) passOnPlace(write);
      remove(id);
    },
  };
};

/** Whether a value is what was saved; a storage may hold anything. */
export const isWrite = (value: unknown): value is Write => {
  if (typeof value !== "object" || value === null) return false;
  const { id, items, state, time } = value as Partial<Record<keyof Write, unknown>>;
  return (
    typeof id === "string" &&
    (state === "pending" || state === "failed") &&
    typeof time === "number" &&
    Array.isArray(items) &&
    items.every(isItem)
  );
};

const isItem = (value: unknown): boolean => {
  const draft = (value as { draft?: { id?: unknown } } | null)?.draft;
  return typeof draft === "object" && draft !== null && typeof draft.id === "string";
};
