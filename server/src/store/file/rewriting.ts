/**
 * The operations that rewrite files, or put them in place or away: each says in its own file in which order
 * it writes. Here is who may do which when: one at a time for a session, while others go on.
 */
import {
  type Entry,
  type ErrorBody,
  type LogRecord,
  type Runtime,
  refusal,
  type SessionId,
} from "@espalier/shared";
import { headAfter } from "../heads.js";
import type { AppendOutcome, ChangeOutcome, LogHeader, LogStore } from "../log-store.js";
import { createDeletion, deletedError } from "./deletion.js";
import type { Disk } from "./disk.js";
import { eraseEntryOf } from "./erasure.js";
import type { Gates } from "./gates.js";
import { installLog, refusedBy } from "./install.js";
import type { OpenDirectory } from "./opening.js";
import { createPlaces } from "./placing.js";
import { createPurge } from "./purge.js";
import { markFailed, type SessionLog } from "./session-log.js";
import { makeLogWhole } from "./whole.js";

export type Rewriting = Pick<LogStore, "install" | "makeWhole" | "erase" | "remove"> & {
  /** A log is being put in place under this id. */
  isComing(id: SessionId): boolean;
  /** Resolves when what was erased in the session so far is gone from the disk. */
  erased(id: SessionId): Promise<void>;
  /** Resolves when all that was begun has ended. */
  ended(): Promise<void>;
};

type RewritingOptions = {
  readonly disk: Disk;
  readonly dir: string;
  readonly runtime: Pick<Runtime, "now" | "defer" | "setTimer">;
  readonly directory: OpenDirectory;
  readonly gates: Gates;
  readonly append: LogStore["append"];
  /** Why nothing may be written now. */
  readonly faultNow: () => ErrorBody | null;
  readonly onTrouble: (error: Error) => void;
};

const RETRY_MS = 500;
const CONFLICT = { type: "conflict" } as const;

export const createRewriting = (options: RewritingOptions): Rewriting => {
  const { disk, dir, directory, gates, faultNow, onTrouble } = options;
  const { epoch, journal, writeBehind, catalogue, logsById, deleted, notes } = directory;
  const places = createPlaces(disk, dir);
  const purge = createPurge(journal, writeBehind);
  const coming = new Set<SessionId>();
  const running = new Set<Promise<void>>();
  const cutShort = new Set<() => void>();
  const erasuresById = new Map<SessionId, Promise<void>>();

  const forget = (id: SessionId): void => {
    const log = logsById.get(id);
    deleted.add(id);
    if (log !== undefined) markFailed(log, deletedError(id));
    logsById.delete(id);
    catalogue.remove(id);
  };

  const removeLog = createDeletion({
    disk,
    dir,
    runtime: options.runtime,
    file: directory.deletedFile,
    faultBefore: () => faultBefore(),
    purge,
    writeBehind,
    forget,
    noteAll: notes.writeAll,
    onTrouble,
  });

  const failUntilStart = (log: SessionLog, { message }: Error): void =>
    directory.fail(log, refusal("unavailable", `unable to use ${log.id} before the next start; ${message}`));

  const during = <T>(work: Promise<T>): Promise<T> => {
    const done: Promise<void> = work.then(ignore, ignore).then(() => void running.delete(done));
    running.add(done);
    return work;
  };

  /** Beside a journal that is gone nothing is written. */
  const faultBefore = async (): Promise<ErrorBody | null> => {
    const fault = faultNow();
    if (fault !== null) return fault;
    await journal.isThere();
    return faultNow();
  };

  const install = async (
    id: SessionId,
    header: LogHeader,
    records: Iterable<LogRecord> | AsyncIterable<LogRecord>,
  ): Promise<ChangeOutcome> => {
    if (deleted.has(id)) return { type: "refused", error: deletedError(id) };
    if (logsById.has(id) || coming.has(id)) return CONFLICT;
    coming.add(id);
    try {
      const fault = await faultBefore();
      if (fault !== null) return { type: "refused", error: fault };
      // What is in doubt there may be of this session.
      if (journal.isTorn) await purge();
      return await installLog(id, header, records, {
        disk,
        dir,
        epoch,
        places,
        writeBehind,
        faultNow,
        onPlaced: (log, entry) => {
          logsById.set(id, log);
          catalogue.put(entry);
          // A note saves reading the file at the next start; nobody needs to wait for it.
          during(writeBehind.between(() => notes.write([log]))).catch(onTrouble);
        },
      });
    } catch (error) {
      return refusedBy(id, "install", error);
    } finally {
      coming.delete(id);
    }
  };

  const makeWhole = async (id: SessionId, inherited: Iterable<Entry>): Promise<ChangeOutcome> => {
    const fault = await faultBefore();
    if (fault !== null) return { type: "refused", error: fault };
    const log = logsById.get(id);
    const entry = catalogue.get(id);
    if (log === undefined || entry?.header.origin?.isShared !== true) return CONFLICT;
    if (log.error !== null) return { type: "refused", error: log.error };
    try {
      await makeLogWhole(log, inherited, {
        disk,
        places,
        purge,
        writeBehind,
        note: (noted) => notes.write([noted]),
        onReplaced: (header) => catalogue.put({ ...entry, header }),
        fail: failUntilStart,
        onTrouble,
      });
      return { type: "ok" };
    } catch (error) {
      return refusedBy(id, "make whole", error);
    }
  };

  const remove = async (id: SessionId): Promise<ChangeOutcome> => {
    const fault = faultNow();
    if (fault !== null) return { type: "refused", error: fault };
    return logsById.has(id) ? removeLog(id) : CONFLICT;
  };

  const erase: LogStore["erase"] = async (id, expectedHead, record): Promise<AppendOutcome> => {
    headAfter(expectedHead, [record]);
    const fault = await faultBefore();
    // Behind the appends that wait for the same.
    for (let wait = gates.opening(id); wait !== null; wait = gates.opening(id)) await wait;
    const log = logsById.get(id);
    const error = fault ?? log?.error ?? (deleted.has(id) ? deletedError(id) : null);
    if (error !== null) return { type: "refused", error };
    if (log === undefined || log.epoch !== epoch || log.stagedHead !== expectedHead) return CONFLICT;
    const outcome = await eraseEntryOf(log, record, {
      disk,
      intents: directory.intents,
      gates,
      purge,
      append: (erased) => options.append(id, expectedHead, [erased]),
      pause,
      fail: failUntilStart,
      isHeld: (held) => logsById.get(id) === held,
      onTrouble,
    });
    if (outcome.type === "ok") keepErasure(id, outcome.durable);
    return outcome;
  };

  /** One that failed stays: nothing of the session is acknowledged as if it were done. */
  const keepErasure = (id: SessionId, durable: Promise<void>): void => {
    const all = Promise.all([erasuresById.get(id), durable]).then(ignore);
    erasuresById.set(id, all);
    during(all).then(() => {
      if (erasuresById.get(id) === all) erasuresById.delete(id);
    }, ignore);
  };

  /** Cut short by a close. */
  const pause = async (): Promise<boolean> => {
    if (faultNow() === null && !writeBehind.isStuck) {
      await new Promise<void>((resolve) => {
        const goOn = (): void => {
          cancel();
          cutShort.delete(goOn);
          resolve();
        };
        const cancel = options.runtime.setTimer(RETRY_MS, goOn);
        cutShort.add(goOn);
      });
    }
    return faultNow() === null && !writeBehind.isStuck;
  };

  return {
    install: (id, header, records) => during(install(id, header, records)),
    makeWhole: (id, inherited) => during(gates.alone(id, () => makeWhole(id, inherited))),
    erase: (id, expectedHead, record) => during(erase(id, expectedHead, record)),
    remove: (id) => during(gates.alone(id, () => remove(id))),
    isComing: (id) => coming.has(id),
    erased: async (id) => erasuresById.get(id),
    ended: async () => {
      for (const cut of cutShort) cut();
      while (running.size > 0) await Promise.all(running);
    },
  };
};

const ignore = (): void => {};
