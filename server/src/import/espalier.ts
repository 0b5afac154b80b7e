/**
 * Imports Espalier's own files: an export (`export/espalier.ts`), and a session's file as the store writes it.
 * What a log holds comes back as it was: ids, seqs, times, authors. A file may hold several sessions, one after
 * the other. It is read twice, and no more of it is held than where each record stands.
 *
 * A damaged file gives what is left of it, by these rules, each use of which is reported with its line:
 *
 * 1. What is no record, or an append to an entry that is not there, is passed over.
 * 2. Of entries with one id the first wins; one whose parent is not there becomes a root (T4).
 * 3. A seq that does not rise is replaced by the next one.
 * 4. An append that begins beyond its entry's end goes on from there: what was between is lost.
 */
import {
  EspalierError,
  isId,
  isSessionId,
  type LogRecord,
  type Origin,
  type SessionId,
} from "@espalier/shared";
import { EXPORT_KIND, EXPORT_VERSION } from "../export/espalier.js";
import { clean } from "./clean.js";
import { createLogCheck, type Kept, type LogCheck } from "./espalier-check.js";
import { digestOfLog, nameSessions } from "./espalier-names.js";
import { type Fields, fieldsOf, isFields, textOf } from "./fields.js";
import type { ImportedSession, Importing, ImportOptions, Report, Source, SourceFile } from "./foreign.js";
import { createRecordReader, type RecordReader, scanJsonl, whereOf } from "./jsonl.js";

/** The kinds of headers, and the newest version of each that this program knows. */
const VERSIONS: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  [EXPORT_KIND, EXPORT_VERSION],
  ["session", 1],
]);

const HEADER = new RegExp(`^\\s*\\{[^\\n]*"kind"\\s*:\\s*"(?:${[...VERSIONS.keys()].join("|")})"`);

/** Whether a file that begins with these bytes is one of Espalier's own. A header's first 1,000 bytes suffice. */
export const detectEspalier = (start: Uint8Array): boolean => {
  const text = new TextDecoder().decode(start);
  const [line = ""] = text.split("\n", 1);
  const header = line.length < text.length ? parsed(line) : null;
  return header === null ? HEADER.test(line) && /"version"\s*:\s*\d/.test(line) : isHeader(header);
};

/** Rejects with `invalid` where the file has no header, and with `newer_version` where it has a newer one. */
export const importEspalier = (source: Source, options: ImportOptions): Importing => {
  const { file } = source;
  const reports: string[] = [];
  return { format: "espalier", sessions: sessionsOf(file, options, reports), files: [file.name], reports };
};

type Found = {
  readonly header: Fields;
  readonly where: string;
  readonly createdAt: number;
  readonly reports: string[];
  readonly log: LogCheck;
};

async function* sessionsOf(
  file: SourceFile,
  options: ImportOptions,
  reports: string[],
): AsyncGenerator<ImportedSession> {
  const found: Found[] = [];
  const report: Report = (line) => void (found.at(-1)?.reports ?? reports).push(line);
  await scanJsonl(file, isRecord, report, (value, place) => {
    if (isHeader(value)) {
      checkVersion(value, file);
      found.push(begin(value, whereOf(place), options.now));
    } else if (fieldsOf(value).kind === "epoch") return;
    else if (found.length === 0) report(`${whereOf(place)}: it comes before any header; skipped`);
    else found.at(-1)?.log.take(value, place);
  });
  if (found.length === 0)
    throw new EspalierError("invalid", `unable to import ${file.name}; it has no header of a session`);
  const read = createRecordReader(file, isRecord);
  for (const { log } of found) log.end();
  const digestOf = ({ header, log }: Found) => digestOfLog(header, log.kept, read);
  for (const { each, id, report: line } of await nameSessions(found, digestOf)) {
    if (line !== null) (id === null ? reports : each.reports).push(`${each.where}: ${line}`);
    if (id !== null) yield sessionOf(each, id, read);
  }
}

const isRecord = (value: unknown): boolean => isFields(value) && typeof value.kind === "string";

const isHeader = (value: unknown): value is Fields =>
  isFields(value) && VERSIONS.has(value.kind) && typeof value.version === "number";

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
};

const checkVersion = ({ kind, version }: Fields, { name }: SourceFile): void => {
  const known = VERSIONS.get(kind) ?? 0;
  if ((version as number) <= known) return;
  const reason = `it has version ${version}, and this program knows ${known}`;
  throw new EspalierError("newer_version", `unable to import ${name}; ${reason}`);
};

const begin = (header: Fields, where: string, now: () => number): Found => {
  const reports: string[] = [];
  const report: Report = (line) => void reports.push(`${where}: ${line}`);
  if (fieldsOf(header.origin).isShared === true)
    report(
      `it shares its beginning with ${String(fieldsOf(header.origin).session)}, which is not in this file`,
    );
  const createdAt = Number.isFinite(header.createdAt) ? (header.createdAt as number) : null;
  if (createdAt === null) report("it does not say when it began; taken for begun now");
  const log = createLogCheck((line) => void reports.push(line));
  return { header, where, createdAt: createdAt ?? now(), reports, log };
};

const sessionOf = (
  { header, createdAt, reports, log }: Found,
  id: SessionId,
  read: RecordReader,
): ImportedSession => {
  const origin = originOf(header.origin);
  const title = (textOf(header.title) ?? log.title())?.toWellFormed() ?? null;
  return {
    id,
    sourceId: textOf(header.id),
    title,
    createdAt,
    ...(origin === null ? {} : { origin }),
    ...(Number.isSafeInteger(header.inherited) ? { inherited: header.inherited as number } : {}),
    records: () => recordsOf(log.kept, read, (line) => void reports.push(line)),
    summary: () => ({ id, title, ...log.shape(), reports: [...reports] }),
  };
};

/** What was shared is in the file, or it is lost: what is imported shares nothing. */
const originOf = (value: unknown): Origin | null => {
  if (!isFields(value)) return null;
  const { session, entry, callId } = value;
  if (!(session === null || isSessionId(session)) || !(entry === null || isId(entry))) return null;
  return { session, entry, ...(typeof callId === "string" ? { callId } : {}) };
};

async function* recordsOf(
  kept: readonly Kept[],
  read: RecordReader,
  report: Report,
): AsyncGenerator<LogRecord> {
  for (const { place, mended } of kept) {
    const record = clean((await read(place)) as LogRecord, whereOf(place), report);
    yield mended === undefined ? record : ({ ...record, ...mended } as LogRecord);
  }
}
