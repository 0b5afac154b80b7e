/** What the samples of pi do not show: odd content, states, lost headers, what a compaction keeps. */
import type { CompactionEntry, Json, MessageEntry } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { detectPi, importPi } from "../../server/src/import/pi.js";
import { collect, entriesOf, memorySource, options, soleSession } from "./kit.js";
import { shapeOf } from "./shape.js";

type Fields = { readonly [key: string]: Json };

const HEADER = { type: "session", version: 3, id: "p1", timestamp: "2031-04-01T08:00:00.000Z", cwd: "/demo" };
const TIME = "2031-04-01T08:00:11.000Z";
const record = (id: string, parentId: string | null, type: string, fields: Fields) => ({
  ...{ type, id, parentId, timestamp: TIME },
  ...fields,
});
const message = (id: string, parentId: string | null, role: string, fields: Fields) =>
  record(id, parentId, "message", { message: { role, ...fields } });
const user = (id: string, parentId: string | null, content: Json = id) =>
  message(id, parentId, "user", { content });

const importRecords = (records: readonly object[], name = "p.jsonl") =>
  collect(
    importPi(
      memorySource({ [name]: records.map((each) => `${JSON.stringify(each)}\n`).join("") }),
      options(),
    ),
  );
const sole = async (records: readonly object[]) => soleSession(await importRecords([HEADER, ...records]));
const entryOf = async (records: readonly object[], id: string) =>
  entriesOf(await sole(records)).find((entry) => entry.id === id);

describe("[import] pi content", () => {
  test.each([
    [{ command: "ls", output: "" }, "Ran `ls`\n(no output)"],
    [{ command: "ls", output: "x", exitCode: 2 }, "Ran `ls`\n```\nx\n```\n\nCommand exited with code 2"],
    [{ command: "ls", cancelled: true, exitCode: 2 }, "Ran `ls`\n(no output)\n\n(command cancelled)"],
  ])("a command that the user ran: %j", async (fields, text) => {
    const entry = (await entryOf([message("b", null, "bashExecution", fields)], "b")) as MessageEntry;
    expect([entry.role, entry.parts]).toEqual(["user", [{ type: "text", text }]]);
  });

  test.each([
    ["aborted", "so far", "aborted"],
    ["error", "so far", "failed"],
    ["stop", [], "aborted"],
    ["stop", "so far", "complete"],
  ] as const)("a reply that ended with %s after %j", async (stopReason, content, status) => {
    const entry = await entryOf(
      [message("a", null, "assistant", { content: content as Json, stopReason })],
      "a",
    );
    expect(entry?.status).toBe(status);
  });

  test("cost and cached tokens of a reply", async () => {
    const usage = { input: 10, output: 2, cacheRead: 90, cacheWrite: 5, cost: { total: 0.25 } };
    const entry = await entryOf([message("a", null, "assistant", { content: "x", model: "m", usage })], "a");
    expect(entry?.usage).toEqual({ input: 10, output: 2, cachedInput: 90, costUsd: 0.25, model: "m" });
  });

  test("a record that has not the shape of its type is a custom entry, with all it says", async () => {
    const records = [
      record("m", null, "model_change", { provider: 5 }),
      message("r", "m", "gardener", { content: "the words of a role that is not known" }),
      record("c", "r", "compaction", { summary: { odd: true } }),
    ];
    const shape = shapeOf(await sole(records));
    expect(shape.byType).toEqual({ custom: 3 });
    expect(shape.reports).toEqual([
      'line 2: unknown record type "model_change"; kept as a custom entry',
      'line 3: unknown record type "gardener"; kept as a custom entry',
      'line 4: unknown record type "compaction"; kept as a custom entry',
    ]);
    expect(JSON.stringify(await entryOf(records, "r"))).toContain("the words of a role");
  });
});

describe("[import] pi compactions", () => {
  const kept = async (fields: Fields) => {
    const records = [
      user("a", null),
      user("b", "a"),
      record("l", "b", "label", { targetId: "a", label: "x" }),
      record("c", "l", "compaction", { summary: "s", ...fields }),
      user("other", "a"),
    ];
    const session = await sole(records);
    const entry = entriesOf(session).find(({ id }) => id === "c") as CompactionEntry;
    return { ...entry, reports: session.summary.reports };
  };
  const said = (content: string) => ({ role: "user", content });

  test("[C3] a retained tail is found behind what is no message", async () => {
    expect(await kept({ retainedTail: [said("a"), said("b")] })).toMatchObject({
      firstKeptId: "a",
      upToId: "l",
      reports: [],
    });
    expect(await kept({ retainedTail: [said("b")] })).toMatchObject({ firstKeptId: "b", reports: [] });
  });

  test("[C3] a retained tail that stands nowhere is kept in the source alone", async () => {
    const entry = await kept({ retainedTail: [said("elsewhere"), said("b")] });
    expect(entry.firstKeptId).toBeNull();
    expect(JSON.stringify(entry.meta)).toContain("elsewhere");
    expect(entry.reports).toEqual([
      "line 5: what it retained does not stand above it; kept in its source only",
    ]);
  });

  test("[C3] what is not above it is not kept", async () => {
    expect(await kept({ firstKeptEntryId: "other" })).toMatchObject({ firstKeptId: null });
    expect(await kept({ firstKeptEntryId: "gone" })).toMatchObject({ firstKeptId: null });
    expect(await kept({ firstKeptEntryId: "a" })).toMatchObject({ firstKeptId: "a", reports: [] });
  });
});

describe("[import] pi sessions", () => {
  test("[L8] the header's id, else the file's name", async () => {
    expect((await sole([user("a", null)])).id).toBe("p1");
    expect(soleSession(await importRecords([user("a", null)], "t_1.jsonl")).id).toBe("t_1");
  });

  test("a file that lost its header is a tree where its records have ids, else a line", async () => {
    const tree = soleSession(await importRecords([user("a", null), user("b", "a"), user("c", "a")]));
    expect(shapeOf(tree).branchPoints).toEqual([{ parent: "a", children: ["b", "c"] }]);
    const { id: _, parentId: __, ...bare } = user("a", null);
    const line = soleSession(await importRecords([bare, bare]));
    expect(shapeOf(line).activeLine).toEqual(["#1", "#2"]);
  });

  test("a record that lost its id is kept beside the tree", async () => {
    const { id: _, ...bare } = user("x", "a", "the words of one without an id");
    const session = await sole([user("a", null), bare]);
    expect(shapeOf(session).outside).toEqual([{ line: 3, type: "message" }]);
    expect(JSON.stringify(session.records)).toContain("the words of one without an id");
  });

  test("a branch summary from before the first entry, or of nothing in the file", async () => {
    const records = [
      record("s", null, "branch_summary", { fromId: "root", summary: "before" }),
      record("t", "s", "branch_summary", { fromId: "gone", summary: "lost" }),
    ];
    const session = await sole(records);
    expect(entriesOf(session)).toMatchObject([{ fromId: "s" }, { fromId: "s" }]);
    expect(session.summary.reports).toEqual(["line 3: branch summary of gone, which is not in the file"]);
  });

  test("a name that is taken back is no title", async () => {
    const named = (id: string, parentId: string | null, fields: Fields) =>
      record(id, parentId, "session_info", fields);
    expect((await sole([named("a", null, { name: "Rye" })])).title).toBe("Rye");
    expect((await sole([named("a", null, { name: "Rye" }), named("b", "a", {})])).title).toBeNull();
  });

  test.each(["", "hello", '{"type":"x"}'])("a file that is none: %j", async (text) => {
    expect(detectPi(new TextEncoder().encode(text))).toBe(false);
    if (text.startsWith("{")) return;
    await expect(collect(importPi(memorySource({ "x.jsonl": text }), options()))).rejects.toMatchObject({
      code: "invalid",
      message: "unable to import x.jsonl; it holds no record of pi",
    });
  });
});

test("[import] sessions put one behind the other are each a session; a repeated header begins none", async () => {
  const second = { ...HEADER, id: "p2" };
  const records = [HEADER, user("a", null), HEADER, second, user("a", null, "other"), user("b", "a"), HEADER];
  const { sessions } = await importRecords([...records, user("c", "a")]);
  expect(sessions.map(({ id, summary }) => [id, summary.activeLine])).toEqual([
    ["p1", ["a", "c"]],
    ["p2", ["a", "b"]],
  ]);
  const { sessions: odd } = await importRecords([
    HEADER,
    user("a", null),
    { ...second, id: "p 2" },
    user("b", null),
  ]);
  expect(odd.map(({ id }) => id)).toEqual(["p1", "p-2"]);
});

test("[import] of a file of another format there is no session, and it is said so", async () => {
  await expect(importRecords([{ a: 1 }, { b: 2 }])).rejects.toMatchObject({
    code: "invalid",
    message: "unable to import p.jsonl; it holds no record of pi",
  });
});
