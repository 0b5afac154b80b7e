/**
 * Logs on disk: one readable file a session, behind one journal for all (D1–D3). This file takes the
 * directory and answers the store's operations; how lines travel is in `journal` and `write-behind`, how
 * a directory is opened in `opening`.
 */
import {
  type Epoch,
  type ErrorBody,
  EspalierError,
  isSessionId,
  type LogRecord,
  type Runtime,
  refusal,
  type SessionId,
} from "@espalier/shared";
import { emptyCatalogueEntry } from "../catalogue.js";
import { atLeastInherited, headAfter, startOf } from "../heads.js";
import type { AppendOutcome, LoadOutcome, LogHeader, LogStore } from "../log-store.js";
import { deletedError } from "./deletion.js";
import { createNodeDisk, type Disk } from "./disk.js";
import { createGates } from "./gates.js";
import { readBootId } from "./generation.js";
import { epochLine, headerLine, LOG_START, recordLines } from "./lines.js";
import { type Lock, takeLock } from "./lock.js";
import { readLog } from "./log-reader.js";
import { CONTROL_DIR, sessionPath } from "./names.js";
import { openDirectory } from "./opening.js";
import { explained } from "./refusing-disk.js";
import { createRewriting } from "./rewriting.js";
import { believeFile, createSessionLog, headAt, type SessionLog } from "./session-log.js";
import { unreadable } from "./survey.js";

export type StoreRuntime = Pick<Runtime, "now" | "setTimer" | "defer">;

export type FileStoreOptions = {
  readonly dir: string;
  readonly newEpoch: () => Epoch;
  readonly runtime: StoreRuntime;
  /** Tells this boot of the machine from others; null where that is not known. */
  readonly bootId?: string | null;
  /** A segment of the journal is full at this size. */
  readonly segmentBytes?: number;
  /** How long synced lines wait before they are written to the session's own file. */
  readonly writeBehindMs?: number;
  /** What went wrong behind the scenes; nothing is lost by it yet. */
  readonly onTrouble?: (error: Error) => void;
};

/** Recovers in half a second. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Rarer than once a second makes the journal's syncs slower; more often is work for nothing. */
const WRITE_BEHIND_MS = 500;
/** A seq that was given and lost is less than this above what was kept (D2). */
const FLOOR_STEP = 1_000_000_000;

export type FileStore = LogStore & {
  /** The name of the lock that it has the directory by. */
  readonly lock: string;
};

/**
 * Opens a directory, and makes it where there is none.
 *
 * @throws EspalierError `locked` where another process has it, `damaged` or `newer_version` where the
 *   journal cannot be read, `unavailable` where the disk is full or may not be written; what is wrong with
 *   one session's file is told when that is loaded
 * @example const store = await createFileStore({ dir: "./data", newEpoch, runtime })
 */
export const createFileStore = async (options: FileStoreOptions): Promise<FileStore> => {
  const { dir } = options;
  const disk = createNodeDisk();
  const control = `${dir}/${CONTROL_DIR}`;
  let lock: Lock | null = null;
  try {
    await disk.makeDir(control);
    lock = await takeLock(dir, control, options.runtime);
    return { ...(await openFileStore(disk, options, lock.release)), lock: lock.name };
  } catch (error) {
    await lock?.release();
    throw explained(dir, error);
  }
};

/** The store on any disk, for a caller that holds the directory; `release` is called when it is closed. */
export const openFileStore = async (
  disk: Disk,
  options: FileStoreOptions,
  release: () => Promise<void>,
): Promise<LogStore> => {
  const { dir, runtime } = options;
  const onTrouble = options.onTrouble ?? (() => {});
  const directory = await openDirectory({
    disk,
    dir,
    newEpoch: options.newEpoch,
    boot: options.bootId === undefined ? await readBootId() : options.bootId,
    runtime,
    segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
    writeBehindMs: options.writeBehindMs ?? WRITE_BEHIND_MS,
    onTrouble,
  });
  const { epoch, journal, writeBehind, catalogue, logsById, deleted, fail, finish } = directory;
  const gates = createGates();
  const beginningsByLog = new Map<SessionLog, Promise<ErrorBody | null>>();
  let closing: Promise<void> | null = null;

  const faultNow = (): ErrorBody | null => {
    if (closing !== null) return refusal("unavailable", "unable to use the store; it is closed");
    return journal.fault;
  };

  const load = async (id: SessionId): Promise<LoadOutcome> => {
    const log = logsById.get(id);
    const fault = faultNow() ?? deletedOf(id) ?? log?.error ?? null;
    if (fault !== null) return { type: "refused", error: fault };
    if (log === undefined || log.end === 0) return { type: "absent" };
    const read = await readLog(disk, log).catch(
      (error: Error) => ({ type: "fault", error: unreadable(id, error) }) as const,
    );
    if (read.type === "fault") return refuseLog(log, read.error);
    if (!beginningsByLog.has(log)) believeFile(log, read.place);
    const refused = log.epoch === epoch ? null : await beginEpoch(log);
    if (refused !== null) return { type: "refused", error: refused };
    const { place, records } = read;
    const { header } = place;
    if (place.epoch === epoch) return { type: "ok", log: { header, epoch, head: headAt(place), records } };
    // The epoch's own line came after what was read; where others came too, they must be read.
    if (log.lines > place.lines + 1) return load(id);
    return { type: "ok", log: { header, epoch, head: log.head, records } };
  };

  const refuseLog = (log: SessionLog, error: ErrorBody): LoadOutcome => {
    if (error.code !== "unavailable") fail(log, error);
    return { type: "refused", error };
  };

  /** Nothing of a log is shown in a new epoch before the line that begins it is on disk (D2). */
  const beginEpoch = (log: SessionLog): Promise<ErrorBody | null> => {
    const held = beginningsByLog.get(log) ?? writeEpoch(log).finally(() => beginningsByLog.delete(log));
    beginningsByLog.set(log, held);
    return held;
  };

  const writeEpoch = async (log: SessionLog): Promise<ErrorBody | null> => {
    const fault = faultNow();
    if (fault !== null) return fault;
    const floor = log.head + FLOOR_STEP;
    const outcome = await new Promise<AppendOutcome>((resolve) =>
      journal.put(log, epochLine(epoch, floor), 1, floor, resolve),
    );
    if (outcome.type === "conflict") return null;
    if (outcome.type !== "ok") return outcome.error;
    try {
      await outcome.durable;
    } catch {
      return journal.fault;
    }
    log.epoch = epoch;
    return null;
  };

  const deletedOf = (id: SessionId): ErrorBody | null => (deleted.has(id) ? deletedError(id) : null);

  /** What comes while the log is rewritten waits, in its order. */
  const append: LogStore["append"] = (id, expectedHead, records, header) => {
    const opening = gates.opening(id);
    if (opening !== null) return opening.then(() => append(id, expectedHead, records, header));
    return appendNow(id, expectedHead, records, header ?? { createdAt: records[0]?.time ?? 0 });
  };

  const appendNow = (
    id: SessionId,
    expectedHead: number,
    records: readonly LogRecord[],
    header: LogHeader,
  ): Promise<AppendOutcome> =>
    new Promise((resolve) => {
      const held = logsById.get(id);
      const fault = faultNow() ?? deletedOf(id) ?? held?.error ?? backlog();
      if (fault !== null) return resolve({ type: "refused", error: fault });
      const log = held ?? newLog(checked(id), header);
      // Whoever has not loaded the log in this epoch cannot know its head.
      const isConflict = log.epoch !== epoch || log.stagedHead !== expectedHead || rewriting.isComing(id);
      if (isConflict) return resolve({ type: "conflict" });
      if (records.length === 0) return resolve({ type: "ok", durable: log.durable });
      const last = headAfter(expectedHead, records);
      const isNew = log.staged === 0;
      const head = isNew ? atLeastInherited(header, last) : last;
      const text = isNew ? headerLine(id, epoch, header) + recordLines(records) : recordLines(records);
      if (held === undefined) logsById.set(id, log);
      journal.put(log, text, records.length + (isNew ? 1 : 0), head, (outcome) => {
        // It may have been removed meanwhile.
        const isHeld = logsById.get(id) === log;
        if (isHeld && outcome.type === "ok" && isNew) catalogue.put(emptyCatalogueEntry(id, header));
        if (isHeld && outcome.type === "ok") catalogue.apply(id, records);
        if (isHeld && outcome.type !== "ok" && log.staged === 0) logsById.delete(id);
        resolve(outcome);
      });
    });

  const newLog = (id: SessionId, header: LogHeader): SessionLog =>
    createSessionLog(id, sessionPath(dir, id), { ...LOG_START, epoch, head: startOf(header) });

  const backlog = (): ErrorBody | null =>
    writeBehind.isFailing && writeBehind.isBehind
      ? refusal("unavailable", "unable to write; the sessions' files do not take what is in the journal")
      : null;

  const rewriting = createRewriting({
    disk,
    dir,
    runtime,
    directory,
    gates,
    append,
    faultNow,
    onTrouble,
  });

  return {
    epoch,
    load: async (id) => gates.shared(checked(id), () => load(id)),
    append,
    install: async (id, header, records) => rewriting.install(checked(id), header, records),
    makeWhole: async (id, inherited) => rewriting.makeWhole(checked(id), inherited),
    erase: async (id, expectedHead, record) => rewriting.erase(checked(id), expectedHead, record),
    remove: async (id) => rewriting.remove(checked(id)),
    synced: async (id) => {
      await Promise.all([logsById.get(id)?.durable, rewriting.erased(id)]);
    },
    list: async (ask) => catalogue.list(ask),
    summary: async (id) => catalogue.summary(id),
    sharing: async (id) => catalogue.sharing(id),
    unfinished: async () => catalogue.unfinished(),
    close: () => {
      closing ??= rewriting.ended().then(finish).finally(release);
      return closing;
    },
  };
};

const checked = (id: SessionId): SessionId => {
  if (isSessionId(id)) return id;
  throw new EspalierError("invalid_id", `unable to use ${JSON.stringify(id)} as a session; it is not an id`);
};
