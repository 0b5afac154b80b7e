/**
 * Looks at the records of one log in order, keeps where each stands, and mends what would make no log: the
 * rules stand in `espalier.ts`. Records, entries and parts of a newer version are kept as they are (L5).
 */
import {
  ACTIVE_LINE,
  type Append,
  type Entry,
  type EntryId,
  type LogRecord,
  RESET,
  type Register,
  type Seq,
  sizeOfDeltas,
  TITLE,
} from "@espalier/shared";
import { appendSchema, entrySchema, recordSchema, registerSchema, runSchema } from "@espalier/shared/schema";
import { fieldsOf } from "./fields.js";
import type { ImportSummary, Report } from "./foreign.js";
import { type Place, whereOf } from "./jsonl.js";

export type Kept = {
  readonly place: Place;
  /** Fields that take the place of the record's own; the last word on them comes with the last record. */
  mended?: object;
};

export type LogCheck = {
  readonly kept: readonly Kept[];
  take(value: unknown, place: Place): void;
  /** All was taken. */
  end(): void;
  title(): string | null;
  shape(): Pick<ImportSummary, "entries" | "roots" | "branchPoints" | "activeLine">;
};

/** What is known of an entry: enough to place others by it. */
type Known = { readonly seq: Seq; readonly parentId: EntryId | null; size: number };

export const createLogCheck = (report: Report): LogCheck => {
  const kept: Kept[] = [];
  const entriesById = new Map<EntryId, Known>();
  /** The last of each that the shape asks for. */
  const registersByKey = new Map<string, Register>();
  /** Entries that a store keeps without who erased them and when: their erase says so, further below (L2). */
  const bareById = new Map<EntryId, Kept>();
  /** Those of them whose erase has not come. */
  const unexplained = new Map<EntryId, Place>();
  let head = 0;

  /** What a tombstone lacks, from a record that comes after it. */
  const complete = (record: LogRecord): void => {
    if (record.kind !== "erase" && record.kind !== "append") return;
    const bare = bareById.get(record.id);
    if (bare === undefined) return;
    if (record.kind === "erase") {
      unexplained.delete(record.id);
      const { seq, time, author } = record;
      bare.mended = { ...bare.mended, rev: seq, erasedAt: time, erasedBy: author };
    } else if (record.usage !== undefined) bare.mended = { ...bare.mended, usage: record.usage };
  };

  /** What is to be mended of a record; null where it cannot be kept. */
  const mendedOf = (record: LogRecord, where: string): object | null => {
    if (record.kind === "entry") return mendedEntry(record, where);
    if (record.kind === "append") return mendedAppend(record, where);
    if (record.kind === "register" && SHAPING.includes(record.key)) registersByKey.set(record.key, record);
    return {};
  };

  const mendedEntry = ({ id, parentId, seq, size }: Entry, where: string): object | null => {
    if (entriesById.has(id)) {
      report(`${where}: the id ${id} is used by an earlier entry; skipped`);
      return null;
    }
    const isLost = parentId !== null && !entriesById.has(parentId);
    if (isLost) report(`${where}: parent ${parentId} is not in the file; becomes a root`);
    entriesById.set(id, { seq, parentId: isLost ? null : parentId, size });
    return isLost ? { parentId: null } : {};
  };

  const mendedAppend = ({ id, at, deltas }: Append, where: string): object | null => {
    const entry = entriesById.get(id);
    if (entry === undefined) {
      report(`${where}: it goes on with ${id}, which is not in the file; skipped`);
      return null;
    }
    const isBeyond = at > entry.size;
    if (isBeyond) report(`${where}: what ${id} said before it is missing; it goes on without`);
    const from = isBeyond ? entry.size : at;
    entry.size = Math.max(entry.size, from + sizeOfDeltas(deltas));
    return isBeyond ? { at: from } : {};
  };

  return {
    kept,
    take: (value, place) => {
      const where = whereOf(place);
      const fault = faultOf(value);
      if (fault !== null) return report(`${where}: ${fault}; skipped`);
      const record = value as LogRecord;
      const seq = Math.max(record.seq, head + 1) as Seq;
      const risen = seq === record.seq ? record : { ...record, ...raised(record, seq) };
      const mended = mendedOf(risen, where);
      if (mended === null) return;
      if (risen !== record) report(`${where}: its seq ${record.seq} does not rise; it is ${seq}`);
      head = seq;
      const changes = { ...(risen === record ? {} : raised(record, seq)), ...mended };
      const own: Kept = Object.keys(changes).length === 0 ? { place } : { place, mended: changes };
      kept.push(own);
      if (isBare(record)) {
        own.mended = { ...own.mended, erasedAt: record.time, erasedBy: record.author };
        bareById.set(record.id, own);
        unexplained.set(record.id, place);
      } else complete(risen);
    },
    end: () => {
      for (const [id, place] of unexplained)
        report(`${whereOf(place)}: ${id} was erased, and nothing says when or by whom; taken for its author`);
    },
    title: () => {
      const title = registersByKey.get(TITLE)?.value;
      return typeof title === "string" ? title : null;
    },
    shape: () => shapeOf(entriesById, registersByKey),
  };
};

const SHAPING: readonly string[] = [TITLE, RESET, ACTIVE_LINE];

const raised = (record: LogRecord, seq: Seq): object =>
  "rev" in record ? { seq, rev: Math.max(record.rev, seq) } : { seq };

const shapeOf = (entriesById: ReadonlyMap<EntryId, Known>, registersByKey: ReadonlyMap<string, Register>) => {
  const resetSeq = registersByKey.get(RESET)?.seq ?? 0;
  const childrenById = new Map<EntryId | null, EntryId[]>([[null, []]]);
  let newest: EntryId | null = null;
  for (const [id, { parentId, seq }] of entriesById) {
    if (seq > resetSeq) newest = id;
    else if (parentId === null) continue;
    const siblings = childrenById.get(parentId);
    if (siblings === undefined) childrenById.set(parentId, [id]);
    else siblings.push(id);
  }
  const active = registersByKey.get(ACTIVE_LINE);
  const isActive = newest !== null && (active?.seq ?? 0) > (entriesById.get(newest)?.seq ?? 0);
  const activeId = active?.value as EntryId;
  const activeLine: EntryId[] = [];
  for (let at = isActive && entriesById.has(activeId) ? activeId : newest; at !== null; ) {
    activeLine.push(at);
    at = entriesById.get(at)?.parentId ?? null;
  }
  const branchPoints = [...childrenById]
    .filter(([, children]) => children.length > 1)
    .map(([parent, children]) => ({ parent, children }));
  return {
    entries: entriesById.size,
    roots: childrenById.get(null) ?? [],
    branchPoints,
    activeLine: activeLine.reverse(),
  };
};

type Issue = {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly note?: string;
};

/** An erased entry as a store keeps it in its own file. */
const isBare = (record: LogRecord): record is Extract<Entry, { type: "erased" }> =>
  record.kind === "entry" && record.type === "erased" && (!("erasedAt" in record) || !("erasedBy" in record));

/** Why a value is no record of a log, or null where it is one, or one of a newer version. */
const faultOf = (value: unknown): string | null => {
  const { kind, seq, time } = fieldsOf(value);
  if (typeof kind !== "string") return "it has no kind";
  if (!Number.isSafeInteger(seq) || (seq as number) < 1) return "it has no seq";
  if (!Number.isFinite(time)) return "it has no time";
  if (kind === "entry" && !isTyped(value)) return "it has no type, or a part of it has none";
  const record = value as LogRecord;
  const whole = isBare(record) ? { ...record, erasedAt: record.time, erasedBy: record.author } : record;
  const schema = SCHEMAS.get(kind);
  const { error } = schema?.safeParse(whole) ?? {};
  const issue = (error?.issues as readonly Issue[] | undefined)?.find((each) => !isNewer(each));
  return issue === undefined ? null : `its ${issue.path.join(".") || "shape"} is not right: ${issue.message}`;
};

/** A type that is not known is of a newer version; what has none is of no version. */
const isTyped = (value: unknown): boolean => {
  const { type, parts } = fieldsOf(value);
  if (typeof type !== "string") return false;
  return !Array.isArray(parts) || parts.every((part) => typeof fieldsOf(part).type === "string");
};

const SCHEMAS = new Map<
  string,
  { safeParse(value: unknown): { error?: { issues: readonly unknown[] } | undefined } }
>([
  ["entry", entrySchema],
  ["append", appendSchema],
  ["run", runSchema],
  ["register", registerSchema],
  ["erase", recordSchema],
]);

/** A field, or a type of entry or part, that this version does not know. */
const isNewer = ({ code, note }: Issue): boolean =>
  code === "unrecognized_keys" || (code === "invalid_union" && note === "No matching discriminator");
