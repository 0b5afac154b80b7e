/**
 * What was written here and is not acknowledged (O1–O3): kept in order, sent after each join, shown by
 * the view that wrote it. Pure; it never enters the tree.
 */
import type { Draft, EntryId, ErrorBody, Place, RunRequest } from "@espalier/shared";

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
  /** Where the view was before an edit, to go back to when it is discarded (V5). */
  readonly formerLeafId: EntryId | null | undefined;
  readonly state: WriteState;
  readonly error: ErrorBody | null;
  /** ms, this client's clock: shown until the server's is known. */
  readonly time: number;
};

export type PendingQueue = {
  readonly size: number;
  get(id: string): Write | undefined;
  all(): Write[];
  add(write: Write): void;
  fail(id: string, error: ErrorBody): void;
  /** Pending again, to be sent with a fresh intent where there is a view to give one. */
  retry(id: string, change?: Partial<Pick<Write, "items" | "run" | "anchorId">>): void;
  remove(id: string): void;
  /** As text for a storage, and back. */
  save(): string;
};

export const createPendingQueue = (saved: string | null, onChange: () => void): PendingQueue => {
  const writesById = new Map<string, Write>(
    saved === null ? [] : parseSaved(saved).map((write) => [write.id, write]),
  );

  const change = (id: string, next: (write: Write) => Write): void => {
    const write = writesById.get(id);
    if (write === undefined) return;
    writesById.set(id, next(write));
    onChange();
  };

  return {
    get size() {
      return writesById.size;
    },
    get: (id) => writesById.get(id),
    all: () => [...writesById.values()],
    add: (write) => {
      writesById.set(write.id, write);
      onChange();
    },
    fail: (id, error) => change(id, (write) => ({ ...write, state: "failed", error })),
    retry: (id, more) => change(id, (write) => ({ ...write, ...more, state: "pending", error: null })),
    remove: (id) => {
      if (writesById.delete(id)) onChange();
    },
    save: () => JSON.stringify([...writesById.values()]),
  };
};

/** A storage may hold anything; what is no queue is an empty one. */
const parseSaved = (saved: string): Write[] => {
  try {
    const writes: unknown = JSON.parse(saved);
    return Array.isArray(writes) ? writes.filter(isWrite) : [];
  } catch {
    return [];
  }
};

const isWrite = (value: unknown): value is Write =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  "items" in value &&
  Array.isArray(value.items);
