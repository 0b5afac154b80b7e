/** What the samples of Claude Code do not show: odd content, states, forks, sidechains, sizes. */
import type { Json, MessageEntry } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { detectClaudeCode, importClaudeCode } from "../../server/src/import/claude-code.js";
import { collect, entriesOf, memorySource, options, soleSession } from "./kit.js";
import { shapeOf } from "./shape.js";

type Fields = { readonly [key: string]: Json };

let clock = 0;
const at = () => new Date(1_900_000_000_000 + 1000 * clock++).toISOString();

const said = (uuid: string, parentUuid: string | null, type: string, message: Fields, more: Fields = {}) => ({
  ...{ parentUuid, isSidechain: false, sessionId: "s1", type, message: { role: type, ...message } },
  ...{ uuid, timestamp: at(), ...more },
});
const user = (uuid: string, parent: string | null, content: Json = uuid, more: Fields = {}) =>
  said(uuid, parent, "user", { content }, more);
const reply = (
  uuid: string,
  parent: string | null,
  content: Json = uuid,
  id = `msg-${uuid}`,
  more: Fields = {},
) => said(uuid, parent, "assistant", { id, content }, more);
const call = (id: string, input: Json = {}) => [{ type: "tool_use", id, name: "Read", input }];
const result = (id: string, content: Json = id) => [{ type: "tool_result", tool_use_id: id, content }];

const linesOf = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");
const importRecords = (
  records: readonly object[],
  beside: Readonly<Record<string, string>> = {},
  name = "s.jsonl",
) => collect(importClaudeCode(memorySource({ [name]: linesOf(records), ...beside }), options()));
const soleShape = async (records: readonly object[]) => shapeOf(soleSession(await importRecords(records)));
const entryOf = async (records: readonly object[], id: string) =>
  entriesOf(soleSession(await importRecords(records))).find((entry) => entry.id === id) as MessageEntry;

describe("[import] Claude content", () => {
  test("images and documents are files, here or elsewhere", async () => {
    const base64 = (type: string, media_type: string) => ({
      type,
      source: { type: "base64", media_type, data: "AA==" },
    });
    const image = { type: "image", source: { type: "url", url: "https://x.test/a.png" } };
    const blocks = [base64("image", "image/png"), base64("document", "application/pdf"), image];
    expect((await entryOf([user("u", null, blocks)], "u")).parts).toEqual([
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==" },
      { type: "file", mediaType: "application/pdf", url: "data:application/pdf;base64,AA==" },
      { type: "file", mediaType: "image/*", url: "https://x.test/a.png" },
    ]);
  });

  test("a result's text stays text; its images follow it; what else it holds stays as it is", async () => {
    const text = { type: "text", text: "seen" };
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } };
    const records = [
      reply("a", null, [...call("c1"), ...call("c2")]),
      user("r1", "a", result("c1", [text, image])),
      user("r2", "r1", result("c2", [text, { type: "tool_reference", tool: "x" }])),
    ];
    expect((await entryOf(records, "r1")).parts).toMatchObject([
      { type: "tool-result", output: "seen" },
      { type: "file", mediaType: "image/png" },
    ]);
    expect((await entryOf(records, "r2")).parts).toMatchObject([
      { output: [text, { type: "tool_reference" }] },
    ]);
  });

  test("a record of text and results together is the user's, and closes the call", async () => {
    const records = [
      reply("a", null, call("c")),
      user("m", "a", [...result("c"), { type: "text", text: "and this" }]),
    ];
    const { role, parts } = await entryOf(records, "m");
    expect([role, parts.map(({ type }) => type)]).toEqual(["user", ["tool-result", "text"]]);
    expect((await soleShape(records)).reports).toEqual([]);
  });

  test.each([
    ["an error of the service", "an error", { isApiErrorMessage: true }, "failed"],
    ["nothing at all", [], {}, "aborted"],
  ] as const)("%s", async (_, content, more, status) => {
    const { statuses, reports } = await soleShape([
      user("u", null),
      reply("a", "u", content as Json, "m", more),
    ]);
    expect([statuses, reports]).toEqual([{ a: status }, []]);
  });

  test("what no field of ours holds is in meta", async () => {
    const block = { type: "thinking", thinking: "hm", signature: "c2ln" };
    const entry = await entryOf([reply("a", null, [block], "m", { requestId: "q", gitBranch: "main" })], "a");
    expect(entry.meta).toEqual({
      replyId: "m",
      source: { requestId: "q", gitBranch: "main", blocks: { 0: { signature: "c2ln" } } },
    });
  });

  test("an unknown block is data and reported", async () => {
    const { parts } = await entryOf([user("u", null, [{ type: "smell", of: "rye" }])], "u");
    expect(parts).toEqual([{ type: "data", name: "smell", data: { type: "smell", of: "rye" } }]);
    expect((await soleShape([user("u", null, [{ type: "smell" }])])).reports).toEqual([
      'line 1: unknown content type "smell"; kept as data',
    ]);
  });
});

describe("[import] Claude lines", () => {
  test("a reply's calls that hang side by side are one line", async () => {
    const records = [
      user("u", null),
      reply("c1", "u", call("t1"), "m"),
      reply("c2", "u", call("t2"), "m"),
      user("r2", "c2", result("t2")),
      user("r1", "c1", result("t1")),
      reply("a", "r2"),
    ];
    const { activeLine, branchPoints } = await soleShape(records);
    expect([activeLine, branchPoints]).toEqual([["u", "c1", "c2", "r2", "r1", "a"], []]);
  });

  test("a note that hangs beside what came next is no alternative, also when it comes late", async () => {
    const note = { parentUuid: "c", sessionId: "s1", type: "progress", uuid: "p", timestamp: at() };
    const records = [
      user("u", null),
      reply("c", "u", call("t")),
      user("r", "c", result("t")),
      reply("a", "r"),
      note,
    ];
    const { activeLine, branchPoints } = await soleShape(records);
    expect([activeLine, branchPoints]).toEqual([["u", "c", "r", "p", "a"], []]);
  });

  test("a prompt that hangs from a reply beside its results is a rewind", async () => {
    const records = [
      user("u", null),
      reply("c", "u", call("t")),
      user("r", "c", result("t")),
      reply("a", "r"),
      user("u2", "c"),
    ];
    const { activeLine, branchPoints } = await soleShape(records);
    expect(branchPoints).toEqual([{ parent: "c", children: ["r", "u2"] }]);
    expect(activeLine).toEqual(["u", "c", "u2"]);
  });

  test("50,000 records deep", { timeout: 60_000 }, async () => {
    const records = Array.from({ length: 50_000 }, (_, index) =>
      user(`u${index}`, index === 0 ? null : `u${index - 1}`, "x"),
    );
    const { summary } = soleSession(await importRecords(records));
    expect(summary.activeLine).toHaveLength(50_000);
  });
});

describe("[import] Claude sessions", () => {
  test("[L8] the file's name where it is an id of theirs, else the records', else the name", async () => {
    const uuid = "cc0d0001-0000-4000-8000-000000005e55";
    const idOf = async (name: string, sessionId: Json) =>
      soleSession(await importRecords([user("u", null, "x", { sessionId })], {}, name)).id;
    expect(await idOf(`${uuid}.jsonl`, "s1")).toBe(uuid);
    expect(await idOf("copy.jsonl", "s1")).toBe("s1");
    expect(await idOf("copy.jsonl", null)).toBe("copy");
    expect(await idOf("a copy.jsonl", "not / an id")).toMatch(/^fresh/);
  });

  test("[L8] an id that does not fit gets a fresh one, and is kept", async () => {
    const session = soleSession(await importRecords([user("a b", null), reply("ü", "a b")]));
    expect(entriesOf(session).map(({ id }) => id)).toEqual(["fresh1", "fresh2"]);
    expect(shapeOf(session).activeLine).toEqual(["a b", "ü"]);
  });

  test("[F5] two agents in the session's file with the same prompt have one call each", async () => {
    const inline = { isSidechain: true };
    const records = [
      user("u", null),
      reply("c1", "u", call("t1", { prompt: "dig" }), "m"),
      reply("c2", "c1", call("t2", { prompt: "dig" }), "m"),
      user("x1", null, "dig", inline),
      user("y1", null, "dig", inline),
      reply("x2", "x1", "done", "mx", inline),
    ];
    const { sessions } = await importRecords(records);
    expect(sessions.map(({ id, origin }) => [id, origin?.entry, origin?.callId])).toEqual([
      ["s1", undefined, undefined],
      ["s1/x1", "c1", "t1"],
      ["s1/y1", "c2", "t2"],
    ]);
  });

  test("[F5] agents that name each other's calls never began each other", async () => {
    const agent = (id: string, calls: string) => linesOf([reply(`${id}1`, null, call(calls))]);
    const { sessions } = await importRecords([user("u", null)], {
      "s/subagents/agent-a.jsonl": agent("a", "ta"),
      "s/subagents/agent-a.meta.json": '{"toolUseId":"tb"}',
      "s/subagents/agent-b.jsonl": agent("b", "tb"),
      "s/subagents/agent-b.meta.json": '{"toolUseId":"ta"}',
    });
    expect(sessions.map(({ origin }) => origin?.session)).toEqual([undefined, "s1/b", "s1"]);
  });

  test("an agent's file alone is a session", async () => {
    const records = [user("u", null, "dig", { isSidechain: true, agentId: "a" })];
    expect((await soleShape(records)).entries).toBe(1);
  });

  test("what has no place is spread over entries that can still be sent", async () => {
    const big = (index: number) => ({
      type: "file-history-snapshot",
      messageId: "u",
      at: index,
      text: "x".repeat(200_000),
    });
    const records = [user("u", null), ...Array.from({ length: 12 }, (_, index) => big(index))];
    for (let index = 0; index < 8; index++)
      records.push(user(`u${index}`, index === 0 ? "u" : `u${index - 1}`));
    const session = soleSession(await importRecords(records));
    expect(shapeOf(session).outside).toHaveLength(12);
    for (const entry of entriesOf(session)) expect(JSON.stringify(entry).length).toBeLessThan(800_000);
  });

  test("a file with no message has no session", async () => {
    const { sessions, reports } = await importRecords([{ type: "summary", summary: "s", leafUuid: "gone" }]);
    expect(sessions).toEqual([]);
    expect(reports).toEqual([
      "line 1: summary of gone, which is not in the file; kept beside the tree",
      "s.jsonl: no messages; skipped",
    ]);
  });

  test.each(["", "\n\n", "hello", "{"])("a file that is none is refused: %j", async (text) => {
    await expect(
      collect(importClaudeCode(memorySource({ "x.jsonl": text }), options())),
    ).rejects.toMatchObject({
      code: "invalid",
      message: "unable to import x.jsonl; it holds no record of Claude Code",
    });
    expect(detectClaudeCode(new TextEncoder().encode(text))).toBe(false);
  });
});

test("[F5] [import] a subagent's file without its session's is a sidechain, and not that session", async () => {
  const records = [
    user("p", null, "Look", { isSidechain: true, agentId: "x1" }),
    reply("q", "p", "Done", "m", { isSidechain: true, agentId: "x1" }),
  ];
  const source = memorySource({ "agent-x1.jsonl": linesOf(records) });
  const session = soleSession(await collect(importClaudeCode(source, options())));
  expect(session.id).toBe("s1/x1");
  expect(entriesOf(session)).toHaveLength(2);
});
