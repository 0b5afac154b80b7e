/**
 * What a LibreChat message says, as parts: `content[]` where there is one, else `text`. An item of an
 * unknown type, or of another shape than its type has, becomes a `data` part.
 */
import type { Json, Part } from "@espalier/shared";
import { type Fields, fieldsOf, isEmpty, isFields, listOf, restOf, textOf, textsAmong } from "./fields.js";
import { jsonText } from "./json-text.js";

type LibreChatContent = {
  readonly parts: readonly Part[];
  /** What no part holds of an item, with the item's place. */
  readonly rest: readonly Fields[];
  readonly isError: boolean;
};

export const readLibreChatContent = (message: Fields): LibreChatContent => {
  const { content, text } = message;
  const items = listOf(content);
  const read = items.map(readItem);
  const said = items.length > 0 ? read.map(({ part }) => part) : textPart(text);
  const rest = read.flatMap(({ leftover }, at) => (isEmpty(leftover) ? [] : [{ at, ...leftover }]));
  const isError = items.some((item) => fieldsOf(item).type === "error");
  return { parts: [...said.filter(isSaid), ...listOf(message.files).flatMap(filePart)], rest, isError };
};

const isSaid = (part: Part): boolean => !("text" in part) || part.text !== "";

const textPart = (text: Json | undefined): Part[] => {
  if (text === undefined || text === null) return [];
  return typeof text === "string" ? [{ type: "text", text }] : [dataPart(text)];
};

type Item = { readonly part: Part; readonly leftover: Fields };

const readItem = (item: Json): Item => {
  if (typeof item === "string") return { part: { type: "text", text: item }, leftover: {} };
  return (isFields(item) ? knownItem(item) : null) ?? { part: dataPart(item), leftover: {} };
};

/** Null where the item has not the shape that its type promises. */
const knownItem = (item: Fields): Item | null => {
  switch (item.type) {
    case "text":
      return textItem(item, "text", "text");
    case "think":
      return textItem(item, "think", "thinking");
    case "error":
      return textItem(item, "error", "text") ?? textItem(item, "text", "text");
    case "tool_call":
      return isFields(item.tool_call) ? toolItem(item, item.tool_call) : null;
    case "image_file":
      return isFields(item.image_file) ? imageItem(item, item.image_file) : null;
    default:
      return null;
  }
};

/** A text, or an object that holds it as `value`. */
const textItem = (item: Fields, key: string, type: "text" | "thinking"): Item | null => {
  const inner = item[key];
  const text = textOf(inner) ?? textOf(fieldsOf(inner).value);
  if (text === null) return null;
  const leftover = { ...restOf(fieldsOf(inner), "value"), ...restOf(item, "type", key) };
  return { part: { type, text }, leftover };
};

const imageItem = (item: Fields, image: Fields): Item | null => {
  const part = fileOf(image, "image/*");
  if (part === null) return null;
  const file = restOf(image, ...textsAmong(image, "filepath", "type", "filename"));
  return { part, leftover: { ...restOf(item, "type", "image_file"), ...restOf({ file }) } };
};

/** A call that holds its output stays one part. */
const toolItem = (item: Fields, call: Fields): Item | null => {
  // An older shape has the call's name, arguments and output one level further in.
  const { function: inner, ...outer } = call;
  const whole: Fields = isFields(inner) ? { ...inner, ...outer } : call;
  const callId = textOf(whole.id);
  const name = textOf(whole.name);
  if (callId === null || name === null) return null;
  const inputKey = whole.args === undefined ? "arguments" : "args";
  const input = whole[inputKey] ?? "";
  const text = typeof input === "string" ? input : jsonText(input);
  const part = { type: "tool-call", callId, name, input: text } as const;
  const output = whole.output ?? null;
  const usual = [...(whole.progress === 1 ? ["progress"] : []), ...(isCallType(whole.type) ? ["type"] : [])];
  const rest = restOf(whole, "id", "name", inputKey, "output", ...usual);
  return {
    part: output === null ? { ...part, state: "ready" } : { ...part, state: "done", output },
    leftover: { ...restOf(item, "type", "tool_call"), ...restOf({ call: rest }) },
  };
};

const isCallType = (type: Json | undefined): boolean => type === "tool_call" || type === "function";

const fileOf = (file: Fields, anyType: string): Part | null => {
  const url = textOf(file.filepath);
  if (url === null || url === "") return null;
  const mediaType = textOf(file.type) ?? anyType;
  const name = textOf(file.filename);
  return name === null ? { type: "file", mediaType, url } : { type: "file", mediaType, url, name };
};

/** What is not read here stays in `meta`, with the message's other fields. */
const filePart = (file: Json): Part[] => {
  const part = isFields(file) ? fileOf(file, "application/octet-stream") : null;
  return part === null ? [] : [part];
};

const dataPart = (data: Json): Part => ({
  type: "data",
  name: textOf(fieldsOf(data).type) ?? typeof data,
  data,
});
