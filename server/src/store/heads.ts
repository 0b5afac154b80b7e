/** Where a log's seqs begin and have come to: what is inherited counts, wherever it is kept (F2). */
import { type Entry, EspalierError, type LogRecord } from "@espalier/shared";
import type { LogHeader } from "./log-store.js";

/** What the first record must rise above. */
export const startOf = ({ origin, inherited }: LogHeader): number =>
  origin?.isShared === true ? (inherited ?? 0) : 0;

export const headOf = (header: LogHeader, records: readonly LogRecord[]): number =>
  atLeastInherited(header, records.at(-1)?.seq ?? 0);

/** The head of a log whose last seq is this one. */
export const atLeastInherited = ({ inherited }: LogHeader, seq: number): number =>
  Math.max(seq, inherited ?? 0);

/** @throws EspalierError `internal`; what comes to a store has its seqs from there */
export const headAfter = (expectedHead: number, records: readonly LogRecord[]): number => {
  let head = expectedHead;
  for (const { seq } of records) {
    if (!Number.isSafeInteger(seq) || seq <= head) {
      throw new EspalierError("internal", `unable to append; seq ${seq} does not rise above ${head}`);
    }
    head = seq;
  }
  return head;
};

/** The entries, none of which has a seq that is the log's own, or falls. */
export function* inheritedCheck(header: LogHeader, inherited: Iterable<Entry>): Generator<Entry> {
  let head = 0;
  for (const entry of inherited) {
    head = headAfter(head, [entry]);
    if (head > (header.inherited ?? 0)) {
      throw new EspalierError("internal", `unable to make it whole; seq ${head} is not inherited`);
    }
    yield entry;
  }
}

/** The header of a log that has what it shared as its own. */
export const withoutShare = (header: LogHeader): LogHeader => {
  if (header.origin === undefined) return header;
  const { isShared: _, ...origin } = header.origin;
  return { ...header, origin };
};
