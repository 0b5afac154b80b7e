/** Reads a log as it is now: what its file holds, and behind it what is still only in the journal. */
import type { ErrorBody, LogRecord } from "@espalier/shared";
import { withErasures } from "../erasing.js";
import { type Disk, withFile } from "./disk.js";
import { LOG_START, type LogPlace, scanLog } from "./lines.js";
import { cutFile } from "./recovery.js";
import { type SessionLog, unfiledBytes } from "./session-log.js";

export type ReadLog =
  | { readonly type: "ok"; readonly place: LogPlace; readonly records: readonly LogRecord[] }
  | { readonly type: "fault"; readonly error: ErrorBody };

/** What is appended while it reads is not in the result; nor is what was erased, wherever it still is. */
export const readLog = async (disk: Disk, log: SessionLog): Promise<ReadLog> => {
  const { filed } = log;
  const waiting = unfiledBytes(log, log.end);
  const inFile = filed === 0 ? [] : [await readStart(disk, log.path, filed)];
  const size = inFile[0]?.length ?? 0;
  if (size < filed) return { type: "fault", error: cutFile(log.id, log.path, size, filed) };
  const records: LogRecord[] = [];
  const scan = scanLog(log.id, log.path, Buffer.concat([...inFile, waiting]), LOG_START, {
    record: (record) => void records.push(record),
  });
  return scan.type === "ok" ? { type: "ok", place: scan.place, records: withErasures(records) } : scan;
};

const readStart = async (disk: Disk, path: string, length: number): Promise<Buffer> => {
  if ((await disk.stat(path)) === null) return Buffer.alloc(0);
  return withFile(disk, path, "read", (file) => file.read(0, length));
};
