/**
 * The newest records of a session's log, for those who were here a moment ago (J2). Bounded, so a longer
 * absence is answered with a fresh window instead.
 */
import { type EntryId, type LogRecord, mergeRecords } from "@espalier/shared";
import { weightOf } from "./frame.js";
import type { LoadedLog } from "./shared-log.js";

const MAX_RECORDS = 10_000;
const MAX_BYTES = 1024 * 1024;

export type Tail = {
  /** With an erase, what the entry held is given to nobody any more: who has not had it takes a window (L2). */
  push(record: LogRecord): void;
  /** All records after a seq, appends merged; null where some of them are no longer held. */
  after(seq: number): LogRecord[] | null;
};

/** `floor` is the seq that the first record pushed comes after. */
export const createTail = (floor: number): Tail => {
  let records: LogRecord[] = [];
  let start = 0;
  let bytes = 0;
  let heldAfter = floor;

  const dropOldest = (): void => {
    const oldest = records[start];
    if (oldest === undefined) return;
    heldAfter = oldest.seq;
    bytes -= weightOf(oldest);
    start += 1;
    if (start * 2 > records.length) {
      records = records.slice(start);
      start = 0;
    }
  };

  const dropUpToLastOf = (id: EntryId): void => {
    const last = records.findLastIndex(
      (record) => (record.kind === "entry" || record.kind === "append") && record.id === id,
    );
    for (let count = last - start; count >= 0; count -= 1) dropOldest();
    // Nor is it kept in memory.
    records = records.slice(start);
    start = 0;
  };

  return {
    push: (record) => {
      if (record.kind === "erase") dropUpToLastOf(record.id);
      records.push(record);
      bytes += weightOf(record);
      while (records.length - start > MAX_RECORDS || bytes > MAX_BYTES) dropOldest();
    },
    after: (seq) => {
      if (seq < heldAfter) return null;
      let low = start;
      let high = records.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((records[middle] as LogRecord).seq <= seq) low = middle + 1;
        else high = middle;
      }
      return mergeRecords(records.slice(low)) as LogRecord[];
    },
  };
};

export const tailOfLog = (log: LoadedLog | null): Tail => {
  // What is shared is in no tail: who does not have it takes a window.
  const tail = createTail(log === null || log.shared.length === 0 ? 0 : (log.header.inherited ?? 0));
  for (const record of log?.records ?? []) tail.push(record);
  return tail;
};
