/** ChatGPT exports as files, and as sessions with ids, authors and times. */
import { readFile } from "node:fs/promises";
import type { PrincipalId } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { importChatGpt } from "../../server/src/import/chatgpt.js";
import {
  conversation,
  counter,
  entriesOf,
  importFixture,
  importJson,
  importText,
  NOW,
  node,
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

  test("a file that is not there", async () => {
    const options = { name: "x.json", newId: counter(), now: () => NOW };
    const missing = readFile("/nowhere/x.json");
    await expect(importChatGpt({ ...options, read: () => missing })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(importChatGpt({ ...options, read: async () => undefined })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("a manifest reads nothing outside its folder", async () => {
    const files = ["../secret.json", "/etc/hosts", "a/../../b.json", "c:\\d.json", "ok.json"];
    const manifest = JSON.stringify({ logical_files: { "conversations.json": { files } } });
    const asked: string[] = [];
    const read = async (name: string) => {
      asked.push(name);
      return name.endsWith("ok.json") ? JSON.stringify([conversation([node("a", null)])]) : manifest;
    };
    const name = "folder/export_manifest.json";
    const result = await importChatGpt({ name, read, newId: counter(), now: () => NOW });
    expect(asked).toEqual([name, "folder/ok.json"]);
    expect(result.files).toEqual(["ok.json"]);
    expect(result.reports).toHaveLength(4);
  });

  test("a shard that is cut off is reported, the rest is imported", async () => {
    const manifest = { logical_files: { "conversations.json": { files: ["a.json", "b.json"] } } };
    const contents: Record<string, string> = {
      "m.json": JSON.stringify(manifest),
      "a.json": "[{",
      "b.json": JSON.stringify([conversation([node("a", null)])]),
    };
    const read = async (name: string) => contents[name];
    const result = await importChatGpt({ name: "m.json", read, newId: counter(), now: () => NOW });
    expect(result.sessions).toHaveLength(1);
    expect(result.reports).toEqual([expect.stringMatching(/^a\.json: .*its conversations are missing$/)]);
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
    const again = await importFixture("branches.json");
    expect(await importFixture("branches.json")).toEqual(again);
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
    const read = async () => JSON.stringify(conversation(nodes));
    const principal = "me@example.org" as PrincipalId;
    const session = soleSession(
      await importChatGpt({ name: "x", read, newId: counter(), now: () => NOW, principal }),
    );
    expect(entriesOf(session).map(({ author }) => author)).toEqual(["me@example.org", "assistant"]);
  });

  test("a conversation without any time takes the time of the import", async () => {
    const nodes = [node("a", null, { message: { create_time: null } })];
    const session = soleSession(await importJson(conversation(nodes, { create_time: null })));
    expect(session.createdAt).toBe(NOW);
    expect(entriesOf(session)[0]?.time).toBe(NOW);
  });
});
