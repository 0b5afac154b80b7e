/** Lines in one expression: each item is the next entry down, with its name as its text. */
import type { CompactionEntry, Entry, MessageEntry, Part } from "@espalier/shared";
import { id, message } from "./records.js";

type Item = (parent: string | null, at: number) => Entry;

/** `line(prompt("u"), reply("a", "c"), result("t", "c"))` */
export const line = (...items: readonly Item[]): Entry[] => extended([], ...items);

export const extended = (path: readonly Entry[], ...items: readonly Item[]): Entry[] => {
  const entries = [...path];
  for (const item of items) entries.push(item(entries.at(-1)?.id ?? null, entries.length + 1));
  return entries;
};

const said =
  (name: string, parts: readonly Part[], more: Partial<MessageEntry>): Item =>
  (parent, at) =>
    message(name, parent, at, { parts, ...more });

const text = (name: string): Part => ({ type: "text", text: name });
const call = (callId: string): Part => ({
  type: "tool-call",
  callId,
  name: "look",
  input: "{}",
  state: "ready",
});
const answer = (callId: string): Part => ({ type: "tool-result", callId, output: `${callId} found` });

export const prompt = (name: string, more: Partial<MessageEntry> = {}): Item =>
  said(name, [text(name)], more);
export const system = (name: string): Item => said(name, [text(name)], { role: "system" });

/** With the calls that it makes. */
export const reply = (name: string, ...calls: readonly string[]): Item =>
  said(name, [text(name), ...calls.map(call)], { role: "assistant" });
export const replyAs = (name: string, more: Partial<MessageEntry>, ...calls: readonly string[]): Item =>
  said(name, [text(name), ...calls.map(call)], { role: "assistant", ...more });
export const result = (name: string, ...calls: readonly string[]): Item =>
  said(name, calls.map(answer), { role: "tool" });

/** An entry of another type, as it is but for its place. */
export const other =
  (name: string, content: object): Item =>
  (parent, at) => {
    const { type: _type, role: _role, parts: _parts, ...placed } = message(name, parent, at);
    return { ...placed, ...content } as Entry;
  };

export const compaction = (
  name: string,
  refs: { firstKept: string | null; upTo: string; kept?: readonly string[] },
): Item =>
  other(name, {
    type: "compaction",
    summary: `summary ${name}`,
    firstKeptId: refs.firstKept === null ? null : id(refs.firstKept),
    upToId: id(refs.upTo),
    ...(refs.kept === undefined ? {} : { keptIds: refs.kept.map(id) }),
  } satisfies Partial<CompactionEntry>);

export const note = (name: string): Item => other(name, { type: "custom", name: "note", data: name });
