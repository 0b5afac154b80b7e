/** Espalier's own files: exports, and sessions' files as the store writes them; also damaged ones. */
import { type Erase, type LogRecord, sizeOfDeltas } from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detectEspalier, importEspalier } from "../../server/src/import/espalier.js";
import { withErasures } from "../../server/src/store/erasing.js";
import { foldOf, randomWholeLog } from "../export/kit.js";
import { append, message, register, streaming } from "../shared/records.js";
import { collect, collectWhole, memorySource, options, soleSession } from "./kit.js";

const HEADER = { kind: "espalier-export", version: 1, id: "plans", title: "Plans", createdAt: 7, leaf: null };
const OWN = { kind: "session", version: 1, id: "plans", createdAt: 7, epoch: "E1" };

const lines = (...values: readonly (object | string)[]): string =>
  values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("");

const read = (text: string | Uint8Array, pieceBytes = 7) =>
  collect(importEspalier(memorySource({ "plans.jsonl": text }, pieceBytes), options()));

const one = async (...values: readonly (object | string)[]) =>
  soleSession(await read(lines(HEADER, ...values)));

describe("which files are taken", () => {
  test.each([
    ["an export", lines(HEADER), true],
    ["a session's own file", lines(OWN), true],
    ["a header that is cut off", JSON.stringify({ ...HEADER, title: "x".repeat(2000) }).slice(0, 900), true],
    ["another program's session", lines({ type: "session", version: 3, id: "x" }), false],
    ["a list", "[]", false],
    ["text that speaks of it", 'He wrote "kind":"session" and "version":1', false],
    ["nothing", "", false],
  ])("%s", (_, text, is) => {
    expect(detectEspalier(new TextEncoder().encode(text))).toBe(is);
  });

  test("a newer version is refused; so is a file without a header", async () => {
    const refused = async (text: string) =>
      (await collectWhole(importEspalier(memorySource({ "p.jsonl": text }), options()))).error;
    expect(await refused(lines({ ...HEADER, version: 2 }))).toMatchObject({
      code: "newer_version",
      message: "unable to import p.jsonl; it has version 2, and this program knows 1",
    });
    expect(await refused(lines(message("a", null, 1)))).toMatchObject({ code: "invalid" });
  });
});

test("[T1] a session's own file comes back as its log, appends and all; epochs say nothing", async () => {
  await fc.assert(
    fc.asyncProperty(randomWholeLog, async (log) => {
      const middle = Math.floor(log.length / 2);
      const epoch = { kind: "epoch", epoch: "E2", floor: log[middle - 1]?.seq ?? 0 };
      const text = lines(OWN, ...log.slice(0, middle), epoch, ...log.slice(middle));
      const session = soleSession(await read(text, 1000));
      expect(session.summary.reports).toEqual([]);
      expect(session.records).toEqual(log);
    }),
    { numRuns: 200 },
  );
});

test("several sessions in one file are each a session; an id is used once", async () => {
  const { sessions } = await read(
    lines(
      HEADER,
      message("a", null, 1),
      { ...HEADER, id: "Plans" },
      message("b", null, 1),
      HEADER,
      message("c", null, 1),
      { ...OWN, id: "x/y" },
    ),
  );
  expect(sessions.map(({ id, summary }) => [id, summary.entries])).toEqual([
    ["plans", 1],
    // Ids that differ in case are two.
    ["Plans", 1],
    ["plans-2", 1],
    ["x/y", 0],
  ]);
  expect(sessions[2]?.summary.reports).toEqual([
    'line 5: "plans" is used by an earlier session; this one is plans-2',
  ]);
});

test("where it comes from is kept; what it only shared is told to be missing", async () => {
  const origin = { session: "old", entry: "e", isShared: true };
  const session = soleSession(await read(lines({ ...OWN, origin, inherited: 4 }, message("a", "e", 5))));
  expect(session).toMatchObject({ origin: { session: "old", entry: "e" }, inherited: 4 });
  expect(session.origin).not.toHaveProperty("isShared");
  expect(session.summary.reports).toEqual([
    "line 1: it shares its beginning with old, which is not in this file",
    "line 2: parent e is not in the file; becomes a root",
  ]);
});

describe("damage is reported with its line, and the rest is taken", () => {
  test.each<[string, readonly (object | string)[], string, number]>([
    ["no JSON", ["{nonsense"], "line 2: not JSON; skipped", 0],
    ["no kind", [{ seq: 1 }], "line 2: it has no kind; skipped", 0],
    ["no seq", [{ kind: "entry" }], "line 2: it has no seq; skipped", 0],
    ["another shape", [{ ...message("a", null, 1), parts: 5 }], "line 2: its parts is not right", 0],
    [
      "an append to nothing",
      [append("a", 1, 0, ["x"])],
      "line 2: it goes on with a, which is not in the file; skipped",
      0,
    ],
    [
      "an id twice",
      [message("a", null, 1), message("a", null, 2)],
      "line 3: the id a is used by an earlier entry; skipped",
      1,
    ],
    ["a lost parent", [message("a", "z", 1)], "line 2: parent z is not in the file; becomes a root", 1],
    [
      "a seq that falls",
      [message("a", null, 5), message("b", "a", 3)],
      "line 3: its seq 3 does not rise; it is 6",
      2,
    ],
  ])("%s", async (_, values, report, entries) => {
    const { summary } = await one(...values);
    expect(summary.reports.join("\n")).toContain(report);
    expect(summary.entries).toBe(entries);
  });

  test("what is missing in a stream is left out, and what follows goes on", async () => {
    const session = await one(
      streaming("a", null, 1),
      append("a", 2, 0, ["one "]),
      append("a", 4, 8, ["three"], { status: "complete" }),
    );
    expect(session.summary.reports).toEqual(["line 4: what a said before it is missing; it goes on without"]);
    expect(JSON.parse(foldOf(session.records)).entries[0]).toMatchObject({
      status: "complete",
      size: sizeOfDeltas([{ text: "one three" }]),
      parts: [{ text: "one three" }],
    });
  });

  test("whichever line is lost, what comes of it is a log", async () => {
    await fc.assert(
      fc.asyncProperty(randomWholeLog, fc.nat(), async (log, pick) => {
        const lost = log.filter((_, index) => index !== pick % Math.max(1, log.length));
        const { records } = await one(...lost);
        const ids = new Set<string | null>([null]);
        let head = 0;
        for (const record of records as LogRecord[]) {
          expect(record.seq).toBeGreaterThan(head);
          head = record.seq;
          if (record.kind !== "entry") continue;
          expect(ids).toContain(record.parentId);
          expect(ids).not.toContain(record.id);
          ids.add(record.id);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("[L5] what a newer version wrote is kept as it is", async () => {
    const entry = { ...message("a", null, 1), type: "poem", verses: [1], colour: "red" };
    const parts = [
      { type: "text", text: "x", tone: "low" },
      { type: "smell", of: "hay" },
    ];
    const newer = { ...message("b", "a", 2), parts, mood: "calm" };
    const weather = { kind: "weather", seq: 3, time: 1, is: "fine" };
    const { records, summary } = await one(entry, newer, weather);
    expect(records).toEqual([entry, newer, weather]);
    expect(summary.reports).toEqual([]);
  });
});

test("the shape is told as it is in the log: roots, branch points, and the line that is shown", async () => {
  const { summary } = await one(
    message("a", null, 1),
    message("b", "a", 2),
    message("c", "a", 3),
    register("view:active", 4, "b"),
  );
  expect(summary).toMatchObject({
    title: "Plans",
    entries: 3,
    roots: ["a"],
    branchPoints: [{ parent: "a", children: ["b", "c"] }],
    activeLine: ["a", "b"],
  });
});

test("[L2] an entry that was erased comes back from a session's own file, where its erase says by whom", async () => {
  const { parts: _, role, ...rest } = message("b", "a", 2);
  const bare = { ...rest, type: "erased", role };
  const erase = { kind: "erase", id: "b", seq: 4, time: 44, author: "root" };
  const session = soleSession(
    await read(lines(OWN, message("a", null, 1), bare, message("c", "b", 3), erase)),
  );
  expect(session.summary).toMatchObject({ entries: 3, roots: ["a"], reports: [] });
  expect(session.records[1]).toMatchObject({
    id: "b",
    parentId: "a",
    rev: 4,
    erasedAt: 44,
    erasedBy: "root",
  });
});

test("[L5] what has no type, or a part without one, is no record of any version", async () => {
  const { type: _, ...untyped } = message("b", "a", 2);
  const oddPart = { ...message("c", "a", 3), parts: [{ text: "x" }] };
  const session = await one(message("a", null, 1), untyped, oddPart, { ...message("d", "a", 4), type: 7 });
  expect(session.records.map((record) => "id" in record && record.id)).toEqual(["a"]);
  expect(session.summary.reports).toHaveLength(3);
});

test("[L2] an erased entry whose erase is lost is taken for erased by its author, and told", async () => {
  const { parts: _, role, ...rest } = message("b", null, 1);
  const session = soleSession(await read(lines(OWN, { ...rest, type: "erased", role })));
  expect(session.records).toMatchObject([{ id: "b", erasedAt: rest.time, erasedBy: rest.author }]);
  expect(session.summary.reports).toEqual([
    "line 2: b was erased, and nothing says when or by whom; taken for its author",
  ]);
});

test("[L2] an erased entry with appends comes back as a reader of the store sees it", async () => {
  const usage = { input: 1, output: 2 };
  const erase = { kind: "erase", id: "a", seq: 4, time: 44, author: "root" } as Erase;
  const log: LogRecord[] = [
    streaming("a", null, 1),
    append("a", 2, 0, ["one "]),
    append("a", 3, 4, ["two"], { status: "complete", usage }),
    erase,
  ];
  const whole = withErasures(log);
  const stored = whole.map((each) => {
    if (each.kind !== "entry" || each.type !== "erased") return each;
    const { erasedAt: _at, erasedBy: _by, usage: _usage, ...bare } = each;
    return { ...bare, rev: each.seq };
  });
  const { records, summary } = soleSession(await read(lines(OWN, ...stored)));
  expect(records).toEqual(whole);
  expect(summary.reports).toEqual([]);
});

test("[import] sessions put one behind the other have the same ids at every import", async () => {
  const text = lines(
    ...[{ ...HEADER, id: "no id" }, message("x", null, 1)],
    ...[HEADER, message("a", null, 1)],
    ...[HEADER, message("b", null, 1)],
    ...[HEADER, message("b", null, 1)],
    ...[HEADER, message("a", null, 1)],
  );
  const { sessions, reports } = await read(text);
  const ids = sessions.map(({ id }) => id);
  expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), "plans", "plans-2"]);
  expect(reports).toEqual([
    "line 7: repeats an earlier session exactly; ignored",
    "line 9: repeats an earlier session exactly; ignored",
  ]);
  expect((await read(text)).sessions.map(({ id }) => id)).toEqual(ids);
});
