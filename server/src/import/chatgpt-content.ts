/**
 * ChatGPT's content types as parts: one row a type. Content of a type without a row, or of another shape
 * than its row reads, becomes a `data` part and is reported; what a row leaves over goes into `meta`.
 */
import type { Json, Part } from "@espalier/shared";
import { readItems } from "./chatgpt-assets.js";
import { type Fields, isEmpty, isFields, restOf, textOf } from "./fields.js";

export type ChatGptContent = {
  readonly parts: readonly Part[];
  /** What no part holds. */
  readonly rest: Fields;
  /** A display of reasoning, which the model does not get back. */
  readonly isThinking: boolean;
  readonly isError: boolean;
};

/** Null where the content has not the shape that its type promises. */
type Row = (content: Fields, attachments: readonly Json[]) => { parts: Part[]; rest: Fields } | null;

const asText = (text: string): Part[] => (text === "" ? [] : [{ type: "text", text }]);
const asThinking = (text: string): Part[] => (text === "" ? [] : [{ type: "thinking", text }]);

/** The strings under some keys, a blank line between them. */
const stringRow =
  (keys: readonly string[], toParts: (text: string) => Part[]): Row =>
  (content) => {
    const values = keys.map((key) => content[key] ?? "");
    if (!values.every((value) => typeof value === "string")) return null;
    const text = values.filter((value) => value !== "").join("\n\n");
    return { parts: toParts(text), rest: restOf(content, "content_type", ...keys) };
  };

const itemsRow: Row = (content, attachments) => {
  const { parts: items = [] } = content;
  if (!Array.isArray(items)) return null;
  const { parts, leftovers } = readItems(items, attachments);
  return { parts, rest: { ...restOf(content, "content_type", "parts"), ...restOf({ parts: leftovers }) } };
};

const thoughtsRow: Row = (content) => {
  const { thoughts = [] } = content;
  if (!Array.isArray(thoughts) || !thoughts.every(isFields)) return null;
  const readThought = stringRow(["summary", "content"], asThinking);
  const read = thoughts.map((thought) => readThought(thought, []));
  if (!read.every((thought) => thought !== null)) return null;
  const leftovers = read.map(({ rest }) => rest);
  const rest = leftovers.every(isEmpty) ? {} : { thoughts: leftovers };
  return {
    parts: read.flatMap(({ parts }) => parts),
    rest: { ...restOf(content, "content_type", "thoughts"), ...rest },
  };
};

const quoteRow: Row = (content, attachments) => {
  const read = stringRow(["text"], asText)(content, attachments);
  const url = textOf(content.url);
  if (read === null || url === null) return read;
  const title = textOf(content.title);
  const source: Part = title === null ? { type: "source", url } : { type: "source", url, title };
  return {
    parts: [...read.parts, source],
    rest: restOf(read.rest, "url", ...(title === null ? [] : ["title"])),
  };
};

const ROWS: ReadonlyMap<string, Row> = new Map([
  ["text", itemsRow],
  ["multimodal_text", itemsRow],
  ["code", stringRow(["text"], asText)],
  ["execution_output", stringRow(["text"], asText)],
  ["system_error", stringRow(["text"], asText)],
  ["tether_browsing_display", stringRow(["result"], asText)],
  ["tether_quote", quoteRow],
  ["thoughts", thoughtsRow],
  ["reasoning_recap", stringRow(["content"], asThinking)],
  ["user_editable_context", stringRow(["user_profile", "user_instructions"], asText)],
  ["model_editable_context", stringRow(["model_set_context"], asText)],
]);

/** Attachments tell the name and media type of the assets that the content points at. */
export const readContent = (value: Json | undefined, attachments: readonly Json[]): ChatGptContent => {
  if (value === undefined || isEmpty(value)) return NOTHING;
  if (typeof value === "string") return { ...NOTHING, parts: asText(value) };
  if (!isFields(value)) return unknownContent(typeof value, value);
  const type = textOf(value.content_type) ?? (Array.isArray(value.parts) ? "text" : "none");
  const read = ROWS.get(type)?.(value, attachments) ?? null;
  if (read === null) return unknownContent(type, value);
  const isThinking = type === "thoughts" || type === "reasoning_recap";
  // A type that is no text is no part's either.
  const rest =
    typeof value.content_type === "string"
      ? read.rest
      : { ...read.rest, ...restOf({ content_type: value.content_type ?? null }) };
  return { ...read, rest, isThinking, isError: type === "system_error" };
};

const NOTHING: ChatGptContent = { parts: [], rest: {}, isThinking: false, isError: false };

const unknownContent = (name: string, data: Json): ChatGptContent => ({
  ...NOTHING,
  parts: [{ type: "data", name, data }],
});
