/** Every sample of a ChatGPT export gives its expectation, in every field. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createTree,
  type EntryId,
  type Json,
  jsonFault,
  type LogRecord,
  type TreeNode,
} from "@espalier/shared";
import { recordSchema } from "@espalier/shared/schema";
import { describe, expect, test } from "vitest";
import type { ImportedSession } from "../../server/src/import/foreign.js";
import { FIXTURES, importFixture } from "./kit.js";
import { type Shape, shapeOf, sourceIdOf } from "./shape.js";

type Expectation = {
  format: string;
  files?: string[];
  sessions: (Partial<Shape> & { names?: Json })[];
  reports: string[];
};

const KNOWN_FIELDS = new Set<string>([
  "title",
  "entries",
  "byType",
  "roots",
  "branchPoints",
  "activeLine",
  "visibleText",
  "contextText",
  "audiences",
  "statuses",
  "times",
  "reports",
  "names",
]);

const samples = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".json") && !file.endsWith(".expected.json"))
  .filter((file) => file !== "sharded-missing/conversations-000.json")
  .sort();

describe("samples", () => {
  test("there are some", () => expect(samples).toHaveLength(10));

  test.each(samples)("%s", async (file) => {
    const expected = JSON.parse(
      readFileSync(join(FIXTURES, file.replace(/\.json$/, ".expected.json")), "utf8"),
    ) as Expectation;
    const result = await importFixture(file);
    expect(result.format).toBe(expected.format);
    if (expected.files) expect(result.files).toEqual(expected.files);
    expect([...result.reports].sort()).toEqual([...expected.reports].sort());
    expect(result.sessions).toHaveLength(expected.sessions.length);
    for (const [index, session] of result.sessions.entries()) {
      expectShape(session, expected.sessions[index] as Expectation["sessions"][number]);
      expectLog(session.records);
      expectSummary(session);
    }
  });
});

const expectShape = (session: ImportedSession, expected: Expectation["sessions"][number]): void => {
  for (const field of Object.keys(expected)) expect(KNOWN_FIELDS).toContain(field);
  const { names: _, times = {}, audiences = {}, statuses = {}, ...exact } = expected;
  const shape = shapeOf(session);
  const sort = (list: Shape["branchPoints"]) => list.map((each) => JSON.stringify(each)).sort();
  expect({ ...shape, branchPoints: sort(shape.branchPoints), reports: shape.reports.sort() }).toMatchObject({
    ...exact,
    branchPoints: sort(exact.branchPoints ?? []),
    reports: (exact.reports ?? []).sort(),
  });
  expect(shape.audiences).toEqual(audiences);
  expect(shape.statuses).toEqual(statuses);
  expect(shape.times).toMatchObject(times);
};

/** A log that a store takes: valid records, seqs that rise, parents before children. */
const expectLog = (records: readonly LogRecord[]): void => {
  const seen = new Set<string | null>([null]);
  for (const [index, record] of records.entries()) {
    expect(record.seq).toBe(index + 1);
    expect(jsonFault(record)).toBeNull();
    expect(recordSchema.safeParse(record).success).toBe(true);
    if (record.kind !== "entry") continue;
    expect(seen).toContain(record.parentId);
    seen.add(record.id);
  }
};

const expectSummary = ({ id, title, records, summary }: ImportedSession): void => {
  const tree = createTree();
  for (const record of records) tree.apply(record);
  const sourceIds = (ids: readonly string[]) =>
    ids.map((each) => sourceIdOf((tree.get(each as EntryId) as TreeNode).entry));
  const shape = shapeOf({ id, title, records, summary } as ImportedSession);
  expect({ id: summary.id, title: summary.title, entries: summary.entries }).toEqual({
    id,
    title,
    entries: tree.size,
  });
  expect(sourceIds(summary.roots)).toEqual(shape.roots);
  expect(sourceIds(summary.activeLine)).toEqual(shape.activeLine);
  expect(summary.branchPoints).toHaveLength(shape.branchPoints.length);
};
