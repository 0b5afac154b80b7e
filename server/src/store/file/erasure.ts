/**
 * Takes an erased entry's content off the disk (L2). Each of its lines is overwritten in place by one of
 * the same length, so that no offset moves: the entry by what stays of it, an append by itself without
 * its deltas, with spaces up to the line's end. In this order:
 *
 * 1. What is meant goes to `erasures.jsonl`, synced. A start that finds it, and the erase's record in the
 *    log, finishes; one that does not find the record forgets it.
 * 2. The record goes through the journal like any other; from then on readers see a tombstone.
 * 3. The journal is purged: no segment holds the content, so none can bring it back.
 * 4. The lines that will stand there go to `erasures.jsonl`, synced. They hold nothing of the content.
 * 5. They are written into the session's file, and synced. A start that finds them writes them again, so a
 *    line that was torn here is mended before anybody reads it.
 * 6. What was meant is forgotten.
 */
import { type Entry, type Erase, type LogRecord, refusal, type SessionId } from "@espalier/shared";
import { withErasures } from "../erasing.js";
import type { AppendOutcome } from "../log-store.js";
import { type Disk, type DiskFile, withFile } from "./disk.js";
import type { Gates } from "./gates.js";
import type { Intent, Intents, NewLine } from "./intents.js";
import { findLines } from "./line-search.js";
import { sessionPath } from "./names.js";
import type { Purge } from "./purge.js";
import type { SessionLog } from "./session-log.js";

type ErasureOptions = {
  readonly disk: Disk;
  readonly intents: Intents;
  readonly gates: Gates;
  readonly purge: Purge;
  readonly append: (record: Erase) => Promise<AppendOutcome>;
  /** Waits before something is tried again; false where that is of no use before the next start. */
  readonly pause: () => Promise<boolean>;
  /** Its file may have a torn line, until the next start. */
  readonly fail: (log: SessionLog, error: Error) => void;
  /** False where it was removed meanwhile. */
  readonly isHeld: (log: SessionLog) => boolean;
  readonly onTrouble: (error: Error) => void;
};

/** Erases an entry of a log, whose head the record rises above. */
export const eraseEntryOf = async (
  log: SessionLog,
  record: Erase,
  options: ErasureOptions,
): Promise<AppendOutcome> => {
  const { intents } = options;
  let intent: Intent;
  try {
    intent = await intents.begin(log.id, record);
  } catch (error) {
    const reason = `unable to erase; what is meant could not be noted (${(error as Error).message})`;
    return { type: "refused", error: refusal("unavailable", reason) };
  }
  const outcome = await options.append(record);
  if (outcome.type === "unknown") return outcome;
  // One that is not forgotten here is at the next start, which does not find its record.
  if (outcome.type !== "ok")
    return intents.end(intent).then(
      () => outcome,
      () => outcome,
    );
  const durable = outcome.durable.then(() => finish(log, intent, options));
  // Whoever waits hears of a failure; that nobody waits is no fault.
  durable.catch(() => {});
  return { type: "ok", durable };
};

const finish = async (log: SessionLog, intent: Intent, options: ErasureOptions): Promise<void> => {
  const { disk, intents } = options;
  await purged(options);
  await options.gates.alone(log.id, async () => {
    if (options.isHeld(log)) {
      if (log.error !== null) throw new Error(log.error.message);
      const lines = (await newLinesFor(disk, log.path, log.filed, intent)) ?? [];
      if (lines.length > 0) {
        await intents.settle(intent, lines);
        await overwrite(disk, log.path, lines).catch((error: Error) => {
          options.fail(log, error);
          throw error;
        });
      }
    }
    await intents.end(intent);
  });
};

/** A disk that takes nothing now may take it later; until then the erase is not done. */
const purged = async ({ purge, pause, onTrouble }: ErasureOptions): Promise<void> => {
  for (;;) {
    const error = await purge().then(
      () => null,
      (cause: Error) => cause,
    );
    if (error === null) return;
    if (!(await pause())) throw error;
    onTrouble(error);
  }
};

/**
 * Finishes what was begun before, after the journal was redone: as long as that can be redone again, so may
 * this. Gives those that have to wait for another start, for their files are at fault.
 */
export const finishErasures = async (
  disk: Disk,
  dir: string,
  intents: Intents,
  found: readonly Intent[],
  isAtFault: (id: SessionId) => boolean,
  onTrouble: (error: Error) => void,
): Promise<readonly Intent[]> => {
  const left: Intent[] = [];
  for (const intent of found) {
    try {
      if (isAtFault(intent.id)) left.push(intent);
      else await finishFound(disk, sessionPath(dir, intent.id), intents, intent);
    } catch (error) {
      left.push(intent);
      onTrouble(error as Error);
    }
  }
  return left;
};

const finishFound = async (disk: Disk, path: string, intents: Intents, intent: Intent): Promise<void> => {
  const size = (await disk.stat(path))?.size ?? 0;
  if (size === 0) return;
  const isWritten = intent.lines !== undefined && (await isOverwritten(disk, path, intent.lines));
  if (isWritten) return;
  const lines = (await newLinesFor(disk, path, size, intent)) ?? [];
  if (lines.length === 0) return;
  await intents.settle(intent, lines);
  await overwrite(disk, path, lines);
};

/** False where the lines are not where they were, for somebody changed the file since. */
const isOverwritten = (disk: Disk, path: string, lines: readonly NewLine[]): Promise<boolean> =>
  overwrite(disk, path, lines).then(
    () => true,
    (error) => {
      if (error instanceof MovedError) return false;
      throw error;
    },
  );

/** What is to be written, where the log has the erase's record in the first `length` bytes of its file; null where not. */
const newLinesFor = (
  disk: Disk,
  path: string,
  length: number,
  { entry, seq }: Intent,
): Promise<readonly NewLine[] | null> =>
  withFile(disk, path, "read", async (file) => {
    const places: { record: LogRecord; offset: number; length: number }[] = [];
    for await (const { offset, length: bytes, text } of findLines(file, 0, length, `"${entry}"`)) {
      const record = JSON.parse(text) as LogRecord;
      if ("id" in record && record.id === entry) places.push({ record, offset, length: bytes });
    }
    const records = places.map(({ record }) => record);
    if (!records.some((record) => record.kind === "erase" && record.seq === seq)) return null;
    const erased = withErasures(records);
    return places.flatMap(({ record, offset, length: bytes }, index): NewLine[] => {
      const after = erased[index] as LogRecord;
      if (after === record || isBare(record)) return [];
      const stands = after.kind === "entry" ? strip(after, record as Entry) : after;
      return [[offset, bytes, fitting(stands, bytes, path)]];
    });
  });

const isBare = (record: LogRecord): boolean =>
  record.kind === "append" ? record.deltas.length === 0 : record.kind === "entry" && record.type === "erased";

/**
 * A tombstone without what the erase's own record says too, and with no more usage than the entry had when
 * it was published: so it is never longer than the entry was, not even one of no words. What is
 * left out is put back whenever the log is read.
 */
const strip = (tombstone: Entry, { rev, usage }: Entry): object => {
  const { erasedAt: _at, erasedBy: _by, usage: _usage, ...rest } = tombstone as Entry & { type: "erased" };
  return { ...rest, rev, ...(usage === undefined ? {} : { usage }) };
};

const fitting = (record: object, length: number, path: string): string => {
  const text = JSON.stringify(record);
  if (Buffer.byteLength(text) <= length) return text;
  throw new Error(
    `unable to erase in ${path}; a line of ${length} bytes is too short for what is to stand there`,
  );
};

class MovedError extends Error {}

/**
 * Overwrites lines that are still where they were.
 *
 * @throws MovedError where one is not: then somebody else changed the file, and nothing is written
 */
const overwrite = (disk: Disk, path: string, lines: readonly NewLine[]): Promise<void> =>
  withFile(disk, path, "write", async (file) => {
    for (const line of lines)
      if (!(await isLine(file, line))) throw new MovedError(`${path} was changed by another program`);
    for (const [offset, length, text] of lines) {
      const bytes = Buffer.alloc(length, " ");
      bytes.write(text);
      await file.write(bytes, offset);
    }
    await file.sync();
  });

const NEWLINE = 0x0a;

const isLine = async (file: DiskFile, [offset, length]: NewLine): Promise<boolean> => {
  const from = Math.max(offset - 1, 0);
  const bytes = await file.read(from, offset + length + 1 - from);
  const isWhole = bytes.length === offset + length + 1 - from && bytes.at(-1) === NEWLINE;
  return isWhole && bytes.indexOf(NEWLINE) === 0 && bytes.indexOf(NEWLINE, 1) === bytes.length - 1;
};
