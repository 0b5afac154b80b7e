/**
 * Gives a log that shares its beginning those entries as lines of its own (F4). All of its lines move, so:
 *
 * 1. The journal is purged while nothing is appended to it: no segment holds lines of it by their old
 *    offsets.
 * 2. What is noted of its length is taken back, synced: the new file may be of any length.
 * 3. The new file, with its own lines byte for byte, takes the old one's place (see `placing`): after a crash
 *    the log is there as it was, or whole.
 * 4. What is held of it here is changed, and noted.
 */
import type { Entry, Erase, LogRecord } from "@espalier/shared";
import { eraseAmong, isErase } from "../erasing.js";
import { inheritedCheck, withoutShare } from "../heads.js";
import type { LogHeader } from "../log-store.js";
import { type Disk, type DiskFile, withFile } from "./disk.js";
import { findLines } from "./line-search.js";
import { headerLine, IGNORANT, LOG_START, recordLines, scanLog } from "./lines.js";
import { inPieces, type Places } from "./placing.js";
import type { Purge } from "./purge.js";
import { changedFile } from "./refusing-disk.js";
import { markReplaced, type SessionLog } from "./session-log.js";
import type { WriteBehind } from "./write-behind.js";

type WholeOptions = {
  readonly disk: Disk;
  readonly places: Places;
  readonly purge: Purge;
  readonly writeBehind: Pick<WriteBehind, "between">;
  readonly note: (log: SessionLog) => Promise<void>;
  /** The log has this header now. */
  readonly onReplaced: (header: LogHeader) => void;
  /** It cannot be used until the next start. */
  readonly fail: (log: SessionLog, error: Error) => void;
  readonly onTrouble: (error: Error) => void;
};

const PIECE_BYTES = 1024 * 1024;

/** Makes a log whole that nobody else reads or writes meanwhile. */
export const makeLogWhole = async (
  log: SessionLog,
  inherited: Iterable<Entry>,
  options: WholeOptions,
): Promise<void> => {
  const { disk, places } = options;
  await options.purge();
  if (log.error !== null) throw new Error(log.error.message);
  const old = await readStart(disk, log);
  const header = withoutShare(old.header);
  let added = 0;

  async function* entries(erases: readonly Erase[]): AsyncGenerator<string> {
    for (const entry of eraseAmong(inheritedCheck(old.header, inherited), erases)) {
      added += 1;
      yield recordLines([entry]);
    }
  }

  async function* pieces(file: DiskFile): AsyncGenerator<string | Buffer> {
    yield headerLine(log.id, old.epoch, header);
    yield* inPieces(entries(await erasesIn(file, old.length, log.filed)));
    for (let at = old.length; at < log.filed; at += PIECE_BYTES)
      yield await file.read(at, Math.min(PIECE_BYTES, log.filed - at));
  }

  const waiting = await withFile(disk, log.path, "read", (file) => places.write(pieces(file)));
  const { noted } = log;
  await options.writeBehind.between(async () => {
    try {
      log.noted = 0;
      await options.note(log);
    } catch (error) {
      log.noted = noted;
      await places.drop(waiting);
      throw error;
    }
    await places.place(waiting, log.id).catch((error: Error) => {
      // Nobody knows which file is there.
      options.fail(log, error);
      throw error;
    });
    markReplaced(log, waiting.length, log.lines + added);
    options.onReplaced(header);
    await options.note(log).catch(options.onTrouble);
  });
};

/** The header, in the file as it was left. */
const readStart = async (disk: Disk, log: SessionLog) => {
  const { id, path, filed } = log;
  const size = (await disk.stat(path))?.size ?? null;
  if (size !== filed) throw new Error(changedFile(id, path, size, filed).message);
  for (let length = 4096; ; length *= 2) {
    const bytes = await withFile(disk, path, "read", (file) => file.read(0, Math.min(length, filed)));
    const end = bytes.indexOf("\n") + 1;
    if (end === 0 && length < filed) continue;
    const scan = scanLog(id, path, bytes.subarray(0, end), LOG_START, IGNORANT);
    if (scan.type === "fault") throw new Error(scan.error.message);
    return scan.place;
  }
};

const erasesIn = async (file: DiskFile, from: number, length: number): Promise<readonly Erase[]> => {
  const records: LogRecord[] = [];
  for await (const { text } of findLines(file, from, length, '"erase"')) records.push(JSON.parse(text));
  return records.filter(isErase);
};
