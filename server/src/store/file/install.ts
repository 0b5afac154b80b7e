/**
 * Installs a whole log, however long it is: its lines go to their file in pieces, and between two of them
 * others have their turn. Nothing of it is in the journal. See `placing` for what a crash leaves.
 */
import { type Epoch, type ErrorBody, type LogRecord, refusal, type SessionId } from "@espalier/shared";
import { type CatalogueEntry, emptyCatalogueEntry, foldIntoCatalogue } from "../catalogue.js";
import { headAfter, startOf } from "../heads.js";
import type { ChangeOutcome, LogHeader } from "../log-store.js";
import type { Disk } from "./disk.js";
import { headerLine, LOG_START, recordLines } from "./lines.js";
import { sessionDirs, sessionPath } from "./names.js";
import { inPieces, type Places, type Waiting } from "./placing.js";
import { createSessionLog, type SessionLog } from "./session-log.js";
import type { WriteBehind } from "./write-behind.js";

type InstallOptions = {
  readonly disk: Disk;
  readonly dir: string;
  readonly epoch: Epoch;
  readonly places: Places;
  readonly writeBehind: Pick<WriteBehind, "between">;
  /** Why nothing may be written now. */
  readonly faultNow: () => ErrorBody | null;
  /** It is in its place: from now on it is shown. */
  readonly onPlaced: (log: SessionLog, entry: CatalogueEntry) => void;
};

type Records = Iterable<LogRecord> | AsyncIterable<LogRecord>;

/** Puts a log where there is none, and nobody else puts one. */
export const installLog = async (
  id: SessionId,
  header: LogHeader,
  records: Records,
  options: InstallOptions,
): Promise<ChangeOutcome> => {
  const { disk, dir, epoch, places } = options;
  const entry = emptyCatalogueEntry(id, header);
  const reached = { ...LOG_START, header, epoch, head: startOf(header), lines: 1 };

  const take = (record: LogRecord): string => {
    reached.head = headAfter(reached.head, [record]);
    reached.lines += 1;
    foldIntoCatalogue(entry, record);
    return recordLines([record]);
  };

  async function* lines(): AsyncGenerator<string> {
    yield headerLine(id, epoch, header);
    for await (const record of records) {
      const fault = options.faultNow();
      if (fault !== null) throw new Error(fault.message);
      yield take(record);
    }
  }

  const place = async (waiting: Waiting): Promise<void> => {
    const path = sessionPath(dir, id);
    if ((await disk.stat(path)) !== null) throw new Error(`something else is at ${path}`);
    try {
      await places.place(waiting, id);
    } catch (error) {
      await disk.remove(path).catch(() => {});
      throw error;
    }
    options.onPlaced(createSessionLog(id, path, { ...reached, length: waiting.length }), entry);
  };

  const waiting = await places.write(inPieces(lines()));
  try {
    // Only a folder that is made may meet one that is removed, for it is empty.
    const isAlone = sessionDirs(dir, id).length === 1;
    await (isAlone ? place(waiting) : options.writeBehind.between(() => place(waiting)));
    return { type: "ok" };
  } catch (error) {
    await places.drop(waiting);
    throw error;
  }
};

/** An error of the disk as an outcome; one of the program stays one. */
export const refusedBy = (id: SessionId, doing: string, error: unknown): ChangeOutcome => {
  const { code, message } = error as { code?: unknown; message: string };
  if (code === "internal") throw error;
  return { type: "refused", error: refusal("unavailable", `unable to ${doing} ${id}; ${message}`) };
};
