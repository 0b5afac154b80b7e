/**
 * Removes sessions for good (F8). In this order:
 *
 * 1. A line with their ids goes to `deleted.jsonl`, synced: the point of no return. Torn, it is cut off at
 *    the next start, and nothing has happened. From it on, whatever is found of them is nobody's: each start
 *    leaves their lines in the journal alone and removes their files, so all that follows may be torn.
 * 2. They are forgotten here, so nothing more of them is shown or written behind.
 * 3. The journal is purged, and what was kept of it, so that no lines of theirs are left there.
 * 4. Their files go, folders that are empty then too, and the folders are synced.
 * 5. The catalogue's file is written anew, for it has their titles.
 *
 * Sessions that are removed while others are go together, with one purge.
 */
import { type ErrorBody, isSessionId, type Runtime, refusal, type SessionId } from "@espalier/shared";
import type { ChangeOutcome } from "../log-store.js";
import type { Disk } from "./disk.js";
import { forgetKept } from "./kept-segments.js";
import { createLineFile, type LineFile } from "./line-file.js";
import { CONTROL_DIR, sessionDirs, sessionPath } from "./names.js";
import type { Purge } from "./purge.js";
import { syncSessionDirs } from "./recovery.js";
import { isOfPath } from "./refusing-disk.js";
import type { WriteBehind } from "./write-behind.js";

export type DeletedLine = { readonly deletedAt: number; readonly ids: readonly SessionId[] };

export const createDeletedFile = (disk: Disk, control: string): LineFile<DeletedLine> =>
  createLineFile(disk, control, "deleted.jsonl", (value) => {
    const { ids } = value as Partial<DeletedLine>;
    return Array.isArray(ids) && ids.every(isSessionId) ? (value as DeletedLine) : null;
  });

export const deletedError = (id: SessionId): ErrorBody =>
  refusal("deleted", `unable to use ${id}; it was deleted, and its id is not used again`);

type DeletionOptions = {
  readonly disk: Disk;
  readonly dir: string;
  readonly runtime: Pick<Runtime, "now" | "defer">;
  readonly file: LineFile<DeletedLine>;
  /** Why nothing may be written now. */
  readonly faultBefore: () => Promise<ErrorBody | null>;
  readonly purge: Purge;
  readonly writeBehind: Pick<WriteBehind, "between">;
  /** Nothing of it is shown or written from then on. */
  readonly forget: (id: SessionId) => void;
  readonly noteAll: () => Promise<void>;
  readonly onTrouble: (error: Error) => void;
};

type Waiting = { readonly id: SessionId; readonly tell: (outcome: ChangeOutcome) => void };

/** Removes a session that there is, and that nobody else rewrites. */
export const createDeletion = (options: DeletionOptions): ((id: SessionId) => Promise<ChangeOutcome>) => {
  const { disk, dir, runtime, writeBehind } = options;
  let waiting: Waiting[] = [];
  let isRunning = false;

  const run = async (): Promise<void> => {
    isRunning = true;
    await new Promise<void>((resolve) => runtime.defer(resolve));
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const outcome = await removeAll(batch.map(({ id }) => id));
      for (const { tell } of batch) tell(outcome);
    }
    isRunning = false;
  };

  const removeAll = async (ids: readonly SessionId[]): Promise<ChangeOutcome> => {
    const fault = await options.faultBefore();
    if (fault !== null) return { type: "refused", error: fault };
    try {
      await options.file.add({ deletedAt: runtime.now(), ids });
    } catch (error) {
      const reason = `unable to delete; it could not be noted (${(error as Error).message})`;
      return { type: "refused", error: refusal("unavailable", reason) };
    }
    for (const id of ids) options.forget(id);
    // They are deleted, whatever comes; the next start finishes what fails here.
    await sweep(new Set(ids)).catch(options.onTrouble);
    return { type: "ok" };
  };

  const sweep = async (ids: ReadonlySet<SessionId>): Promise<void> => {
    await options.purge();
    await writeBehind.between(async () => {
      await forgetKept(disk, `${dir}/${CONTROL_DIR}`, ids);
      await removeFiles(disk, dir, ids);
      await options.noteAll();
    });
  };

  return (id) =>
    new Promise((resolve) => {
      waiting.push({ id, tell: resolve });
      if (!isRunning) void run();
    });
};

/** Removes the files of sessions, and the folders that nothing else is in. */
export const removeFiles = async (disk: Disk, dir: string, ids: ReadonlySet<SessionId>): Promise<void> => {
  for (const id of ids) {
    await disk.remove(sessionPath(dir, id)).catch(unlessOfPath);
    const [, ...folders] = sessionDirs(dir, id);
    for (const folder of folders.reverse()) await disk.removeDir(folder).catch(unlessOfPath);
  }
  await syncSessionDirs(disk, dir, ids);
};

/** What is in the place of a session's file and is none is somebody else's. */
const unlessOfPath = (error: unknown): void => {
  if (!isOfPath(error)) throw error;
};
