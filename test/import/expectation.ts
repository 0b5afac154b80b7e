/** Holds an import to the `*.expected.json` beside its sample, in every field, and its logs to the schemas. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTree, type EntryId, jsonFault, type LogRecord, type TreeNode } from "@espalier/shared";
import { recordSchema } from "@espalier/shared/schema";
import { expect } from "vitest";
import {
  type Collected,
  type CollectedImport,
  collect,
  FIXTURES,
  fileSource,
  type Import,
  options,
} from "./kit.js";
import { agentOf, type Shape, shapeOf, sourceIdOf } from "./shape.js";

type Expected = Partial<Shape> & { readonly names?: unknown };
type Expectation = {
  readonly format: string;
  readonly files?: readonly string[];
  readonly sessions: readonly Expected[];
  readonly reports: readonly string[];
};

/** The samples of a format: every file that has an expectation, relative to the format's folder. */
export const samplesOf = (format: string): string[] =>
  readdirSync(join(FIXTURES, format), { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.jsonl?$/.test(file) && !file.endsWith(EXPECTED))
    .filter((file) => existsSync(expectationPath(format, file)))
    .sort();

/** Imports a sample and compares. */
export const expectSample = async (format: string, file: string, importer: Import): Promise<void> => {
  const expected = JSON.parse(readFileSync(expectationPath(format, file), "utf8")) as Expectation;
  expectImport(await importSample(format, file, importer), expected);
};

export const importSample = async (
  format: string,
  file: string,
  importer: Import,
): Promise<CollectedImport> => collect(importer(await fileSource(join(FIXTURES, format, file)), options()));

const EXPECTED = ".expected.json";
const expectationPath = (format: string, file: string): string =>
  join(FIXTURES, format, file.replace(/\.jsonl?$/, EXPECTED));

const expectImport = (result: CollectedImport, expected: Expectation): void => {
  expect(result.format).toBe(expected.format);
  if (expected.files) expect(result.files).toEqual(expected.files);
  expect([...result.reports].sort()).toEqual([...expected.reports].sort());
  const sessions = result.sessions.filter(({ id }) => agentOf(id) === null);
  expect(sessions).toHaveLength(expected.sessions.length);
  for (const [index, session] of sessions.entries()) {
    const sidechains = result.sessions.filter(({ id }) => id.startsWith(`${session.id}/`));
    expectShape(session, sidechains, expected.sessions[index] as Expected);
  }
  for (const session of result.sessions) {
    expectLog(session.records);
    expectSummary(session);
  }
};

/** What an expectation does not name, there is none of. */
const NONE = {
  usage: null,
  sidechains: [],
  compactions: [],
  aliases: {},
  sameReply: [],
  statuses: {},
  audiences: {},
  labels: {},
  outside: [],
  contextAt: {},
} as const;

const expectShape = (session: Collected, sidechains: readonly Collected[], whole: Expected): void => {
  const { names: _, times = {}, models = {}, ...expected } = whole;
  const shape = shapeOf(session, sidechains, Object.keys(expected.contextAt ?? {}));
  for (const field of Object.keys(expected)) expect(Object.keys(shape)).toContain(field);
  const { times: allTimes, models: allModels, ...exact } = shape;
  expect(inAnyOrder(exact)).toEqual(inAnyOrder({ ...NONE, ...expected } as typeof exact));
  expect(allTimes).toMatchObject(times);
  expect(allModels).toMatchObject(models);
};

/** The order of these says nothing. */
const inAnyOrder = <T extends Pick<Shape, "branchPoints" | "reports" | "sidechains" | "sameReply">>(
  shape: T,
): T => ({
  ...shape,
  branchPoints: sorted(shape.branchPoints),
  reports: sorted(shape.reports),
  sidechains: sorted(shape.sidechains),
  sameReply: sorted(shape.sameReply),
});

const sorted = <T>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** A log that a store takes: valid records, seqs that rise, parents before children. */
export const expectLog = (records: readonly LogRecord[]): void => {
  const seen = new Set<string | null>([null]);
  let last = 0;
  for (const record of records) {
    expect(record.seq).toBeGreaterThan(last);
    last = record.seq;
    expect(jsonFault(record)).toBeNull();
    const parsed = recordSchema.safeParse(record);
    if (!parsed.success) throw new Error(`${JSON.stringify(record).slice(0, 500)}\n${parsed.error.message}`);
    if (record.kind !== "entry") continue;
    expect(seen).toContain(record.parentId);
    expect(seen).not.toContain(record.id);
    seen.add(record.id);
  }
};

const expectSummary = (session: Collected): void => {
  const { id, title, records, summary } = session;
  const tree = createTree();
  for (const record of records) tree.apply(record);
  const sourceIds = (ids: readonly string[]) =>
    ids.map((each) => sourceIdOf((tree.get(each as EntryId) as TreeNode).entry));
  const shape = shapeOf(session);
  expect({ id: summary.id, title: summary.title, entries: summary.entries }).toEqual({
    id,
    title,
    entries: tree.size,
  });
  expect(sourceIds(summary.roots)).toEqual(shape.roots);
  expect(sourceIds(summary.activeLine)).toEqual(shape.activeLine);
  expect(summary.branchPoints).toHaveLength(shape.branchPoints.length);
};
