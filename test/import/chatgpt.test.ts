/** ChatGPT exports as files, and as sessions with ids, authors and times. */
import type { PrincipalId } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { importChatGpt } from "../../server/src/import/chatgpt.js";
import { importSample } from "./expectation.js";
import {
  collect,
  collectWhole,
  conversation,
  entriesOf,
  importJson,
  importText,
  memorySource,
  NOW,
  node,
  options,
  soleSession,
} from "./kit.js";
import { shapeOf, sourceIdOf } from "./shape.js";

describe("what is imported", () => {
  test("a single conversation object", async () => {
    const session = soleSession(await importJson(conversation([node("a", null), node("b", "a")])));
    expect(shapeOf(session).activeLine).toEqual(["a", "b"]);
  });

  test("an empty array is an export without conversations", async () => {
    expect(await importJson([])).toEqual({
      format: "chatgpt",
      files: ["export.json"],
      sessions: [],
      reports: ["no conversation in it"],
    });
  });

  test.each([
    ["another format", JSON.stringify([{ conversationId: "x", messages: [] }])],
    ["a number", "5"],
    ["an object", `{"hello":1}`],
    ["text", "hello"],
    ["nothing", ""],
    ["cut off", JSON.stringify([conversation([node("a", null)])]).slice(0, -9)],
  ])("%s is refused with one clear error", async (_, content) => {
    await expect(importText(content)).rejects.toMatchObject({
      name: "EspalierError",
      code: "invalid",
      message: expect.stringMatching(/^unable to import export\.json; it /),
    });
  });

  test("a manifest reads nothing outside its folder", async () => {
    const files = ["../secret.json", "/etc/hosts", "a/../../b.json", "c:\\d.json", "ok.json"];
    const source = memorySource({
      "export_manifest.json": JSON.stringify({ logical_files: { "conversations.json": { files } } }),
      "ok.json": JSON.stringify([conversation([node("a", null)])]),
    });
    const asked: string[] = [];
    const beside = (name: string) => {
      asked.push(name);
      return source.beside(name);
    };
    const result = await collect(importChatGpt({ ...source, beside }, options()));
    expect(asked).toEqual(["ok.json"]);
    expect(result.files).toEqual(["ok.json"]);
    expect(result.reports).toHaveLength(4);
  });

  test("of a shard that is cut off what is whole is imported, the rest is told, and the next shard read", async () => {
    const first = JSON.stringify([conversation([node("a", null)]), conversation([node("b", null)])]);
    const importing = importChatGpt(
      memorySource({
        "m.json": JSON.stringify({
          logical_files: { "conversations.json": { files: ["a.json", "b.json"] } },
        }),
        "a.json": first.slice(0, -9),
        "b.json": JSON.stringify([conversation([node("c", null)])]),
      }),
      options(),
    );
    const { sessions, error } = await collectWhole(importing);
    expect(sessions.map((session) => shapeOf(session).roots)).toEqual([["a"], ["c"]]);
    expect(importing.reports).toEqual([
      expect.stringMatching(/^a\.json: .*its other conversations are missing$/),
    ]);
    expect(error).toMatchObject({
      code: "invalid",
      message: "unable to import all of m.json; a.json cannot be read",
    });
  });

  test("of a list that is cut off what is whole is imported, and the cut is an error", async () => {
    const text = JSON.stringify([conversation([node("a", null)]), conversation([node("b", null)])]);
    const importing = importChatGpt(memorySource({ "x.json": text.slice(0, -9) }), options());
    const { sessions, error } = await collectWhole(importing);
    expect(sessions.map((session) => shapeOf(session).roots)).toEqual([["a"]]);
    expect(error).toMatchObject({
      code: "invalid",
      message: expect.stringMatching(
        /^unable to import all of x\.json; .*what comes before that, 1 in number, was read$/,
      ),
    });
  });

  test("a file in pieces of any size is the same, a byte order mark is passed over", async () => {
    const text = JSON.stringify([conversation([node("a", null, { text: "é茶😀\u2028" })])]);
    const whole = await importText(text);
    for (const pieceBytes of [1, 2, 3, 5, 7]) {
      const importing = importChatGpt(
        memorySource({ "export.json": `\uFEFF${text}` }, pieceBytes),
        options(),
      );
      expect(await collect(importing)).toEqual(whole);
    }
  });

  test("what is no conversation is reported, the rest is imported", async () => {
    const result = await importJson([null, conversation([node("a", null)]), "x"]);
    expect(result.sessions).toHaveLength(1);
    expect(result.reports).toEqual([
      "conversation 1 (untitled): not a conversation; skipped",
      "conversation 3 (untitled): not a conversation; skipped",
    ]);
  });

  test("bytes that are not UTF-8 are replaced and reported", async () => {
    const bytes = Buffer.from(JSON.stringify(conversation([node("a", null, { text: "x?y" })])));
    bytes[bytes.indexOf("x?y") + 1] = 0xff;
    const result = await importText(bytes);
    expect(result.reports).toEqual(["export.json: bytes that are not UTF-8; replaced by U+FFFD"]);
    expect(shapeOf(soleSession(result)).visibleText).toEqual(["user: x\uFFFDy"]);
  });
});

describe("times", () => {
  test.each(["yesterday", true, -5, 1e300])("one that cannot be read (%j) is reported", async (time) => {
    const nodes = [node("a", null), node("b", "a", { message: { create_time: time } })];
    const session = soleSession(await importJson([conversation(nodes)]));
    expect(session.summary.reports).toEqual([
      `message b: unreadable time ${JSON.stringify(time)}; passed over`,
    ]);
    expect(entriesOf(session).map((entry) => entry.time)).toEqual([1_700_000_000_000, 1_700_000_000_000]);
  });
});

describe("ids", () => {
  test("[L8] the session and its entries keep the source's ids where they fit", async () => {
    const id = "6789abcd-0000-4000-8000-000000000001";
    const nodes = [node("a b", null), node("b", "a b"), node("c/d", "b")];
    const session = soleSession(await importJson(conversation(nodes, { conversation_id: id })));
    expect(session.id).toBe(id);
    expect(entriesOf(session).map((entry) => entry.id)).toEqual(["fresh1", "b", "fresh2"]);
    expect(entriesOf(session).map(sourceIdOf)).toEqual(["a b", "b", "c/d"]);
  });

  test("[L4] the same file gives the same records again", async () => {
    const again = await importSample("chatgpt", "branches.json", importChatGpt);
    expect(await importSample("chatgpt", "branches.json", importChatGpt)).toEqual(again);
  });

  test("of two conversations with one id both are kept, an exact repeat is not", async () => {
    const first = conversation([node("a", null)], { conversation_id: "one" });
    const second = conversation([node("b", null)], { conversation_id: "one" });
    const result = await importJson([first, first, second]);
    expect(result.sessions.map(({ id }) => id)).toEqual(["one", "one-2"]);
    expect(result.reports).toEqual([
      'conversation 2 ("t"): repeats an earlier conversation exactly; ignored',
      'conversation 3 ("t"): id one was used by an earlier conversation with another body; this one is one-2',
    ]);
  });

  test("a key named __proto__ is an id like others", async () => {
    const text = JSON.stringify(conversation([node("a", null)])).replaceAll('"a"', '"__proto__"');
    const session = soleSession(await importText(text));
    expect(shapeOf(session).roots).toEqual(["__proto__"]);
  });
});

describe("the session", () => {
  test("a title of null stays null and sets no register", async () => {
    const session = soleSession(await importJson(conversation([node("a", null)], { title: null })));
    expect(session.title).toBeNull();
    expect(session.records.map((record) => record.kind)).toEqual(["register", "entry"]);
  });

  test("keeps what else the source says of it in the register `source`", async () => {
    const more = { conversation_id: "c", gizmo_id: "g", is_archived: false, safe_urls: [] };
    const session = soleSession(await importJson(conversation([node("a", null)], more)));
    expect(session.records[0]).toMatchObject({
      key: "source",
      value: { format: "chatgpt", id: "c", fields: { gizmo_id: "g", is_archived: false } },
    });
  });

  test("[L1] authors: the importing principal's messages are the user's", async () => {
    const nodes = [node("a", null), node("b", "a", { role: "assistant" })];
    const source = memorySource({ "x.json": JSON.stringify(conversation(nodes)) });
    const principal = "me@example.org" as PrincipalId;
    const session = soleSession(await collect(importChatGpt(source, { ...options(), principal })));
    expect(entriesOf(session).map(({ author }) => author)).toEqual(["me@example.org", "assistant"]);
  });

  test("a conversation without any time takes the time of the import", async () => {
    const nodes = [node("a", null, { message: { create_time: null } })];
    const session = soleSession(await importJson(conversation(nodes, { create_time: null })));
    expect(session.createdAt).toBe(NOW);
    expect(entriesOf(session)[0]?.time).toBe(NOW);
  });
});
