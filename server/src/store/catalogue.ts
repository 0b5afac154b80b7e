/**
 * What is known of every session without its log: the summary for lists, and what is unfinished.
 * A fold of records, so any store can keep one (and one that caches it must check it against the log).
 */
import {
  type EntryId,
  type ErrorBody,
  isRunEnded,
  type LogRecord,
  type RunId,
  type SessionId,
  type SessionSummary,
} from "@espalier/shared";
import type { SessionPage } from "./log-store.js";

export type CatalogueEntry = {
  readonly id: SessionId;
  title: string | null;
  createdAt: number;
  changedAt: number;
  entries: number;
  readonly streaming: Set<EntryId>;
  readonly requested: Set<RunId>;
  readonly active: Set<RunId>;
  error: ErrorBody | null;
};

export type Catalogue = {
  get(id: SessionId): CatalogueEntry | undefined;
  /** Folds records that were appended to a session's log. */
  apply(id: SessionId, records: readonly LogRecord[]): void;
  put(entry: CatalogueEntry): void;
  remove(id: SessionId): void;
  all(): IterableIterator<CatalogueEntry>;
  summary(id: SessionId): SessionSummary | null;
  list(page: { limit: number; after?: SessionId | undefined }): SessionPage;
  unfinished(): SessionId[];
};

export const emptyCatalogueEntry = (id: SessionId): CatalogueEntry => ({
  id,
  title: null,
  createdAt: 0,
  changedAt: 0,
  entries: 0,
  streaming: new Set(),
  requested: new Set(),
  active: new Set(),
  error: null,
});

export const foldIntoCatalogue = (entry: CatalogueEntry, record: LogRecord): void => {
  if (entry.createdAt === 0) entry.createdAt = record.time;
  entry.changedAt = Math.max(entry.changedAt, record.time);
  switch (record.kind) {
    case "entry":
      entry.entries += 1;
      if (record.status === "streaming") entry.streaming.add(record.id);
      break;
    case "append":
      if (record.status !== undefined) entry.streaming.delete(record.id);
      break;
    case "run":
      entry.requested.delete(record.id);
      entry.active.delete(record.id);
      if (record.status === "requested") entry.requested.add(record.id);
      else if (!isRunEnded(record.status)) entry.active.add(record.id);
      break;
    case "register":
      if (record.key === "title") entry.title = typeof record.value === "string" ? record.value : null;
      break;
  }
};

const summaryOf = (entry: CatalogueEntry): SessionSummary => ({
  id: entry.id,
  title: entry.title,
  createdAt: entry.createdAt,
  changedAt: entry.changedAt,
  entries: entry.entries,
  waiting: entry.requested.size,
  ...(entry.error === null ? {} : { error: entry.error }),
});

const byNewestChange = (a: CatalogueEntry, b: CatalogueEntry): number =>
  b.changedAt - a.changedAt || (a.id < b.id ? -1 : 1);

export const createCatalogue = (): Catalogue => {
  const entriesById = new Map<SessionId, CatalogueEntry>();

  const ofId = (id: SessionId): CatalogueEntry => {
    const held = entriesById.get(id);
    if (held !== undefined) return held;
    const entry = emptyCatalogueEntry(id);
    entriesById.set(id, entry);
    return entry;
  };

  return {
    get: (id) => entriesById.get(id),
    apply: (id, records) => {
      const entry = ofId(id);
      for (const record of records) foldIntoCatalogue(entry, record);
    },
    put: (entry) => void entriesById.set(entry.id, entry),
    remove: (id) => void entriesById.delete(id),
    all: () => entriesById.values(),
    summary: (id) => {
      const entry = entriesById.get(id);
      return entry === undefined ? null : summaryOf(entry);
    },
    list: ({ limit, after }) => {
      const sorted = [...entriesById.values()].sort(byNewestChange);
      const last = after === undefined ? undefined : entriesById.get(after);
      const from = last === undefined ? 0 : sorted.indexOf(last) + 1;
      const page = sorted.slice(from, from + limit);
      return { sessions: page.map(summaryOf), more: from + page.length < sorted.length };
    },
    unfinished: () =>
      [...entriesById.values()]
        .filter((entry) => entry.streaming.size > 0 || entry.active.size > 0)
        .map((entry) => entry.id),
  };
};
