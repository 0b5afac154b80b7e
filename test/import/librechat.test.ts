/** What LibreChat's messages become, beyond what the samples show. */
import { describe, expect, test } from "vitest";
import { importLibreChat } from "../../server/src/import/librechat.js";
import { entriesOf, importJson, importText, soleSession } from "./kit.js";
import { shapeOf } from "./shape.js";

const said = (id: string, parent: string | null, more: object = {}) => ({
  messageId: id,
  parentMessageId: parent,
  isCreatedByUser: true,
  text: id,
  createdAt: "2031-05-01T10:00:00.000Z",
  ...more,
});
const reply = (id: string, parent: string | null, more: object = {}) =>
  said(id, parent, { isCreatedByUser: false, ...more });

const importMessages = async (messages: readonly unknown[], more: object = {}) =>
  soleSession(await importJson({ conversationId: "c1", title: "t", messages, ...more }, importLibreChat));
const only = async (message: object) => {
  const session = await importMessages([reply("a", null, message)]);
  const [entry] = entriesOf(session);
  if (entry?.type !== "message") throw new Error("not a message");
  return { entry, reports: session.summary.reports };
};

describe("[import] LibreChat's places", () => {
  test("a placeholder is the newest reply to its prompt, or the prompt where there is none", async () => {
    const session = await importMessages([
      said("p", null),
      reply("old", "p"),
      reply("new", "p", { createdAt: "2031-05-01T10:00:09.000Z" }),
      said("x", "p_", { createdAt: "2031-05-01T10:00:10.000Z" }),
      said("y", "x_"),
    ]);
    expect(shapeOf(session).activeLine).toEqual(["p", "new", "x"]);
    expect(shapeOf(session).reports).toEqual([
      "message x: parent p_ is a placeholder; put below new",
      "message y: parent x_ is a placeholder; put below x",
    ]);
  });

  test("[T4] rings and self-parents in a list are cut", async () => {
    const session = await importMessages([said("a", "b"), said("b", "a"), said("s", "s")]);
    expect(shapeOf(session).roots.toSorted()).toEqual(["b", "s"]);
  });

  test("what is no message is kept beside the tree, one without an id gets one", async () => {
    const session = await importMessages([
      "a stray text",
      said("a", null),
      { text: "nameless", isCreatedByUser: true },
    ]);
    expect(session.records[0]).toMatchObject({ key: "source", value: { outside: ["a stray text"] } });
    expect(
      entriesOf(session).map(({ meta }) => (meta as { sourceId?: string } | undefined)?.sourceId),
    ).toEqual([undefined, "#3"]);
    expect(session.summary.reports).toEqual([
      'message #1: unknown record type "string" without an id; kept beside the tree',
      "message #3: no id of its own; it gets one",
    ]);
  });

  test("of two with one id the first is in the tree, the other beside it", async () => {
    const session = await importMessages([said("a", null), said("a", null, { text: "another" })]);
    expect(session.records[0]).toMatchObject({ value: { outside: [{ messageId: "a", text: "another" }] } });
  });

  test("[T5] a tree 200,000 deep, and a list 100,000 long", { timeout: 120_000 }, async () => {
    const opened = Array.from({ length: 200_000 }, (_, at) => `{"messageId":"m${at}","children":[`);
    const tree = `${opened.join("")}${"]}".repeat(200_000)}`;
    const nested = soleSession(await importText(`{"messagesTree":[${tree}]}`, importLibreChat));
    expect(nested.summary.activeLine).toHaveLength(200_000);
    const list = Array.from({ length: 100_000 }, (_, at) => said(`m${at}`, at === 0 ? null : `m${at - 1}`));
    expect((await importMessages(list)).summary.activeLine).toHaveLength(100_000);
  });
});

describe("[import] LibreChat's content", () => {
  test("a call with its output stays one part; one that never ended is reported", async () => {
    const call = { id: "c1", name: "look", args: { at: 1 }, type: "tool_call" };
    const done = await only({
      content: [{ type: "tool_call", tool_call: { ...call, output: "seen", progress: 1 } }],
    });
    expect(done.entry.parts).toEqual([
      { type: "tool-call", callId: "c1", name: "look", input: '{"at":1}', state: "done", output: "seen" },
    ]);
    expect(done.reports).toEqual([]);
    const open = await only({ content: [{ type: "tool_call", tool_call: { ...call, progress: 0.1 } }] });
    expect(open.entry.parts).toMatchObject([{ state: "ready" }]);
    expect(open.entry.meta).toMatchObject({ source: { items: [{ at: 0, call: { progress: 0.1 } }] } });
    expect(open.reports).toEqual(["message a: tool call c1 (look) has no result"]);
  });

  test("an older call, an image, an error", async () => {
    const { entry } = await only({
      content: [
        {
          type: "tool_call",
          tool_call: { type: "function", id: "c", function: { name: "f", arguments: "{}", output: "o" } },
        },
        { type: "image_file", image_file: { filepath: "/images/a.png", filename: "a.png", width: 4 } },
        { type: "error", error: "it broke" },
      ],
    });
    expect(entry.status).toBe("failed");
    expect(entry.parts).toEqual([
      { type: "tool-call", callId: "c", name: "f", input: "{}", state: "done", output: "o" },
      { type: "file", mediaType: "image/*", url: "/images/a.png", name: "a.png" },
      { type: "text", text: "it broke" },
    ]);
    expect(entry.meta).toMatchObject({ source: { items: [{ at: 1, file: { width: 4 } }] } });
  });

  test("an unknown item is kept as data", async () => {
    const { entry, reports } = await only({ content: [{ type: "garden", x: 1 }] });
    expect(entry.parts).toEqual([{ type: "data", name: "garden", data: { type: "garden", x: 1 } }]);
    expect(reports).toEqual(['message a: unknown content type "garden"; kept as data']);
  });

  test("`content` wins over `text`, which is not lost", async () => {
    const { entry } = await only({ text: "other words", content: [{ type: "text", text: "words" }] });
    expect(entry.parts).toEqual([{ type: "text", text: "words" }]);
    expect(entry.meta).toMatchObject({ source: { text: "other words" } });
  });

  test("a conversation without an id is the same session when it is imported again", async () => {
    const again = () => importMessages([said("a", null)], { conversationId: undefined });
    expect((await again()).id).toBe((await again()).id);
  });
});
