/**
 * The first pass over a file of pi: an index of the records of each session in it, and what they say of the
 * session. As a rule a file has one; several where files were put one behind the other.
 */
import { jsonEqual } from "@espalier/shared";
import { type Fields, isFields, restOf, textOf } from "./fields.js";
import type { Report, SourceFile } from "./foreign.js";
import { createRecordReader, type Place, type RecordReader, scanJsonl, whereOf } from "./jsonl.js";
import { clip, isSmall, type Repeat, readStamp, reportRepeats, typeNameOf } from "./jsonl-fields.js";
import type { Outside } from "./outside.js";
import { isPiRecord, type PiFact, piFactOf } from "./pi-facts.js";

export type PiIndex = {
  /** In file order, each id once. */
  readonly facts: readonly PiFact[];
  readonly outside: readonly Outside[];
  /** That the header names. */
  readonly sessionId: string | null;
  readonly createdAt: number | null;
  readonly title: string | null;
  /** By the id of what is labelled. */
  readonly labels: ReadonlyMap<string, string>;
  /** The header, as far as it fits a register. */
  readonly header: Fields;
  /** Ids by the count that version 1 refers to, the header being 0. */
  readonly idAt: (count: number) => string | null;
  readonly read: RecordReader;
  /** What was odd about it. */
  readonly reports: string[];
  /** Whether anything of it is of this format. */
  readonly hasRecord: boolean;
};

/** Labels and titles longer than this stay whole in the entries that set them. */
const MAX_NAME_LENGTH = 500;

/** The sessions of a file: each header begins one, but for a header that names one that was begun. */
export const scanPiFile = async (file: SourceFile): Promise<readonly PiIndex[]> => {
  const read = createRecordReader(file, isPiRecord);
  const scans = [createSessionScan()];
  let at = scans[0] as SessionScan;
  const report: Report = (line) => at.report(line);
  await scanJsonl(file, isPiRecord, report, (value, place) => {
    const id = isHeader(value) ? textOf(value.id) : null;
    if (id !== null && at.headerId() !== null && at.headerId() !== id) {
      at = scans.find((scan) => scan.headerId() === id) ?? createSessionScan();
      if (!scans.includes(at)) scans.push(at);
    }
    at.take(value, place);
  });
  const indexes: PiIndex[] = [];
  for (const scan of scans) indexes.push(await scan.end(read));
  return indexes;
};

const isHeader = (value: unknown): value is Fields =>
  isFields(value) && value.type === "session" && !("parentId" in value);

type SessionScan = ReturnType<typeof createSessionScan>;

const createSessionScan = () => {
  const reports: string[] = [];
  const report: Report = (line) => void reports.push(line);
  const facts: PiFact[] = [];
  const firstsById = new Map<string, PiFact>();
  const outside: Outside[] = [];
  const repeats: Repeat[] = [];
  const labels = new Map<string, string>();
  let header: Fields | null = null;
  let headerCount = 0;
  let isLinear: boolean | null = null;
  let hasRecord = false;
  let title: string | null = null;

  const takeOutside = (value: unknown, place: Place): void => {
    const type = typeNameOf(value);
    outside.push({ place, type });
    report(`${whereOf(place)}: unknown record type "${type}" without an id; kept beside the tree`);
  };

  /** What a record of the session as a whole changes; the last one in the file wins. */
  const takeEffect = (record: Fields): void => {
    if (record.type === "session_info") title = nameOf(record.name);
    const target = textOf(record.targetId);
    if (record.type !== "label" || target === null) return;
    const label = nameOf(record.label);
    labels.delete(target);
    if (label !== null) labels.set(target, label);
  };

  const take = (record: Fields, place: Place): void => {
    isLinear ??= !isTree(header) && textOf(record.id) === null;
    const ids = isLinear ? linearIds(place, facts) : treeIds(record, firstsById);
    if (ids === null) return takeOutside(record, place);
    const first = firstsById.get(ids.id);
    if (first !== undefined) {
      repeats.push({ id: ids.id, place, first: first.place });
      return;
    }
    const fact = piFactOf(record, place, ids, report);
    firstsById.set(fact.id, fact);
    facts.push(fact);
    takeEffect(record);
  };

  return {
    report,
    /** Null where it has none. */
    headerId: () => textOf(header?.id),
    take: (value: unknown, place: Place): void => {
      hasRecord ||= isPiRecord(value);
      if (!isFields(value)) return takeOutside(value, place);
      if (!isHeader(value)) return take(value, place);
      if (header !== null) return takeOutside(value, place);
      header = value;
      headerCount = 1;
      if (!isSmall(value)) outside.push({ place, type: "session" });
    },
    end: async (read: RecordReader): Promise<PiIndex> => {
      await reportRepeats(repeats, read, jsonEqual, report);
      const head: Fields = header ?? {};
      return {
        ...{ facts, outside, title, labels, read, reports, hasRecord },
        sessionId: textOf(head.id),
        createdAt: readStamp(head.timestamp, "header", report),
        header: isSmall(head) ? restOf(head, "type") : {},
        idAt: (count) => facts[count - headerCount]?.id ?? null,
      };
    },
  };
};

const isTree = (header: Fields | null): boolean => typeof header?.version === "number" && header.version >= 2;

const linearIds = (place: Place, facts: readonly PiFact[]) => ({
  id: place.part === 0 ? `#${place.line}` : `#${place.line}.${place.part}`,
  parentId: facts.at(-1)?.id ?? null,
});

/** Null for a record without an id. One string for an id, not one for each record that names it. */
const treeIds = (record: Fields, firstsById: ReadonlyMap<string, PiFact>) => {
  const id = textOf(record.id);
  if (id === null || id === "") return null;
  const parentId = textOf(record.parentId);
  if (parentId === null || parentId === "") return { id, parentId: null };
  return { id, parentId: firstsById.get(parentId)?.id ?? parentId };
};

const nameOf = (value: unknown): string | null => {
  const name = textOf(value)?.trim() ?? "";
  return name === "" ? null : clip(name, MAX_NAME_LENGTH);
};

/** The calls that were answered. */
export const answeredOf = (facts: readonly PiFact[]): ReadonlySet<string> =>
  new Set(facts.flatMap(({ answers }) => (answers === null ? [] : [answers])));
