/**
 * What is held in memory of one session's log: how far it has come on its way to its file, and the
 * lines that are not there yet. Only the functions here change it.
 *
 *     filed ≤ synced ≤ end ≤ staged     (lengths in bytes; `chunks` are the lines from filed to end)
 *
 * staged: accepted, in a frame that is being gathered or written. end: in the journal, so it may be
 * shown. synced: on disk in the journal, so it may be acknowledged. filed: in the session's own file.
 */
import type { Epoch, ErrorBody, SessionId } from "@espalier/shared";
import { atLeastInherited } from "../heads.js";
import type { LogPlace } from "./lines.js";

/** Lines that stand at `at` in the frame that they were written with. */
type WaitingLines = {
  readonly offset: number;
  readonly length: number;
  readonly frame: Buffer;
  readonly at: number;
};

export type SessionLog = {
  readonly id: SessionId;
  readonly path: string;
  epoch: Epoch;
  stagedHead: number;
  staged: number;
  head: number;
  end: number;
  lines: number;
  synced: number;
  filed: number;
  /** How far a write to the file that failed may have come. */
  tried: number;
  /** How much of the file itself is known to be on disk. */
  noted: number;
  chunks: WaitingLines[];
  /** Resolves when everything up to `end` is synced. */
  durable: Promise<void>;
  /** Why it cannot be opened; nothing of it is written any more. */
  error: ErrorBody | null;
};

export const headAt = ({ header, head }: LogPlace): number => atLeastInherited(header, head);

const DONE = Promise.resolve();

/** A log all of whose lines, up to the place, are on disk in its file. */
export const createSessionLog = (id: SessionId, path: string, place: LogPlace): SessionLog => ({
  id,
  path,
  epoch: place.epoch,
  stagedHead: headAt(place),
  staged: place.length,
  head: headAt(place),
  end: place.length,
  lines: place.lines,
  synced: place.length,
  filed: place.length,
  tried: place.length,
  noted: place.length,
  chunks: [],
  durable: DONE,
  error: null,
});

export type Staged = {
  readonly log: SessionLog;
  readonly id: SessionId;
  readonly offset: number;
  length: number;
  text: string;
  lines: number;
  head: number;
};

/** Takes whole lines in, behind what was staged before and in the same frame, where there is such. */
export const stageLines = (
  log: SessionLog,
  before: Staged | undefined,
  text: string,
  lines: number,
  head: number,
): Staged => {
  const length = Buffer.byteLength(text);
  const offset = log.staged;
  log.staged += length;
  log.stagedHead = head;
  if (before === undefined) return { log, id: log.id, offset, length, text, lines, head };
  before.length += length;
  before.text += text;
  before.lines += lines;
  before.head = head;
  return before;
};

export const markWritten = (staged: Staged, frame: Buffer, at: number, durable: Promise<void>): void => {
  const { log, offset, length } = staged;
  if (log.error === null) log.chunks.push({ offset, length, frame, at });
  log.end += length;
  log.head = staged.head;
  log.lines += staged.lines;
  log.durable = durable;
};

/** Nothing of it is read or written any more; what its file lacks is in the journal. */
export const markFailed = (log: SessionLog, error: ErrorBody): void => {
  log.error = error;
  log.chunks = [];
};

/** Another file took the place of the log's, with all of its lines and some before them. */
export const markReplaced = (log: SessionLog, length: number, lines: number): void => {
  for (const key of ["staged", "end", "synced", "filed", "tried"] as const) log[key] = length;
  log.noted = length;
  log.lines = lines;
};

/** Nothing that was staged came to be. */
export const dropStaged = (log: SessionLog): void => {
  log.staged = log.end;
  log.stagedHead = log.head;
};

/** What was read counts, not what the catalogue's file said of it; as far as nothing came since. */
export const believeFile = (log: SessionLog, place: LogPlace): void => {
  if (place.length !== log.end || log.staged !== log.end) return;
  log.epoch = place.epoch;
  log.head = headAt(place);
  log.stagedHead = log.head;
  log.lines = place.lines;
};

export const markFiled = (log: SessionLog, filed: number): void => {
  log.filed = filed;
  let done = 0;
  for (const { offset } of log.chunks) {
    if (offset >= filed) break;
    done += 1;
  }
  log.chunks.splice(0, done);
};

/** What waits in the journal below `to`, after what is in the file. Chunks are filed whole, so none is cut. */
export const unfiledBytes = (log: SessionLog, to: number): Buffer => {
  const bytes = Buffer.allocUnsafe(to - log.filed);
  for (const { offset, length, frame, at } of log.chunks) {
    if (offset < to) frame.copy(bytes, offset - log.filed, at, at + length);
  }
  return bytes;
};
