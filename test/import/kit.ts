/** Imports a ChatGPT export from a fixture, a text or a value, and makes small conversations to import. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { importChatGpt } from "../../server/src/import/chatgpt.js";
import type { ImportedSession, ImportResult } from "../../server/src/import/foreign.js";

export const FIXTURES = fileURLToPath(new URL("../fixtures/chatgpt", import.meta.url));
export const NOW = 1_790_000_000_000;

export const counter = () => {
  let count = 0;
  return () => `fresh${++count}`;
};

export const importText = (content: string | Uint8Array): Promise<ImportResult> =>
  importChatGpt({ name: "export.json", read: async () => content, newId: counter(), now: () => NOW });

export const importJson = (value: unknown): Promise<ImportResult> => importText(JSON.stringify(value));

export const importFixture = (file: string): Promise<ImportResult> => {
  const folder = join(FIXTURES, dirname(file));
  const name = file.slice(file.lastIndexOf("/") + 1);
  return importChatGpt({
    name,
    read: (each) => readFile(join(folder, each)),
    newId: counter(),
    now: () => NOW,
  });
};

export const soleSession = ({ sessions }: ImportResult): ImportedSession => {
  expect(sessions).toHaveLength(1);
  return sessions[0] as ImportedSession;
};

type NodeOptions = { role?: string; text?: string; time?: number; more?: object; message?: object };
export const node = (id: string, parent: string | null, options: NodeOptions = {}) => {
  const { role = "user", text = id, time = 1_700_000_000, more = {}, message = {} } = options;
  const content = { content_type: "text", parts: [text] };
  const said = { id, author: { role }, create_time: time, content, recipient: "all", ...message };
  return { id, parent, message: said, ...more };
};

export const conversation = (nodes: readonly { id: string }[], more: object = {}) => ({
  title: "t",
  create_time: 1_700_000_000,
  mapping: Object.fromEntries(nodes.map((each) => [each.id, each])),
  ...more,
});

export const entriesOf = ({ records }: ImportedSession) =>
  records.filter((record) => record.kind === "entry");
