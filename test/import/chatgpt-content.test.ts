/** What a message of a ChatGPT export becomes: nothing is dropped in silence. */
import { jsonFault } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { conversation, entriesOf, importJson, importText, node, soleSession } from "./kit.js";
import { shapeOf } from "./shape.js";

describe("content", () => {
  const only = async (message: object, role = "assistant") => {
    const session = soleSession(await importJson(conversation([node("a", null, { role, message })])));
    const entry = entriesOf(session)[0];
    if (entry?.type !== "message") throw new Error("not a message");
    return { entry, reports: session.summary.reports };
  };

  test("[L6] half a surrogate pair is replaced and reported; other text comes back exactly", async () => {
    const text = "a\u0000b\u2028c\n";
    const whole = await only({ content: { content_type: "text", parts: [text] } });
    expect(whole.entry.parts).toEqual([{ type: "text", text }]);
    expect(whole.reports).toEqual([]);
    const half = await only({ content: { content_type: "text", parts: ["a\ud800b"] } });
    expect(half.entry.parts).toEqual([{ type: "text", text: "a\uFFFDb" }]);
    expect(half.reports).toEqual(["message a: half of a surrogate pair; replaced by U+FFFD"]);
  });

  test("[L6] what is nested too deep is kept as text", async () => {
    const deep = JSON.parse(`${"[".repeat(500)}1${"]".repeat(500)}`);
    const { entry, reports } = await only({ metadata: { deep } });
    expect(jsonFault(entry)).toBeNull();
    expect(JSON.stringify(entry.meta)).toContain("[[[1]]]");
    expect(reports).toEqual(["message a: nested too deep; the inner part is kept as JSON text"]);
  });

  test("[L6] a number past what a double holds", async () => {
    const text = JSON.stringify(conversation([node("a", null, { message: { metadata: { n: 123 } } })]));
    const session = soleSession(await importText(text.replace("123", "1e999")));
    expect(session.summary.reports).toEqual(["message a: a number that is not finite; replaced by null"]);
  });

  test.each([
    ["an unknown type", { content_type: "garden", x: 1 }, "garden"],
    ["a known type of another shape", { content_type: "code", text: { x: 1 } }, "code"],
    ["thoughts of another shape", { content_type: "thoughts", thoughts: ["x"] }, "thoughts"],
    ["a list", [1], "object"],
  ])("%s is kept as data", async (_, content, name) => {
    const { entry, reports } = await only({ content });
    expect(entry.parts).toEqual([{ type: "data", name, data: content }]);
    expect(reports).toEqual([`message a: unknown content type "${name}"; kept as data`]);
  });

  test("what no part holds is in meta, as it was", async () => {
    const { entry } = await only({
      metadata: { model_slug: "m-1", citations: [{ start: 1 }], empty: [] },
      content: { content_type: "code", language: "python", text: "1" },
      channel: "final",
      weight: 0,
    });
    expect(entry.meta).toEqual({
      model: "m-1",
      source: {
        channel: "final",
        weight: 0,
        metadata: { citations: [{ start: 1 }] },
        content: { language: "python" },
      },
    });
  });

  test("images are files, named by their attachment, and their sizes are kept", async () => {
    const pointer = { content_type: "image_asset_pointer", asset_pointer: "sediment://f_1", width: 4 };
    const { entry } = await only({
      content: { content_type: "multimodal_text", parts: [pointer, "", null, "look"] },
      metadata: { attachments: [{ id: "f_1", name: "a.png", mime_type: "image/png" }] },
    });
    expect(entry.parts).toEqual([
      { type: "file", mediaType: "image/png", url: "sediment://f_1", name: "a.png" },
      { type: "text", text: "look" },
    ]);
    expect(entry.meta).toMatchObject({ source: { content: { parts: [{ width: 4 }] } } });
  });

  test.each([
    [{ status: "in_progress" }, "aborted"],
    [{ metadata: { finish_details: { type: "interrupted" } } }, "aborted"],
    [{ content: { content_type: "text", parts: [""] } }, "aborted"],
    [{ content: null }, "aborted"],
    [{ content: { content_type: "system_error", name: "x", text: "y" } }, "failed"],
    [{ content: { content_type: "code", text: "" }, recipient: "python" }, "complete"],
    [{}, "complete"],
  ])("status of %j", async (message, status) => {
    expect((await only(message)).entry.status).toBe(status);
  });

  test("an unknown role is kept as a custom entry in its place", async () => {
    const session = soleSession(
      await importJson(conversation([node("a", null), node("b", "a", { role: "critic" })])),
    );
    expect(shapeOf(session).byType).toEqual({ message: 1, custom: 1 });
    expect(session.summary.reports).toEqual([
      'message b: unknown record type "critic"; kept as a custom entry',
    ]);
  });

  test("[C6] a result answers the nearest call of its name above it; the others are reported", async () => {
    const call = (id: string, parent: string | null, recipient: string) =>
      node(id, parent, { role: "assistant", message: { recipient } });
    const result = (id: string, parent: string, name: string) =>
      node(id, parent, { role: "tool", message: { author: { role: "tool", name } } });
    const nodes = [
      call("p1", null, "python"),
      call("p2", "p1", "python"),
      call("b1", "p2", "browser"),
      result("x", "b1", "python"),
      result("y", "b1", "browser"),
      result("z", "p1", "bio"),
      result("v", "p1", "python"),
      call("p3", "p1", "python"),
    ];
    const session = soleSession(await importJson(conversation(nodes)));
    const answers = entriesOf(session).flatMap((entry) =>
      entry.type === "message"
        ? entry.parts.flatMap((part) => (part.type === "tool-result" ? [[entry.id, part.callId]] : []))
        : [],
    );
    expect(Object.fromEntries(answers)).toEqual({ x: "p2", y: "b1", z: "bio", v: "p1" });
    expect(session.summary.reports).toEqual([
      "message z: tool result for bio has no call",
      "message p3: tool call (python) has no result",
    ]);
  });
});
