/** What a model reads, in one line each: a conversation as a chain of entries, and what its context says. */
import type {
  CompactionEntry,
  ContextMessage,
  Entry,
  MessageEntry,
  Part,
  PrincipalId,
  Role,
} from "@espalier/shared";
import { id, message, seq } from "./records.js";

export const text = (said: string): Part => ({ type: "text", text: said });
export const call = (callId: string, more: object = {}): Part => ({
  type: "tool-call",
  callId,
  name: "search",
  input: "{}",
  state: "ready",
  ...more,
});
export const result = (callId: string, output = `found ${callId}`): Part => ({
  type: "tool-result",
  callId,
  output,
});

/** An entry that `chain` gives its parent and seq. */
export type Link = (parent: string | null, at: number) => Entry;

export const says =
  (role: Role, name: string, parts: readonly Part[] = [text(name)], more: Partial<MessageEntry> = {}): Link =>
  (parent, at) =>
    message(name, parent, at, { role, parts, ...more });
export const system = says.bind(null, "system");
export const user = says.bind(null, "user");
export const reply = says.bind(null, "assistant");
export const tool = says.bind(null, "tool");

/** An entry of another type than `message`. */
export const other =
  (type: string, name: string, fields: object = {}): Link =>
  (parent, at) => {
    const { role: _, parts: __, ...placed } = message(name, parent, at);
    return { ...placed, type, ...fields } as unknown as Entry;
  };
export const compaction = (
  name: string,
  firstKeptId: string | null,
  upToId: string,
  more: Partial<CompactionEntry> = {},
): Link => other("compaction", name, { summary: `sum ${name}`, firstKeptId, upToId, ...more });
export const modelChange = (name: string, modelId: string, options?: object): Link =>
  other("model-change", name, { provider: "acme", modelId, ...(options && { options }) });
export const optionChange = (name: string, option: string, value: unknown): Link =>
  other("option-change", name, { option, value });
export const note = (name: string, more: object = {}): Link =>
  other("custom", name, { name: "note", data: name, ...more });

export const erased = (entry: Entry, at: number, more: object = {}): Entry =>
  ({
    ...other("erased", entry.id, { erasedAt: at, erasedBy: "root" as PrincipalId, ...more })(null, entry.seq),
    parentId: entry.parentId,
    rev: seq(at),
  }) as Entry;

/** Entries one below the other. */
export const chain = (...links: readonly Link[]): Entry[] => {
  const path: Entry[] = [];
  for (const link of links) path.push(link(path.at(-1)?.id ?? null, path.length + 1));
  return path;
};

/** A context in short: each message's role and what it says; a result as `callId=output`. */
export const read = (messages: readonly ContextMessage[]): string[] =>
  messages.map(({ role, parts }) => `${role}: ${parts.map(partRead).join(" ")}`);

const partRead = (part: Part): string => {
  switch (part.type) {
    case "text":
    case "thinking":
      return part.text;
    case "tool-call":
      return `${part.callId}?`;
    case "tool-result":
      return `${part.callId}=${part.output}`;
    default:
      return `<${part.type}>`;
  }
};

export { id };
export const ids = (entries: readonly { readonly id: string }[]): string[] => entries.map((each) => each.id);
