/** What Open WebUI's messages become, beyond what the samples show. */
import { describe, expect, test } from "vitest";
import { importOpenWebUi } from "../../server/src/import/openwebui.js";
import { entriesOf, importJson, soleSession } from "./kit.js";
import { shapeOf } from "./shape.js";

const said = (id: string, parentId: string | null, more: object = {}) => ({
  id,
  parentId,
  childrenIds: [],
  role: "user",
  content: id,
  timestamp: 1_936_000_000,
  ...more,
});

type Said = { readonly id: string };
const chat = (messages: readonly Said[], more: object = {}) => ({
  title: "t",
  history: { messages: Object.fromEntries(messages.map((each) => [each.id, each])), currentId: null },
  ...more,
});
const importChat = async (messages: readonly Said[], more: object = {}) =>
  soleSession(await importJson([{ id: "c1", chat: chat(messages, more) }], importOpenWebUi));
const only = async (message: object) => {
  const session = await importChat([said("a", null, message)]);
  const [entry] = entriesOf(session);
  if (entry?.type !== "message") throw new Error("not a message");
  return { entry, reports: session.summary.reports };
};

describe("[import] Open WebUI's places", () => {
  test("a message without a pointer hangs from the one that names it", async () => {
    const session = await importChat([
      said("a", null, { childrenIds: ["b"] }),
      { ...said("b", null), parentId: undefined, role: "assistant" } as Said,
    ]);
    expect(shapeOf(session).activeLine).toEqual(["a", "b"]);
  });

  test("a message without a role takes its turn", async () => {
    const session = await importChat([
      said("a", null, { childrenIds: ["b"] }),
      said("b", "a", { role: undefined, childrenIds: ["c"] }),
      said("c", "b", { role: undefined }),
    ]);
    expect(shapeOf(session).visibleText).toEqual(["user: a", "assistant: b", "user: c"]);
    expect(session.summary.reports).toEqual([
      "message b: no role of its own; taken as assistant",
      "message c: no role of its own; taken as user",
    ]);
  });

  test("without a history the list of messages is the line", async () => {
    const messages = [said("a", null), { ...said("b", null), parentId: undefined } as Said];
    const session = soleSession(
      await importJson({ id: "c1", chat: { title: "t", messages } }, importOpenWebUi),
    );
    expect(shapeOf(session).activeLine).toEqual(["a", "b"]);
    expect(session.summary.reports[0]).toBe("message a: only in the list of messages; taken from there");
  });

  test("an unknown role is kept as a custom entry in its place", async () => {
    const session = await importChat([
      said("a", null, { childrenIds: ["b"] }),
      said("b", "a", { role: "critic" }),
    ]);
    expect(shapeOf(session).byType).toEqual({ message: 1, custom: 1 });
    expect(session.summary.reports).toEqual([
      'message b: unknown record type "critic"; kept as a custom entry',
    ]);
  });

  test("a chat without messages makes no session", async () => {
    const result = await importJson([{ id: "c1", title: "t", chat: chat([]) }], importOpenWebUi);
    expect(result.sessions).toEqual([]);
    expect(result.reports).toEqual(['conversation 1 ("t"): no messages; skipped']);
  });
});

describe("[import] Open WebUI's content", () => {
  test.each([
    [{ role: "assistant", done: false }, "aborted"],
    [{ role: "assistant", content: "" }, "aborted"],
    [{ role: "assistant", error: { content: "it broke" } }, "failed"],
    [{ role: "assistant", error: false }, "complete"],
    [{ content: "" }, "complete"],
  ])("status of %j", async (message, status) => expect((await only(message)).entry.status).toBe(status));

  test.each([
    [
      { prompt_tokens: 3, completion_tokens: 4 },
      { input: 3, output: 4 },
    ],
    [
      { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      { input: 3, output: 4 },
    ],
    [
      { prompt_eval_count: 3, eval_count: 4 },
      { input: 3, output: 4 },
    ],
    [
      { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 2 } },
      { input: 3, output: 4, cachedInput: 2 },
    ],
    [{ prompt_tokens: -3, completion_tokens: 4 }, undefined],
  ])("usage of %j", async (usage, expected) => expect((await only({ usage })).entry.usage).toEqual(expected));

  test("images are files; what says more than a file part can hold is kept as data", async () => {
    const { entry, reports } = await only({
      content: [{ type: "text", text: "look" }],
      files: [
        { type: "image", url: "data:image/png;base64,AA==" },
        { type: "collection", name: "tides", docs: [1] },
      ],
    });
    expect(entry.parts).toEqual([
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==" },
      { type: "data", name: "collection", data: { type: "collection", name: "tides", docs: [1] } },
    ]);
    expect(reports).toEqual(['message a: unknown content type "collection"; kept as data']);
  });

  test("what no part holds is in meta, as it was", async () => {
    const { entry } = await only({
      role: "assistant",
      model: "m",
      modelName: "M",
      done: true,
      sources: [{ a: 1 }],
    });
    expect(entry.meta).toEqual({ model: "m", source: { modelName: "M", sources: [{ a: 1 }] } });
  });
});
