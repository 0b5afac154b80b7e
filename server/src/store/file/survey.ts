/**
 * What a directory holds when it is opened, after the journal was redone onto it. A file that is as long
 * as the catalogue's file says is not read; one that grew is read from there on; any other as a whole, and
 * so is one where that finds no line, or a fault: then it did not grow at its end.
 * The one change made to a file here: a last line that was never finished is dropped, and one that only
 * lacks its `\n` is given it.
 */
import { type ErrorBody, refusal, type SessionId } from "@espalier/shared";
import { type CatalogueEntry, emptyCatalogueEntry, foldIntoCatalogue } from "../catalogue.js";
import { foldToEntry, type Note } from "./catalogue-file.js";
import { type Disk, type DiskFile, eachOf, withFile } from "./disk.js";
import { IGNORANT, LOG_START, type LogPlace, type LogScan, type LogVisitor, scanLog } from "./lines.js";
import { sessionPath } from "./names.js";
import { cutFile, endsLine, syncSessionDirs } from "./recovery.js";
import { createSessionLog, type SessionLog } from "./session-log.js";

export type Surveyed = { readonly log: SessionLog; readonly entry: CatalogueEntry };

export type Survey = {
  readonly found: readonly Surveyed[];
  /** An unfinished line was dropped, which a whole journal would have finished. */
  readonly hasTornFile: boolean;
  /** The catalogue's file is behind. */
  readonly isNews: boolean;
};

const WIDTH = 4;
const MAX_HEADER_BYTES = 4096;

export const survey = async (
  disk: Disk,
  dir: string,
  names: readonly SessionId[],
  notesById: ReadonlyMap<SessionId, Note>,
  errorsById: ReadonlyMap<SessionId, ErrorBody>,
): Promise<Survey> => {
  const found: Surveyed[] = [];
  let hasTornFile = false;
  const ids = new Set([...names, ...notesById.keys(), ...errorsById.keys()]);

  const read = new Set<SessionId>();

  const surveyOne = async (id: SessionId): Promise<Surveyed | null> => {
    const path = sessionPath(dir, id);
    const note = notesById.get(id);
    const stat = await disk.stat(path).catch((error: Error) => error);
    const failed = (error: ErrorBody): Surveyed =>
      faulty(id, path, note, stat instanceof Error ? 0 : (stat?.changedAt ?? 0), error);
    const gap = errorsById.get(id);
    if (gap !== undefined) return failed(gap);
    if (stat instanceof Error) return failed(unreadable(id, stat));
    const size = stat?.size ?? 0;
    if (note !== undefined && size < note.length) return failed(cutFile(id, path, size, note.length));
    if (stat === null) return null;
    const place = placeOf(note);
    if (place.length > 0 && place.length === size)
      return { log: createSessionLog(id, path, place), entry: entryOf(id, note) };
    read.add(id);
    try {
      const { scan, entry } = await readGrown(disk, id, path, size, note);
      if (scan.type === "fault") return failed(scan.error);
      if (scan.torn > 0) hasTornFile = true;
      return scan.place.length === 0 ? null : { log: createSessionLog(id, path, scan.place), entry };
    } catch (error) {
      return failed(unreadable(id, error as Error));
    }
  };

  await eachOf(ids, WIDTH, async (id) => {
    const surveyed = await surveyOne(id);
    if (surveyed !== null) found.push(surveyed);
  });
  await syncSessionDirs(disk, dir, read);
  return { found, hasTornFile, isNews: read.size > 0 };
};

const placeOf = (note: Note | undefined): LogPlace => {
  if (note?.fold === undefined) return LOG_START;
  const { header, epoch, head, lines } = note.fold;
  return { header, epoch, head, lines, length: note.length };
};

const entryOf = (id: SessionId, note: Note | undefined): CatalogueEntry =>
  note?.fold === undefined ? emptyCatalogueEntry(id, LOG_START.header) : foldToEntry(id, note.fold);

type Read = { readonly scan: LogScan; readonly entry: CatalogueEntry };

/** From where the note ends, if it still holds; what is found from the start is believed in any case. */
const readGrown = async (
  disk: Disk,
  id: SessionId,
  path: string,
  size: number,
  note: Note | undefined,
): Promise<Read> => {
  const place = placeOf(note);
  if (place.length > 0) {
    const entry = entryOf(id, note);
    const scan = await readOn(disk, id, path, size, place, entry);
    if (scan !== null && scan.type === "ok") return { scan, entry };
  }
  const entry = emptyCatalogueEntry(id, LOG_START.header);
  return { scan: (await readOn(disk, id, path, size, LOG_START, entry)) as LogScan, entry };
};

/**
 * Folds what the file holds after a place, mends its end, and makes sure that it is on disk. Null where
 * no line begins at that place.
 */
const readOn = (
  disk: Disk,
  id: SessionId,
  path: string,
  size: number,
  from: LogPlace,
  entry: CatalogueEntry,
): Promise<LogScan | null> =>
  withFile(disk, path, "write", async (file) => {
    if (!(await endsLine(file, from.length))) return null;
    const header = from.length === 0 ? null : await scanHeader(id, path, file);
    if (header?.type === "fault") return header;
    const rest = await file.read(from.length, size - from.length);
    const scan = scanLog(id, path, rest, from, folding(entry));
    if (scan.type === "fault") return scan;
    if (scan.isWhole) {
      await file.write(Buffer.from("\n"), size);
      await file.sync();
      const finished = Buffer.concat([rest.subarray(scan.place.length - from.length), Buffer.from("\n")]);
      return scanLog(id, path, finished, scan.place, folding(entry));
    }
    if (scan.torn > 0) await file.truncate(scan.place.length);
    await file.sync();
    return scan;
  });

/** A file that a newer program went on with must be found out before its end is touched. */
const scanHeader = async (id: SessionId, path: string, file: DiskFile): Promise<LogScan> => {
  const start = await file.read(0, MAX_HEADER_BYTES);
  return scanLog(id, path, start.subarray(0, start.indexOf("\n") + 1), LOG_START, IGNORANT);
};

const folding = (entry: CatalogueEntry): LogVisitor => ({
  header: (header) => {
    entry.header = header;
    entry.changedAt = header.createdAt;
  },
  record: (record) => foldIntoCatalogue(entry, record),
});

const faulty = (
  id: SessionId,
  path: string,
  note: Note | undefined,
  changedAt: number,
  error: ErrorBody,
): Surveyed => {
  const log = createSessionLog(id, path, { ...LOG_START, length: note?.length ?? 0 });
  log.error = error;
  return {
    log,
    entry: { ...emptyCatalogueEntry(id, note?.fold?.header ?? LOG_START.header), changedAt, error },
  };
};

/** A session that cannot be read just now, for a reason that is not in its file. */
export const unreadable = (id: SessionId, error: Error): ErrorBody =>
  refusal("unavailable", `unable to read ${id}; ${error.message}`);
