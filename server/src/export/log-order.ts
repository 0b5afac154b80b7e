/**
 * Folded records as a log again, in order of seq. A log's head must lie at or above all that was folded into
 * its records, or what is written on would be taken for known: where the last record was folded into another,
 * the log ends with what changes nothing and has that one's seq.
 */
import type { Append, Entry, LogRecord, Run, Seq, Tree } from "@espalier/shared";

/**
 * @param entries in order of seq.
 * @param beside in any order.
 * @param last the record that had the highest seq, where it is known.
 */
export function* inLogOrder(
  entries: Iterable<Entry>,
  beside: readonly LogRecord[],
  last: LogRecord | null,
  tree: Tree,
): Generator<LogRecord> {
  let newest: Entry | Run | null = null;
  let head = 0;
  for (const record of merged(entries, beside)) {
    if ((record.kind === "entry" || record.kind === "run") && record.rev > (newest?.rev ?? 0))
      newest = record;
    head = record.seq;
    yield record;
  }
  if (last !== null && last.seq > head)
    yield last.kind === "append" ? emptied(last, tree.get(last.id)?.entry.size ?? last.at) : last;
  else if (newest !== null && newest.rev > head) yield repeated(newest);
}

function* merged(entries: Iterable<Entry>, beside: readonly LogRecord[]): Generator<LogRecord> {
  const others = beside.toSorted(bySeq);
  let next = 0;
  for (const entry of entries) {
    for (let each = others[next]; each !== undefined && each.seq < entry.seq; each = others[next]) {
      yield each;
      next += 1;
    }
    yield entry;
  }
  yield* others.slice(next);
}

export const bySeq = (a: { readonly seq: Seq }, b: { readonly seq: Seq }): number => a.seq - b.seq;

/** It says again where its entry has come to. */
const emptied = (append: Append, size: number): Append => ({ ...append, at: size, deltas: [] });

const repeated = (record: Entry | Run): LogRecord => {
  if (record.kind === "run") return { ...record, seq: record.rev };
  const { id, rev, time, size } = record;
  return { kind: "append", id, seq: rev, time, at: size, deltas: [] };
};
