/**
 * What every importer makes of a foreign file before anything is repaired or ordered: a neutral list
 * of entries under the source's own ids and pointers. Formats differ up to here; `repair`, `forest`
 * and `records` are shared by all of them.
 *
 * An entry's place is known from the first pass over a file, and so small that all of them fit in memory;
 * its content is read when its record is written, one after the other. So a file may be larger than memory.
 */
import type { Draft, Entry, LogRecord, Origin, PrincipalId, Role, SessionId } from "@espalier/shared";

type OmitFromEach<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
/** What an entry says, as a draft without an id. Entries that it names, it names by their source ids. */
export type ForeignContent = OmitFromEach<Draft, "id" | "runId">;

/** What an entry is, as far as its place and its author ask for it. */
export type ForeignKind = { readonly type: Entry["type"]; readonly role?: Role };

export type ForeignEntry = {
  readonly sourceId: string;
  /** The source's pointer as it stands; it may dangle or close a ring. */
  readonly parentId: string | null;
  /** How reports name the entry: `message ID` or `line N`. */
  readonly where: string;
  /** The source's record, or a digest of it, to tell an identical repeat from a conflict. */
  readonly body: unknown;
  /** The place among its alternatives where the source tells one; those without come after. */
  readonly rank?: number;
  /** In ms; null where the source has none. */
  readonly time: number | null;
  /** Null for a record that says nothing: it makes no entry, and its children move up. */
  readonly kind: ForeignKind | null;
  /** Asked once, when the record is written; never where `kind` is null. */
  content(): ForeignContent | Promise<ForeignContent>;
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
  /** Of a sidechain, and of a fork that names what it was forked from. */
  readonly origin?: Origin;
  /** Entries up to this seq were taken over from the origin (F1); for the log's header. */
  readonly inherited?: number;
  /** In order of seq, rising from 1: a whole log. Read once. */
  records(): AsyncIterable<LogRecord>;
  /** Complete when all records were read: some oddities are seen only then. */
  summary(): ImportSummary;
};

/** One import: sessions as they are found, one at a time; a session is read before the next is asked for. */
export type Importing = {
  readonly format: string;
  readonly sessions: AsyncIterable<ImportedSession>;
  /** What was read so far, relative to the folder of the file that was named. */
  readonly files: readonly string[];
  /** Read besides, for what they say of those files; likewise relative. */
  readonly asides?: readonly string[];
  /** About the file as a whole, so far; what concerns one session is in its summary. */
  readonly reports: readonly string[];
};

/** What every importer is given beside its source. */
export type ImportOptions = {
  /** Makes an id that was never used before, for what has none that fits. */
  readonly newId: () => string;
  /** ms; the time of a conversation that has none at all. */
  readonly now: () => number;
  /** Who imports: the author of the user's messages. */
  readonly principal?: PrincipalId;
};

/** A file that is read more than once and never whole. */
export type SourceFile = {
  /** As it is named in reports: relative to the folder of the file that was named. */
  readonly name: string;
  /** As faults name it, for whoever must find it; its name where absent. */
  readonly path?: string;
  readonly size: number;
  /** From a byte on, up to another, in pieces of some size. */
  read(from?: number, to?: number): AsyncIterable<Uint8Array>;
};

/** Where an import reads from; handed in, so that importers know no disk. */
export type Source = {
  /** The file that was named. */
  readonly file: SourceFile;
  /** A file beside it, by a relative name; null where there is none. */
  beside(name: string): Promise<SourceFile | null>;
  /** The names in a folder beside it, sorted; empty where there is none. */
  list(folder: string): Promise<readonly string[]>;
};
