/** The first pass over one Claude Code file: an index of its records, and what they say of the session. */
import { jsonEqual } from "@espalier/shared";
import { type ClaudeFact, factOf } from "./claude-code-facts.js";
import { type Fields, isFields, textOf } from "./fields.js";
import type { Report, SourceFile } from "./foreign.js";
import { createRecordReader, type Place, type RecordReader, scanJsonl, whereOf } from "./jsonl.js";
import { clip, type Repeat, reportRepeats, typeNameOf } from "./jsonl-fields.js";
import type { Outside } from "./outside.js";

export type ClaudeIndex = {
  /** In file order, each id once. */
  readonly facts: readonly ClaudeFact[];
  readonly outside: readonly Outside[];
  readonly title: string | null;
  /** That the first record with one names. */
  readonly sessionId: string | null;
  /** How many records with a place name each session. */
  readonly counts: ReadonlyMap<string, number>;
  /** Whether anything of it is of this format. */
  readonly hasRecord: boolean;
  /** What the first record says of where the talk was held. */
  readonly setting: Fields;
  readonly read: RecordReader;
};

/** A record of this format names its session, itself, or what it is about. */
export const isClaudeRecord = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === "string" &&
  ["uuid", "sessionId", "leafUuid", "messageId"].some((key) => typeof value[key] === "string");

export const scanClaudeFile = async (file: SourceFile, report: Report): Promise<ClaudeIndex> => {
  const read = createRecordReader(file, isClaudeRecord);
  const facts: ClaudeFact[] = [];
  const firstsById = new Map<string, ClaudeFact>();
  const outside: Outside[] = [];
  const repeats: Repeat[] = [];
  const titles = createTitles();
  let sessionId: string | null = null;
  let setting: Fields | null = null;
  const counts = new Map<string, number>();
  let hasRecord = false;

  /** One string for an id, not one for each record that names it. */
  const idOf = (id: string): string => firstsById.get(id)?.id ?? id;

  const takeOutside = (value: unknown, place: Place): void => {
    const type = typeNameOf(value);
    outside.push({ place, type });
    if (isFields(value)) titles.take(value, place);
    if (!KNOWN_TYPES.has(type))
      report(`${whereOf(place)}: unknown record type "${type}" without an id; kept beside the tree`);
  };

  await scanJsonl(file, isClaudeRecord, report, (value, place) => {
    const named = isFields(value) ? shortTextOf(value.sessionId) : null;
    sessionId ??= named;
    hasRecord ||= isClaudeRecord(value);
    const fact = isFields(value) ? factOf(value, place, { idOf, report }) : null;
    if (fact === null || !isFields(value)) return takeOutside(value, place);
    setting ??= settingOf(value);
    if (named !== null) counts.set(named, (counts.get(named) ?? 0) + 1);
    const first = firstsById.get(fact.id);
    if (first !== undefined) {
      repeats.push({ id: fact.id, place, first: first.place });
      return;
    }
    firstsById.set(fact.id, fact);
    facts.push(fact);
  });
  await reportRepeats(repeats, read, jsonEqual, report);
  const title = titles.choose((id) => firstsById.has(id), report);
  return { facts, outside, title, sessionId, counts, hasRecord, setting: setting ?? {}, read };
};

/** Types without a place that are not worth a word. */
const KNOWN_TYPES: ReadonlySet<string> = new Set([
  "summary",
  "custom-title",
  "file-history-snapshot",
  "queue-operation",
]);

/** In a register, with everything else that is told of a session in a list. */
const MAX_TITLE_LENGTH = 500;
const MAX_SETTING_LENGTH = 1000;

const shortTextOf = (value: unknown): string | null => {
  const text = textOf(value);
  return text === null || text === "" || text.length > MAX_SETTING_LENGTH ? null : text;
};

const settingOf = (record: Fields): Fields =>
  Object.fromEntries(
    ["cwd", "version", "gitBranch"].flatMap((key) => {
      const value = textOf(record[key]);
      return value === null || value === "" ? [] : [[key, clip(value, MAX_SETTING_LENGTH)]];
    }),
  );

/** The title that the user gave, else the last summary of something in the file. */
const createTitles = () => {
  const summaries: { readonly leafId: string; readonly title: string | null; readonly place: Place }[] = [];
  let given: string | null = null;
  return {
    take: (record: Fields, place: Place): void => {
      const leafId = textOf(record.leafUuid);
      if (record.type === "custom-title") given = textOf(record.customTitle) ?? given;
      if (record.type !== "summary" || leafId === null) return;
      const summary = textOf(record.summary);
      summaries.push({ leafId, title: summary === null ? null : clip(summary, MAX_TITLE_LENGTH), place });
    },
    choose: (isInFile: (id: string) => boolean, report: Report): string | null => {
      let title: string | null = null;
      for (const summary of summaries) {
        if (isInFile(summary.leafId)) title = summary.title ?? title;
        else
          report(
            `${whereOf(summary.place)}: summary of ${summary.leafId}, which is not in the file; kept beside the tree`,
          );
      }
      return given === null ? title : clip(given, MAX_TITLE_LENGTH);
    },
  };
};
