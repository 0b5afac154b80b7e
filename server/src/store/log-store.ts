/**
 * The contract of every store: logs of records, one a session, appended to and read back. A store is
 * dumb: it compares heads (N1) and keeps bytes; what may be written is decided elsewhere.
 */
import type {
  Entry,
  EntryId,
  Epoch,
  Erase,
  ErrorBody,
  LogRecord,
  Origin,
  SessionId,
  SessionSummary,
} from "@espalier/shared";

/** What a log says of itself before its first record; it is given once and stays (F7). */
export type LogHeader = {
  /** ms */
  readonly createdAt: number;
  readonly origin?: Origin;
  /** Entries up to this seq are taken over from the origin: they are in the log, or where it is shared in the origin's. */
  readonly inherited?: number;
  /** What a fork was asked for, which may have been cut further up: so its repeat is told from another (L4). */
  readonly asked?: { readonly entry: EntryId | null; readonly mode: "copy" | "share" };
};

export type StoredLog = {
  readonly header: LogHeader;
  /** The epoch in force; records of earlier ones are in the log too. */
  readonly epoch: Epoch;
  /** The highest seq, or what it must rise from where that is higher: the epoch's floor (D2), what is inherited (F2). */
  readonly head: number;
  /** Its own: what it shares with its origin is not among them. */
  readonly records: readonly LogRecord[];
};

export type LoadOutcome =
  | { readonly type: "ok"; readonly log: StoredLog }
  | { readonly type: "absent" }
  /** `deleted`, `damaged`, `newer_version`, `unavailable`. */
  | { readonly type: "refused"; readonly error: ErrorBody };

export type AppendOutcome =
  | {
      /** Written: it may be shown. It may be acknowledged when `durable` has resolved (D1). */
      readonly type: "ok";
      /** Rejects where the sync failed: nothing more of this session may be acknowledged (D4). */
      readonly durable: Promise<void>;
    }
  /** The log's head is another than was expected; nothing was written. */
  | { readonly type: "conflict" }
  /** Certainly not written. */
  | { readonly type: "refused"; readonly error: ErrorBody }
  /** It may or may not have been written: load before deciding again. */
  | { readonly type: "unknown"; readonly error: ErrorBody };

/** Done and on disk; there was something already (or nothing, for what needs it); or certainly not done. */
export type ChangeOutcome =
  | { readonly type: "ok" }
  | { readonly type: "conflict" }
  | { readonly type: "refused"; readonly error: ErrorBody };

export type ListAsk = {
  readonly limit: number;
  readonly after?: SessionId | undefined;
  /** Those that are archived as well. */
  readonly archived?: boolean | undefined;
  /** The sidechains of this session; without it, sessions that are no sidechains. */
  readonly of?: SessionId | undefined;
  /** Leaves out those for which it says no; asked once of each that is asked for otherwise. */
  readonly isListed?: ((id: SessionId) => boolean) | undefined;
};
export type SessionPage = { readonly sessions: readonly SessionSummary[]; readonly more: boolean };

export type LogStore = {
  /** What a session that is not stored yet begins with. */
  readonly epoch: Epoch;
  load(id: SessionId): Promise<LoadOutcome>;
  /**
   * Appends records whose seqs rise from above `expectedHead`, all or none. A session comes into
   * being with its first append, at head 0; `header` is taken then, and is not looked at otherwise. The
   * id of one that was deleted is refused.
   */
  append(
    id: SessionId,
    expectedHead: number,
    records: readonly LogRecord[],
    header?: LogHeader,
  ): Promise<AppendOutcome>;
  /**
   * Puts a whole log in place, all or nothing, however long it is: nothing of it is seen before it is on
   * disk. `conflict` where there is one. With no records, it is there all the same.
   */
  install(
    id: SessionId,
    header: LogHeader,
    records: Iterable<LogRecord> | AsyncIterable<LogRecord>,
  ): Promise<ChangeOutcome>;
  /**
   * Gives a log that shares its beginning those entries as records of its own, before all others: from then
   * on it needs its origin no more (F4). `conflict` where there is no such log, or it shares nothing.
   */
  makeWhole(id: SessionId, inherited: Iterable<Entry>): Promise<ChangeOutcome>;
  /**
   * Appends the record, and takes the entry's content out of every record before it: the entry stands as
   * its tombstone, its appends hold no deltas. When `durable` resolves it is gone from the disk as well (L2).
   */
  erase(id: SessionId, expectedHead: number, record: Erase): Promise<AppendOutcome>;
  /** Removes a log for good: its id is refused from then on. `conflict` where there is none. */
  remove(id: SessionId): Promise<ChangeOutcome>;
  /** Resolves when everything appended to the session so far is on disk. */
  synced(id: SessionId): Promise<void>;
  /** Sessions by their last change, the newest first; those after `after`, where it is given. */
  list(ask: ListAsk): Promise<SessionPage>;
  summary(id: SessionId): Promise<SessionSummary | null>;
  /** The sessions that share entries with this one: its children, not theirs (F2). */
  sharing(id: SessionId): Promise<readonly SessionId[]>;
  /** Sessions with a streaming entry or a run that has not ended, known without reading every log (S7). */
  unfinished(): Promise<readonly SessionId[]>;
  /** Writes behind what is pending and gives up the directory. Calling it twice is harmless. */
  close(): Promise<void>;
};
