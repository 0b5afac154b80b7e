/**
 * What is known of every session without its log: the summary for lists, what is unfinished, and who
 * shares with whom. A fold of headers and records, so any store can keep one (and one that caches it must
 * check it against the log).
 */
import {
  ARCHIVED,
  type EntryId,
  type ErrorBody,
  isRunEnded,
  isSidechain,
  type LogRecord,
  type Register,
  type RunId,
  rootOf,
  type SessionId,
  type SessionSummary,
  TITLE,
} from "@espalier/shared";
import { cannotOpen, originFault } from "../origin-fault.js";
import type { ListAsk, LogHeader, SessionPage } from "./log-store.js";

export type CatalogueEntry = {
  readonly id: SessionId;
  header: LogHeader;
  title: string | null;
  isArchived: boolean;
  changedAt: number;
  /** Its own; a reset takes nothing from them, for they are still there. */
  entries: number;
  readonly streaming: Set<EntryId>;
  readonly requested: Set<RunId>;
  readonly active: Set<RunId>;
  error: ErrorBody | null;
};

export type Catalogue = {
  get(id: SessionId): CatalogueEntry | undefined;
  /** Folds records that were appended to the log of a session that is held. */
  apply(id: SessionId, records: readonly LogRecord[]): void;
  /** Takes an entry in, in the place of what is held of that session. */
  put(entry: CatalogueEntry): void;
  remove(id: SessionId): void;
  summary(id: SessionId): SessionSummary | null;
  list(ask: ListAsk): SessionPage;
  sharing(id: SessionId): SessionId[];
  unfinished(): SessionId[];
};

export const emptyCatalogueEntry = (id: SessionId, header: LogHeader): CatalogueEntry => ({
  id,
  header,
  title: null,
  isArchived: false,
  changedAt: header.createdAt,
  entries: 0,
  streaming: new Set(),
  requested: new Set(),
  active: new Set(),
  error: null,
});

export const foldIntoCatalogue = (entry: CatalogueEntry, record: LogRecord): void => {
  entry.changedAt = Math.max(entry.changedAt, record.time);
  switch (record.kind) {
    case "entry":
      if (record.seq > (entry.header.inherited ?? 0)) entry.entries += 1;
      if (record.status === "streaming") entry.streaming.add(record.id);
      break;
    case "append":
      if (record.status !== undefined) entry.streaming.delete(record.id);
      break;
    case "erase":
      entry.streaming.delete(record.id);
      break;
    case "run":
      entry.requested.delete(record.id);
      entry.active.delete(record.id);
      if (record.status === "requested") entry.requested.add(record.id);
      else if (!isRunEnded(record.status)) entry.active.add(record.id);
      break;
    case "register":
      foldRegister(entry, record);
      break;
  }
};

const foldRegister = (entry: CatalogueEntry, { key, value }: Register): void => {
  if (key === TITLE) entry.title = typeof value === "string" ? value : null;
  else if (key === ARCHIVED) entry.isArchived = value !== null && value !== false;
};

const byNewestChange = (a: CatalogueEntry, b: CatalogueEntry): number =>
  b.changedAt - a.changedAt || (a.id < b.id ? -1 : 1);

/** The session that a sidechain lies under, or null for what is none. */
const groupOf = (id: SessionId): SessionId | null => (isSidechain(id) ? rootOf(id) : null);

export const createCatalogue = (): Catalogue => {
  const entriesById = new Map<SessionId, CatalogueEntry>();
  const sidechains = createGroups();
  const sharers = createGroups();

  const remove = (id: SessionId): void => {
    const held = entriesById.get(id);
    if (held === undefined) return;
    entriesById.delete(id);
    sidechains.remove(groupOf(id), id);
    sharers.remove(sharedWith(held), id);
  };

  /** Why the session that it shares with, or one further up, cannot be read (F4). */
  const errorAbove = (entry: CatalogueEntry): ErrorBody | null => {
    const seen = new Set<SessionId>([entry.id]);
    for (let above = sharedWith(entry); above !== null; ) {
      const origin = entriesById.get(above);
      if (origin === undefined) return sharesWithNone(entry.id, above, "that is not there");
      if (origin.error !== null) return sharesWithNone(entry.id, above, origin.error.message);
      if (seen.has(above)) return sharesWithNone(entry.id, above, "that leads back to itself");
      seen.add(above);
      above = sharedWith(origin);
    }
    return null;
  };

  const summaryOf = (entry: CatalogueEntry): SessionSummary => {
    const { header } = entry;
    const error = entry.error ?? errorAbove(entry);
    const count = sidechains.of(entry.id).size;
    return {
      id: entry.id,
      title: entry.title,
      createdAt: header.createdAt,
      changedAt: entry.changedAt,
      entries: entry.entries,
      ...(header.origin === undefined ? {} : { origin: header.origin }),
      ...(entry.isArchived ? { isArchived: true } : {}),
      ...(count === 0 ? {} : { sidechains: count }),
      waiting: entry.requested.size,
      ...(error === null ? {} : { error }),
    };
  };

  const among = (root: SessionId | undefined): CatalogueEntry[] =>
    root === undefined
      ? [...entriesById.values()].filter(({ id }) => !isSidechain(id))
      : [...sidechains.of(root)].flatMap((id) => entriesById.get(id) ?? []);

  const isAsked = (entry: CatalogueEntry, { archived, isListed }: ListAsk): boolean =>
    (archived === true || !entry.isArchived) && (isListed?.(entry.id) ?? true);

  return {
    get: (id) => entriesById.get(id),
    apply: (id, records) => {
      const entry = entriesById.get(id);
      if (entry !== undefined) for (const record of records) foldIntoCatalogue(entry, record);
    },
    put: (entry) => {
      remove(entry.id);
      entriesById.set(entry.id, entry);
      sidechains.add(groupOf(entry.id), entry.id);
      sharers.add(sharedWith(entry), entry.id);
    },
    remove,
    summary: (id) => {
      const entry = entriesById.get(id);
      return entry === undefined ? null : summaryOf(entry);
    },
    list: (ask) => {
      const sorted = among(ask.of)
        .filter((entry) => isAsked(entry, ask))
        .sort(byNewestChange);
      const last = ask.after === undefined ? undefined : entriesById.get(ask.after);
      const rest = last === undefined ? sorted : sorted.filter((entry) => byNewestChange(last, entry) < 0);
      const page = rest.slice(0, ask.limit);
      return { sessions: page.map(summaryOf), more: page.length < rest.length };
    },
    sharing: (id) => [...sharers.of(id)],
    unfinished: () =>
      [...entriesById.values()]
        .filter((entry) => entry.streaming.size > 0 || entry.active.size > 0)
        .map((entry) => entry.id),
  };
};

const sharedWith = ({ header: { origin } }: CatalogueEntry): SessionId | null =>
  origin?.isShared === true ? origin.session : null;

const sharesWithNone = (id: SessionId, above: SessionId, why: string): ErrorBody =>
  originFault(
    "damaged",
    cannotOpen(id),
    above,
    `unable to open ${id}; it shares its beginning with ${above}: ${why}`,
  );

type Groups = {
  of(key: SessionId): ReadonlySet<SessionId>;
  add(key: SessionId | null, id: SessionId): void;
  remove(key: SessionId | null, id: SessionId): void;
};

const NONE: ReadonlySet<SessionId> = new Set();

const createGroups = (): Groups => {
  const idsByKey = new Map<SessionId, Set<SessionId>>();
  return {
    of: (key) => idsByKey.get(key) ?? NONE,
    add: (key, id) => {
      if (key === null) return;
      const held = idsByKey.get(key);
      if (held === undefined) idsByKey.set(key, new Set([id]));
      else held.add(id);
    },
    remove: (key, id) => {
      const held = key === null ? undefined : idsByKey.get(key);
      held?.delete(id);
      if (held?.size === 0) idsByKey.delete(key as SessionId);
    },
  };
};
