/**
 * The contract of every store: logs of records, one a session, appended to and read back. A store is
 * dumb: it compares heads (N1) and keeps bytes; what may be written is decided elsewhere.
 */
import type { Epoch, ErrorBody, LogRecord, SessionId, SessionSummary } from "@espalier/shared";

export type StoredLog = {
  /** The epoch in force; records of earlier ones are in the log too. */
  readonly epoch: Epoch;
  /** The highest seq, or the floor of the epoch where that is higher (D2). */
  readonly head: number;
  readonly records: readonly LogRecord[];
};

export type LoadOutcome =
  | { readonly type: "ok"; readonly log: StoredLog }
  | { readonly type: "absent" }
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

export type SessionPage = { readonly sessions: readonly SessionSummary[]; readonly more: boolean };

export type LogStore = {
  /** What a session that is not stored yet begins with. */
  readonly epoch: Epoch;
  load(id: SessionId): Promise<LoadOutcome>;
  /**
   * Appends records whose seqs rise from above `expectedHead`, all or none. A session comes into
   * being with its first append, at head 0.
   */
  append(id: SessionId, expectedHead: number, records: readonly LogRecord[]): Promise<AppendOutcome>;
  /** Resolves when everything appended to the session so far is on disk. */
  synced(id: SessionId): Promise<void>;
  /** Sessions by their last change, the newest first; those after `after`, where it is given. */
  list(page: { limit: number; after?: SessionId | undefined }): Promise<SessionPage>;
  summary(id: SessionId): Promise<SessionSummary | null>;
  /** Sessions with a streaming entry or a run that has not ended, known without reading every log (S7). */
  unfinished(): Promise<readonly SessionId[]>;
  /** Writes behind what is pending and gives up the directory. Calling it twice is harmless. */
  close(): Promise<void>;
};
