/**
 * Brings synced lines from the journal to the sessions' own files, some time later; and when a segment
 * is full, makes everything in it safe in those files and ends it. One piece of work at a time, so
 * segments go oldest first. Only lines that are synced in the journal are ever written (DISK.md): a
 * session's file is never ahead of it. A file that is not as it was left belongs to somebody else now:
 * its session fails, nothing more is written there, and the others go on.
 */
import type { ErrorBody, Runtime, SessionId } from "@espalier/shared";
import { type Disk, eachOf, withFile } from "./disk.js";
import { sessionDirs } from "./names.js";
import { changedFile, isOfPath, unwritable } from "./refusing-disk.js";
import { markFiled, type SessionLog, unfiledBytes } from "./session-log.js";

export type WriteBehind = {
  /** The log has lines that are synced and not in its file. */
  touch(log: SessionLog): void;
  /** Makes what a full, synced segment holds safe in the files, and ends it. Never rejects. */
  retire(segment: string): Promise<void>;
  /** Ends all segments that are full; rejects where one could not be. */
  retireAll(): Promise<void>;
  /** Makes everything synced safe in the files; rejects where a file could not be written. */
  settle(): Promise<void>;
  /** Does other work with the files, or the notes of them, while nothing is written behind. */
  between<T>(job: () => Promise<T>): Promise<T>;
  /** Ends the timer. */
  stop(): void;
  /** Full segments that are not removed yet are so many that no more should be begun. */
  readonly isBehind: boolean;
  /** A sync failed: no segment is ended any more before the next start. */
  readonly isStuck: boolean;
  /** The files could not be written or synced when that was last tried. */
  readonly isFailing: boolean;
};

type WriteBehindOptions = {
  readonly disk: Disk;
  readonly dir: string;
  readonly runtime: Pick<Runtime, "setTimer">;
  readonly delayMs: number;
  /** The files of these logs were synced, up to their `noted`. */
  readonly onNoted: (logs: readonly SessionLog[]) => Promise<void>;
  /** The log's file cannot take its lines; sets its `error`. */
  readonly onFailed: (log: SessionLog, error: ErrorBody) => void;
  /** Removes a segment, or keeps it for the logs that failed. */
  readonly end: (segment: string) => Promise<void>;
  /** Whether the journal is where it was made; beside one that is gone nothing is written. */
  readonly isThere: () => Promise<boolean>;
  readonly onTrouble: (error: Error) => void;
};

/** The pool that does a process's file work has four threads; the journal must find one free. */
const WIDTH = 2;
const MAX_FULL_SEGMENTS = 4;

export const createWriteBehind = (options: WriteBehindOptions): WriteBehind => {
  const { disk, dir, runtime, delayMs } = options;
  const dirty = new Set<SessionLog>();
  const unsyncedLogs = new Set<SessionLog>();
  const unsyncedDirs = new Set<string>();
  const full: string[] = [];
  let work: Promise<void> = Promise.resolve();
  let cancelTimer: (() => void) | null = null;
  /** A sync that failed cannot be believed later: the journal keeps what it covers until the next start. */
  let hasFailedSync = false;
  let isFailing = false;

  const inTurn = (job: () => Promise<void>): Promise<void> => {
    const done = work.then(job);
    work = done.then(
      () => {
        isFailing = hasFailedSync;
      },
      () => {
        isFailing = true;
      },
    );
    return done;
  };

  const arm = (): void => {
    cancelTimer ??= runtime.setTimer(delayMs, () => {
      cancelTimer = null;
      void tick();
    });
  };

  const tick = async (): Promise<void> => {
    if (!(await options.isThere())) return;
    await inTurn(full.length > 0 ? retireFull : fileAll).catch(options.onTrouble);
    if (dirty.size > 0 || (full.length > 0 && !hasFailedSync)) arm();
  };

  const fileAll = async (): Promise<void> => {
    const logs = [...dirty];
    dirty.clear();
    await eachOf(logs, WIDTH, fileOne);
  };

  const fileOne = async (log: SessionLog): Promise<void> => {
    if (log.error !== null) return;
    const to = log.synced;
    try {
      if (log.filed === 0) await makeDirs(log.id);
      if (await hasFailed(log)) return;
      log.tried = Math.max(log.tried, to);
      const isFiled = await withFile(disk, log.path, "write", async (file) => {
        // It may have failed, and lost its lines, while the file was opened.
        if (log.error !== null) return false;
        await file.write(unfiledBytes(log, to), log.filed);
        return true;
      });
      if (!isFiled) return;
      unsyncedLogs.add(log);
      markFiled(log, to);
    } catch (error) {
      if (!isOfPath(error)) dirty.add(log);
      refused(log, error as Error);
    }
  };

  const refused = (log: SessionLog, error: Error): void => {
    if (!isOfPath(error)) throw error;
    options.onFailed(log, unwritable(log.id, log.path, error));
  };

  const hasFailed = async (log: SessionLog): Promise<boolean> => {
    const error = log.error ?? (await changeOf(disk, log));
    if (error !== null && log.error === null) options.onFailed(log, error);
    return error !== null;
  };

  const makeDirs = async (id: SessionId): Promise<void> => {
    const dirs = sessionDirs(dir, id);
    if (dirs.length > 1) await disk.makeDir(dirs.at(-1) as string);
    for (const parent of dirs) unsyncedDirs.add(parent);
  };

  const settleAll = async (): Promise<void> => {
    await fileAll();
    if (hasFailedSync) throw new Error("a session's file could not be synced before");
    const logs = [...unsyncedLogs];
    const dirs = [...unsyncedDirs];
    unsyncedLogs.clear();
    unsyncedDirs.clear();
    const lengths = new Map<SessionLog, number>();
    try {
      await eachOf(logs, WIDTH, async (log) => {
        try {
          if (!(await hasFailed(log))) lengths.set(log, await syncOne(log));
        } catch (error) {
          refused(log, error as Error);
        }
      });
      for (const path of dirs) await synced(disk.syncDir(path));
    } catch (error) {
      for (const log of logs) unsyncedLogs.add(log);
      for (const path of dirs) unsyncedDirs.add(path);
      throw error;
    }
    for (const [log, length] of lengths) log.noted = length;
    await options.onNoted(logs);
  };

  /** Gives the length that is safe now. */
  const syncOne = (log: SessionLog): Promise<number> =>
    withFile(disk, log.path, "write", async (file) => {
      const { filed } = log;
      await synced(file.sync());
      return filed;
    });

  const synced = (sync: Promise<void>): Promise<void> =>
    sync.catch((error: unknown) => {
      hasFailedSync = true;
      throw error;
    });

  /** Those that were full when it began; all of their lines are synced, so they are filed with the rest. */
  const retireFull = async (): Promise<void> => {
    const segments = full.slice();
    if (segments.length === 0) return;
    await settleAll();
    for (const path of segments) {
      await options.end(path);
      full.shift();
    }
  };

  return {
    touch: (log) => {
      dirty.add(log);
      arm();
    },
    retire: (segment) => {
      full.push(segment);
      return inTurn(retireFull).catch((error: Error) => {
        options.onTrouble(error);
        if (!hasFailedSync) arm();
      });
    },
    retireAll: () => inTurn(retireFull),
    settle: () => inTurn(settleAll),
    between: (job) => {
      const done = work.then(job);
      work = done.then(
        () => {},
        () => {},
      );
      return done;
    },
    stop: () => {
      cancelTimer?.();
      cancelTimer = null;
    },
    get isBehind() {
      return full.length >= MAX_FULL_SEGMENTS;
    },
    get isStuck() {
      return hasFailedSync;
    },
    get isFailing() {
      return isFailing;
    },
  };
};

/** Why the file is not the one that was left: its length is none that a write of ours gave it. */
const changeOf = async (disk: Disk, log: SessionLog): Promise<ErrorBody | null> => {
  const { id, path, filed, tried } = log;
  const size = (await disk.stat(path))?.size ?? null;
  if ((size ?? 0) >= filed && (size ?? 0) <= tried) return null;
  const error = await withFile(disk, path, "read", (file) => file.read(0, 1)).catch((cause: Error) => cause);
  return isOfPath(error) ? unwritable(id, path, error as Error) : changedFile(id, path, size, filed);
};
