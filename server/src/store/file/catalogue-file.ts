/**
 * What was known of every session when its file was last synced: `catalogue.jsonl`, one line a session,
 * of which the last counts. A cache, and never believed against the log: `fold` holds only for a file of
 * exactly `length` bytes or its continuation. The length alone says something that the log cannot: a
 * file that is shorter now has lost what was safely in it.
 */
import { type EntryId, isSessionId, type RunId, type SessionId } from "@espalier/shared";
import { type CatalogueEntry, emptyCatalogueEntry } from "../catalogue.js";
import { type Disk, readWhole, replaceFile, withFile } from "./disk.js";
import type { LogPlace } from "./lines.js";

export type Note = {
  readonly id: SessionId;
  readonly length: number;
  /** Absent where the log was ahead of its file when the line was written. */
  readonly fold?: LogFold;
};

export type LogFold = Omit<LogPlace, "length"> & {
  readonly title: string | null;
  readonly isArchived: boolean;
  readonly changedAt: number;
  readonly entries: number;
  readonly streaming: readonly EntryId[];
  readonly requested: readonly RunId[];
  readonly active: readonly RunId[];
};

type Reached = Pick<LogPlace, "epoch" | "head" | "lines">;

export const foldOf = ({ epoch, head, lines }: Reached, entry: CatalogueEntry): LogFold => ({
  header: entry.header,
  epoch,
  head,
  lines,
  title: entry.title,
  isArchived: entry.isArchived,
  changedAt: entry.changedAt,
  entries: entry.entries,
  streaming: [...entry.streaming],
  requested: [...entry.requested],
  active: [...entry.active],
});

export const foldToEntry = (id: SessionId, fold: LogFold): CatalogueEntry => ({
  ...emptyCatalogueEntry(id, fold.header),
  title: fold.title,
  isArchived: fold.isArchived,
  changedAt: fold.changedAt,
  entries: fold.entries,
  streaming: new Set(fold.streaming),
  requested: new Set(fold.requested),
  active: new Set(fold.active),
});

export type CatalogueFile = {
  read(): Promise<Map<SessionId, Note>>;
  /** Puts these lines in the place of all. */
  replace(notes: Iterable<Note>): Promise<void>;
  /** Adds lines; when there are as many again as the file began with, replaces it by `all`. */
  add(notes: readonly Note[], all: () => Iterable<Note>): Promise<void>;
};

const NAME = "catalogue.jsonl";
const VERSION = 1;
const HEADER = `${JSON.stringify({ kind: "catalogue", version: VERSION })}\n`;
const MIN_GROWTH_BYTES = 1024 * 1024;
const PART_CHARS = 256 * 1024;

export const createCatalogueFile = (disk: Disk, control: string): CatalogueFile => {
  const path = `${control}/${NAME}`;
  let baseBytes = 0;
  let bytes = 0;

  const replace = async (notes: Iterable<Note>): Promise<void> => {
    baseBytes = await replaceFile(disk, control, NAME, parts(notes));
    bytes = baseBytes;
  };

  const read = async (): Promise<Map<SessionId, Note>> => {
    const notesById = new Map<SessionId, Note>();
    const content = (await readWhole(disk, path)) ?? Buffer.alloc(0);
    const [header, ...lines] = content.toString().split("\n");
    if (`${header}\n` !== HEADER) return notesById;
    baseBytes = content.length;
    bytes = content.length;
    for (const line of lines) {
      const note = toNote(line);
      if (note !== null) notesById.set(note.id, note);
    }
    return notesById;
  };

  const add = async (notes: readonly Note[], all: () => Iterable<Note>): Promise<void> => {
    const added = Buffer.from(notes.map(toLine).join(""));
    if (bytes === 0 || bytes + added.length > 2 * baseBytes + MIN_GROWTH_BYTES) return replace(all());
    await withFile(disk, path, "write", async (file) => {
      await file.write(added, bytes);
      await file.sync();
    });
    bytes += added.length;
  };

  return { read, replace, add };
};

const toLine = (note: Note): string => `${JSON.stringify(note)}\n`;

/** Null for a line that was cut off or overwritten: the session is then read again. */
const toNote = (line: string): Note | null => {
  try {
    const note = JSON.parse(line) as Partial<Note>;
    if (!isSessionId(note.id) || !Number.isSafeInteger(note.length)) return null;
    // One of an earlier version says less than is asked of it now; its length still holds.
    return note.fold?.header === undefined ? { id: note.id, length: note.length as number } : (note as Note);
  } catch {
    return null;
  }
};

function* parts(notes: Iterable<Note>): Generator<string> {
  let part = HEADER;
  for (const note of notes) {
    part += toLine(note);
    if (part.length < PART_CHARS) continue;
    yield part;
    part = "";
  }
  yield part;
}
