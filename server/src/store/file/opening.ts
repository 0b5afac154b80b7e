/**
 * Opens a directory in the order that loses nothing (DISK.md), and wires what then runs: read the
 * journal, redo it, finish what was being erased or removed, look over the files, settle the epoch, note
 * what was found, and only then end the old segments, forget what was being erased, and begin a new one.
 * A session whose file is at fault fails alone.
 */
import type { Epoch, ErrorBody, Runtime, SessionId } from "@espalier/shared";
import { type Catalogue, createCatalogue } from "../catalogue.js";
import { type CatalogueFile, createCatalogueFile, foldOf, type Note } from "./catalogue-file.js";
import { createDeletedFile, type DeletedLine, removeFiles } from "./deletion.js";
import { type Disk, removeNew } from "./disk.js";
import { finishErasures } from "./erasure.js";
import { mayHaveLost, readGeneration, writeGeneration } from "./generation.js";
import { createIntents, type Intents } from "./intents.js";
import { createJournal, type Journal } from "./journal.js";
import { endOf, endSegment, type IsLacking, readKept } from "./kept-segments.js";
import type { LineFile } from "./line-file.js";
import { CONTROL_DIR, findSessions } from "./names.js";
import { readJournal, redo } from "./recovery.js";
import { findKept, findSegments, JOURNAL_VERSION, keptPath, type Segment, segmentPath } from "./segment.js";
import { markFailed, type SessionLog } from "./session-log.js";
import { survey } from "./survey.js";
import { createWriteBehind, type WriteBehind } from "./write-behind.js";

export type OpenDirectory = {
  readonly epoch: Epoch;
  readonly journal: Journal;
  readonly writeBehind: WriteBehind;
  readonly catalogue: Catalogue;
  readonly logsById: Map<SessionId, SessionLog>;
  readonly notes: Notes;
  readonly intents: Intents;
  readonly deletedFile: LineFile<DeletedLine>;
  /** Ids that are not used again. */
  readonly deleted: Set<SessionId>;
  /** A log cannot be read or written any more; lines of it that are not in its file stay in segments. */
  fail(log: SessionLog, error: ErrorBody): void;
  /** Leaves the directory as one that was closed: everything in the files, and no segment of the journal. */
  finish(): Promise<void>;
};

type OpeningOptions = {
  readonly disk: Disk;
  readonly dir: string;
  readonly newEpoch: () => Epoch;
  readonly boot: string | null;
  readonly runtime: Pick<Runtime, "setTimer" | "defer">;
  readonly segmentBytes: number;
  readonly writeBehindMs: number;
  readonly onTrouble: (error: Error) => void;
};

export const openDirectory = async (options: OpeningOptions): Promise<OpenDirectory> => {
  const { disk, dir, boot, onTrouble } = options;
  const control = `${dir}/${CONTROL_DIR}`;
  await disk.makeDir(control);
  await disk.syncDir(dir);
  await removeNew(disk, control);
  const deletedFile = createDeletedFile(disk, control);
  const deleted = new Set((await deletedFile.read()).flatMap(({ ids }) => ids));
  const intents = createIntents(disk, control);
  const begun = await intents.read();

  const { segments, paths, lastNumber } = await readJournal(disk, control);
  const catalogueFile = createCatalogueFile(disk, control);
  const notesById = await catalogueFile.read();
  const isGone = [...notesById.keys()].filter((id) => deleted.has(id) && notesById.delete(id)).length > 0;
  const keptNumbers = await findKept(disk, control);
  const keptPaths = keptNumbers.map((number) => keptPath(segmentPath(control, number)));
  const kept = await readKept(disk, keptPaths, notesById);
  const errorsById = await redo(disk, dir, [...kept, ...segments].map(withoutDeleted(deleted)));
  const waiting = await finishErasures(
    disk,
    dir,
    intents,
    begun.filter(({ id }) => !deleted.has(id)),
    (id) => errorsById.has(id),
    onTrouble,
  );
  const names = await findSessions(disk, dir);
  await removeFiles(disk, dir, new Set(names.filter((id) => deleted.has(id))));
  const { found, hasTornFile, isNews } = await survey(
    disk,
    dir,
    names.filter((id) => !deleted.has(id)),
    notesById,
    errorsById,
  );

  const held = await readGeneration(disk, control);
  const epoch = held === null || mayHaveLost(segments, boot, hasTornFile) ? options.newEpoch() : held;
  if (epoch !== held) await writeGeneration(disk, control, epoch);

  const logsById = new Map<SessionId, SessionLog>();
  const catalogue = createCatalogue();
  for (const { log, entry } of found) {
    logsById.set(log.id, log);
    catalogue.put(entry);
  }
  const notes = createNotes(catalogueFile, catalogue, logsById);
  if (isNews || isGone) await notes.writeAll();
  const isNotRedone: IsLacking | null = errorsById.size === 0 ? null : ({ id }) => errorsById.has(id);
  for (const path of [...keptPaths, ...paths]) await endSegment(disk, control, path, isNotRedone);
  for (const intent of begun) if (!waiting.includes(intent)) await intents.end(intent);

  let hasFailed = false;
  const fail = (log: SessionLog, error: ErrorBody): void => {
    hasFailed = true;
    markFailed(log, error);
    const entry = catalogue.get(log.id);
    if (entry !== undefined) entry.error = error;
  };
  const isLacking: IsLacking = (chunk) => {
    const log = logsById.get(chunk.id);
    return log !== undefined && log.error !== null && endOf(chunk) > log.noted;
  };
  const end = (path: string): Promise<void> => endSegment(disk, control, path, hasFailed ? isLacking : null);

  const writeBehind = createWriteBehind({
    disk,
    dir,
    runtime: options.runtime,
    delayMs: options.writeBehindMs,
    onNoted: notes.write,
    onFailed: (log, error) => {
      fail(log, error);
      onTrouble(new Error(error.message));
    },
    end,
    isThere: () => journal.isThere(),
    onTrouble,
  });
  let ended: Promise<void> = Promise.resolve();
  const journal: Journal = await createJournal({
    disk,
    runtime: options.runtime,
    control,
    header: { kind: "journal", version: JOURNAL_VERSION, boot, epoch },
    firstNumber: Math.max(lastNumber, keptNumbers.at(-1) ?? 0) + 1,
    segmentBytes: options.segmentBytes,
    onSynced: (log, end) => {
      log.synced = end;
      writeBehind.touch(log);
    },
    mayRotate: () => !writeBehind.isBehind,
    onFull: (path) => void writeBehind.retire(path),
    onStopped: (fault, isLost) => {
      onTrouble(new Error(fault.message));
      // What has the directory's name by now is not this one's.
      if (isLost) return;
      // What was seen may be lost although the machine goes on: the next start must not take it for whole.
      ended = writeGeneration(disk, control, options.newEpoch()).catch(onTrouble);
    },
  });

  const finish = async (): Promise<void> => {
    await journal.drain();
    writeBehind.stop();
    await journal.isThere();
    await journal.close();
    await ended;
    if (journal.fault !== null) return;
    try {
      await writeBehind.settle();
      await notes.writeAll();
      for (const number of await findSegments(disk, control)) await end(segmentPath(control, number));
    } catch (error) {
      // The journal still holds what the files lack.
      onTrouble(error as Error);
    }
  };

  return {
    epoch,
    journal,
    writeBehind,
    catalogue,
    logsById,
    notes,
    intents,
    deletedFile,
    deleted,
    fail,
    finish,
  };
};

const withoutDeleted =
  (deleted: ReadonlySet<SessionId>) =>
  (segment: Segment): Segment => ({
    ...segment,
    chunks: segment.chunks.filter(({ id }) => !deleted.has(id)),
  });

export type Notes = {
  /** Of those logs that are held. */
  write(logs: readonly SessionLog[]): Promise<void>;
  writeAll(): Promise<void>;
};

const createNotes = (
  file: CatalogueFile,
  catalogue: Catalogue,
  logsById: ReadonlyMap<SessionId, SessionLog>,
): Notes => {
  const noteOf = (log: SessionLog): Note => {
    const entry = catalogue.get(log.id);
    const isSettled = log.error === null && log.noted === log.end && entry !== undefined;
    return isSettled
      ? { id: log.id, length: log.noted, fold: foldOf(log, entry) }
      : { id: log.id, length: log.noted };
  };
  function* all(): Generator<Note> {
    for (const log of logsById.values()) if (log.noted > 0) yield noteOf(log);
  }
  return {
    write: (logs) => file.add(logs.filter((log) => logsById.get(log.id) === log).map(noteOf), all),
    writeAll: () => file.replace(all()),
  };
};
