/**
 * Espalier's own format: JSON lines that say all of a session, or one line of it, and nothing twice. First a
 * header, `{ kind: "espalier-export", version, id, title, createdAt, origin?, inherited?, leaf }`, where `leaf`
 * ends the line that is shown; then records in order of seq, each with the ids, seqs and times of the log:
 *
 * - entries as they are folded from their appends, erased ones as their tombstones;
 * - runs as they are now, registers that are set; resets, erasures and unknown records as they stand.
 *
 * Where the highest seq was given to a record that is folded into another, that one is repeated at the end, so
 * that what is written on goes on above it. The fold of an export is the fold of its log (T1), and the export
 * of an export is the same text. It holds what the session shares with its origin, so it needs nobody else.
 */
import type { Entry, EntryId, LogRecord, Origin, TreeNode } from "@espalier/shared";
import { type Conversation, leafOf, titleOf } from "./conversation.js";
import { recordsOfLine } from "./line-records.js";
import { bySeq, inLogOrder } from "./log-order.js";
import { inPieces } from "./pieces.js";

export const EXPORT_KIND = "espalier-export";
export const EXPORT_VERSION = 1;

type EspalierHeader = {
  readonly kind: typeof EXPORT_KIND;
  readonly version: number;
  readonly id: string;
  readonly title: string | null;
  /** ms */
  readonly createdAt: number;
  readonly origin?: Origin;
  readonly inherited?: number;
  readonly leaf: string | null;
};

/**
 * The whole session, or with `leaf` the line that ends there, with the runs and registers that are of it.
 *
 * @throws EspalierError `not_found` where there is no such entry
 */
export const exportEspalier = (
  conversation: Conversation,
  { leaf }: { readonly leaf?: EntryId | undefined } = {},
): AsyncIterable<string> => {
  const end = leafOf(conversation, leaf);
  const records =
    leaf === undefined || end === null ? recordsOf(conversation) : recordsOfLine(conversation, end);
  return inPieces(linesOf(headerOf(conversation, end), records));
};

function* linesOf(header: EspalierHeader, records: Iterable<LogRecord>): Generator<string> {
  yield `${JSON.stringify(header)}\n`;
  for (const record of records) yield `${JSON.stringify(record)}\n`;
}

const headerOf = (conversation: Conversation, leaf: TreeNode | null): EspalierHeader => {
  const { id, header } = conversation;
  const { createdAt, origin, inherited } = header;
  return {
    kind: EXPORT_KIND,
    version: EXPORT_VERSION,
    id,
    title: titleOf(conversation),
    createdAt,
    ...(origin === undefined ? {} : { origin: withoutShare(origin) }),
    ...(inherited === undefined ? {} : { inherited }),
    leaf: leaf?.entry.id ?? null,
  };
};

const withoutShare = ({ isShared: _, ...origin }: Origin): Origin => origin;

const recordsOf = ({ tree, registers, runs, others, last }: Conversation): Iterable<LogRecord> => {
  const entries = [...tree.nodes()].map(({ entry }) => entry);
  // A log is in order; what comes from a server line by line is not.
  if (!isInOrder(entries)) entries.sort(bySeq);
  return inLogOrder(entries, [...runs.all(), ...registers.all(), ...others], last, tree);
};

const isInOrder = (entries: readonly Entry[]): boolean =>
  entries.every(({ seq }, index) => index === 0 || seq > (entries[index - 1] as Entry).seq);
