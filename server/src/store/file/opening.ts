/**
 * Opens a directory in the order that loses nothing (DISK.md), and wires what then runs: read the
 * journal, redo it, look over the files, settle the epoch, note what was found, and only then remove the
 * old segments and begin a new one.
 */
import type { Epoch, Runtime, SessionId } from "@espalier/shared";
import { type Catalogue, createCatalogue } from "../catalogue.js";
import { type CatalogueFile, createCatalogueFile, foldOf, type Note } from "./catalogue-file.js";
import type { Disk } from "./disk.js";
import { mayHaveLost, readGeneration, writeGeneration } from "./generation.js";
import { createJournal, type Journal } from "./journal.js";
import { CONTROL_DIR } from "./names.js";
import { readJournal, redo } from "./recovery.js";
import { findSegments, JOURNAL_VERSION, segmentPath } from "./segment.js";
import type { SessionLog } from "./session-log.js";
import { survey } from "./survey.js";
import { createWriteBehind, type WriteBehind } from "./write-behind.js";

export type OpenDirectory = {
  readonly epoch: Epoch;
  readonly journal: Journal;
  readonly writeBehind: WriteBehind;
  readonly catalogue: Catalogue;
  readonly logsById: Map<SessionId, SessionLog>;
  /** Leaves the directory as one that was closed: everything in the files, and no segment. */
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

  const { segments, paths, lastNumber } = await readJournal(disk, control);
  const errorsById = await redo(disk, dir, segments);
  const catalogueFile = createCatalogueFile(disk, control);
  const { found, hasTornFile, isNews } = await survey(disk, dir, await catalogueFile.read(), errorsById);

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
  if (isNews) await notes.writeAll();
  await removeSegments(disk, control, paths);

  const writeBehind = createWriteBehind({
    disk,
    dir,
    runtime: options.runtime,
    delayMs: options.writeBehindMs,
    onNoted: notes.write,
    onTrouble,
  });
  let ended: Promise<void> = Promise.resolve();
  const journal = await createJournal({
    disk,
    runtime: options.runtime,
    control,
    header: { kind: "journal", version: JOURNAL_VERSION, boot, epoch },
    firstNumber: lastNumber + 1,
    segmentBytes: options.segmentBytes,
    onSynced: (log, end) => {
      log.synced = end;
      writeBehind.touch(log);
    },
    mayRotate: () => !writeBehind.isBehind,
    onFull: (path) => void writeBehind.retire(path),
    // What was seen may be lost although the machine goes on: the next start must not take it for whole.
    onSyncFailed: () => {
      ended = writeGeneration(disk, control, options.newEpoch()).catch(onTrouble);
    },
  });

  const finish = async (): Promise<void> => {
    await journal.drain();
    writeBehind.stop();
    await journal.close();
    await ended;
    if (journal.fault !== null) return;
    try {
      await writeBehind.settle();
      await notes.writeAll();
      const left = await findSegments(disk, control);
      await removeSegments(
        disk,
        control,
        left.map((number) => segmentPath(control, number)),
      );
    } catch (error) {
      // The journal still holds what the files lack.
      onTrouble(error as Error);
    }
  };

  return { epoch, journal, writeBehind, catalogue, logsById, finish };
};

/** Oldest first, each made sure of before the next: no gap may come to be among them. */
const removeSegments = async (disk: Disk, control: string, paths: readonly string[]): Promise<void> => {
  for (const path of paths) {
    await disk.remove(path);
    await disk.syncDir(control);
  }
};

const createNotes = (
  file: CatalogueFile,
  catalogue: Catalogue,
  logsById: ReadonlyMap<SessionId, SessionLog>,
) => {
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
    write: (logs: readonly SessionLog[]): Promise<void> => file.add(logs.map(noteOf), all),
    writeAll: (): Promise<void> => file.replace(all()),
  };
};
