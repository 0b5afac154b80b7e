/**
 * What every importer makes of a foreign file before anything is repaired or ordered: a neutral list
 * of entries under the source's own ids and pointers. Formats differ up to here; `repair`, `forest`
 * and `records` are shared by all of them.
 */
import type { Draft, LogRecord, SessionId } from "@espalier/shared";

type OmitFromEach<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
/** What an entry says, as a draft without an id. */
export type ForeignContent = OmitFromEach<Draft, "id" | "runId">;

export type ForeignEntry = {
  readonly sourceId: string;
  /** The source's pointer as it stands; it may dangle or close a ring. */
  readonly parentId: string | null;
  /** How reports name the entry: `message ID` or `line N`. */
  readonly where: string;
  /** The source's record, to tell an identical repeat from a conflict. */
  readonly body: unknown;
  /** The place among its alternatives where the source tells one; those without come after. */
  readonly rank?: number;
  /** In ms; null where the source has none. */
  readonly time: number | null;
  /** Null for a record that says nothing: it makes no entry, and its children move up. */
  readonly content: ForeignContent | null;
};

/** Takes a line about something odd: nothing is dropped or changed in silence. */
export type Report = (line: string) => void;

export type ImportSummary = {
  readonly id: SessionId;
  readonly title: string | null;
  readonly entries: number;
  readonly roots: readonly string[];
  readonly branchPoints: readonly { readonly parent: string | null; readonly children: readonly string[] }[];
  /** From the root to the entry that the source showed last. */
  readonly activeLine: readonly string[];
  readonly reports: readonly string[];
};

export type ImportedSession = {
  /** The source's id where it fits the grammar, so that a second import can be noticed. */
  readonly id: SessionId;
  readonly sourceId: string | null;
  readonly title: string | null;
  /** ms */
  readonly createdAt: number;
  /** In order of seq, from 1 on, without gaps: a whole log. */
  readonly records: readonly LogRecord[];
  readonly summary: ImportSummary;
};

export type ImportResult = {
  readonly format: string;
  /** What was read, relative to the folder of the file that was named. */
  readonly files: readonly string[];
  readonly sessions: readonly ImportedSession[];
  /** About the file as a whole; what concerns one session is in its summary. */
  readonly reports: readonly string[];
};
