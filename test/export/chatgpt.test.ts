/** ChatGPT's shape: what our importer reads back is the same conversation. */
import { createTree, type Entry, type EntryId, type LogRecord, type Tree } from "@espalier/shared";
import fc from "fast-check";
import { expect, test } from "vitest";
import { exportChatGpt } from "../../server/src/export/chatgpt.js";
import { importChatGpt } from "../../server/src/import/chatgpt.js";
import { collect, memorySource, options } from "../import/kit.js";
import { message, register } from "../shared/records.js";
import { GARDEN } from "./garden.js";
import { conversationOf, randomWholeLog, textOf } from "./kit.js";

const readBack = async (text: string) => {
  const { sessions } = await collect(importChatGpt(memorySource({ "conversations.json": text }), options()));
  return sessions[0];
};

const treeOf = (records: readonly LogRecord[]): Tree => {
  const tree = createTree();
  for (const record of records) tree.apply(record);
  return tree;
};

const textIn = (entry: Entry): string | null =>
  entry.type === "message"
    ? entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    : null;

/** By id: the parent, the children in order, and for messages role, texts and time. */
const shapeOf = (tree: Tree, ids: ReadonlySet<string>) =>
  Object.fromEntries(
    [...tree.nodes()]
      .filter(({ entry }) => ids.has(entry.id))
      .map(({ entry, children }) => [
        entry.id,
        {
          parent: entry.parentId,
          children: children.map((child) => child.entry.id),
          time: entry.time,
          ...(entry.type === "message" ? { role: entry.role, text: textIn(entry) } : {}),
        },
      ]),
  );

test("[T2] the garden comes back: tree, order of alternatives, roles, texts, times, title and active line", async () => {
  const session = await readBack(await textOf(exportChatGpt(conversationOf(GARDEN))));
  const before = treeOf(GARDEN);
  const after = treeOf(session?.records ?? []);
  expect(session?.title).toBe("An espalier for the south wall");
  expect(session?.summary.activeLine.at(-1)).toBe("a6");
  expect(after.size).toBe(before.size);
  const messages = new Set<string>(
    [...before.nodes()].filter(({ entry }) => entry.type === "message").map(({ entry }) => entry.id),
  );
  expect(shapeOf(after, messages)).toEqual(shapeOf(before, messages));
  expect(after.get("m1" as EntryId)?.entry).toMatchObject({ role: "system", audience: "model" });
  expect(after.get("a2" as EntryId)?.entry).toMatchObject({ status: "aborted" });
  expect(after.get("a1" as EntryId)?.entry.meta).toMatchObject({ model: "oak-4" });
});

test("a call that stands alone, and its result, come back as a pair", async () => {
  const log = [
    message("q", null, 1, { parts: [{ type: "text", text: "look" }] }),
    message("c", "q", 2, {
      role: "assistant",
      parts: [{ type: "tool-call", callId: "c", name: "search", input: '{"a":1}', state: "done" }],
    }),
    message("r", "c", 3, { role: "tool", parts: [{ type: "tool-result", callId: "c", output: "found" }] }),
  ];
  const session = await readBack(await textOf(exportChatGpt(conversationOf(log))));
  expect(session?.summary.reports).toEqual([]);
  const [call, result] = ["c", "r"].map((id) => treeOf(session?.records ?? []).get(id as EntryId)?.entry);
  expect(call).toMatchObject({
    parts: [{ type: "tool-call", callId: "c", name: "search", input: '{"a":1}', state: "done" }],
  });
  expect(result).toMatchObject({ parts: [{ type: "tool-result", callId: "c", output: "found" }] });
});

test("one line alone", async () => {
  const session = await readBack(
    await textOf(exportChatGpt(conversationOf(GARDEN), { leaf: "a4" as EntryId })),
  );
  expect(session?.summary.activeLine).toEqual(["q1", "a1", "q3", "a4"]);
  expect(session?.summary.entries).toBe(4);
});

test("[T1][T2] random trees come back in shape", async () => {
  await fc.assert(
    fc.asyncProperty(randomWholeLog, async (log) => {
      const { tree } = conversationOf(log);
      const shown = new Set<string>();
      const pending = [...tree.roots];
      for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
        shown.add(node.entry.id);
        pending.push(...node.children);
      }
      if (shown.size === 0) return;
      const session = await readBack(await textOf(exportChatGpt(conversationOf(log))));
      const after = treeOf(session?.records ?? []);
      expect(after.size).toBe(shown.size);
      const edges = (of: Tree) =>
        [...of.nodes()]
          .filter(({ entry }) => shown.has(entry.id))
          .map(
            ({ entry, children }) =>
              `${entry.parentId}>${entry.id}:${children.map((child) => child.entry.id)}`,
          )
          .toSorted();
      expect(edges(after)).toEqual(edges(tree));
    }),
    { numRuns: 200 },
  );
}, 60_000);

test("an entry with the name of the root that is added is no other", async () => {
  const session = await readBack(
    await textOf(
      exportChatGpt(conversationOf([register("title", 1, "t"), message("client-created-root", null, 2)])),
    ),
  );
  expect(session?.summary.activeLine).toEqual(["client-created-root"]);
});
