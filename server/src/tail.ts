/**
 * The newest records of a session's log, for those who were here a moment ago (J2). Bounded, so a longer
 * absence is answered with a fresh window instead.
 */
import { type LogRecord, mergeRecords } from "@espalier/shared";
import { weightOf } from "./frame.js";

const MAX_RECORDS = 10_000;
const MAX_BYTES = 1024 * 1024;

export type Tail = {
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

  return {
    push: (record) => {
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
