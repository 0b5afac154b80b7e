/** The blocks of a Claude message as parts; what a part does not hold of its block is left over. */
import type { Json, Part } from "@espalier/shared";
import { isCall, isResult } from "./claude-code-facts.js";
import { type Fields, fieldsOf, isEmpty, isFields, restOf, textOf } from "./fields.js";
import { dataPart, inlineFile, inputTextOf, resultParts, typeNameOf } from "./jsonl-fields.js";

export type Blocks = {
  readonly parts: readonly Part[];
  /** By the block's place. */
  readonly leftovers: Fields;
  /** Types that became data for want of something better. */
  readonly unknown: readonly string[];
};

type Read = { readonly parts: readonly Part[]; readonly used: readonly string[] };

export const readBlocks = (content: Json | undefined, isAnswered: (callId: string) => boolean): Blocks => {
  if (content === undefined || content === null || content === "") return NO_BLOCKS;
  if (typeof content === "string") return { ...NO_BLOCKS, parts: [{ type: "text", text: content }] };
  if (!Array.isArray(content)) return unknownBlocks([content]);
  const parts: Part[] = [];
  const leftovers: { [place: string]: Json } = {};
  const unknown: string[] = [];
  for (const [place, block] of (content as readonly Json[]).entries()) {
    const read = readBlock(block, isAnswered);
    if (read === null) unknown.push(typeNameOf(block));
    parts.push(...(read?.parts ?? [dataPart(typeNameOf(block), block)]));
    const leftover = read === null || !isFields(block) ? {} : restOf(block, "type", ...read.used);
    if (!isEmpty(leftover)) leftovers[place] = leftover;
  }
  return { parts, leftovers, unknown };
};

const NO_BLOCKS: Blocks = { parts: [], leftovers: {}, unknown: [] };

const unknownBlocks = (blocks: readonly Json[]): Blocks => ({
  ...NO_BLOCKS,
  parts: blocks.map((block) => dataPart(typeNameOf(block), block)),
  unknown: blocks.map(typeNameOf),
});

/** Null for a block that is not known, or that has not the shape of its type. */
const readBlock = (block: Json, isAnswered: (callId: string) => boolean): Read | null => {
  if (typeof block === "string") return { parts: textParts("text", block), used: [] };
  if (!isFields(block)) return null;
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? { parts: textParts("text", block.text), used: ["text"] } : null;
    case "thinking":
      return typeof block.thinking === "string"
        ? { parts: textParts("thinking", block.thinking), used: ["thinking"] }
        : null;
    case "redacted_thinking":
      return { parts: [dataPart("redacted_thinking", block)], used: Object.keys(block) };
    case "image":
    case "document":
      return readFile(block);
    case "tool_use":
      return readCall(block, isAnswered);
    case "tool_result":
      return readResult(block);
    default:
      return null;
  }
};

const textParts = (type: "text" | "thinking", text: string): Part[] => (text === "" ? [] : [{ type, text }]);

const readCall = (block: Fields, isAnswered: (callId: string) => boolean): Read | null => {
  const input = inputTextOf(block.input);
  if (!isCall(block) || input === null) return null;
  const { id: callId, name } = block as { readonly id: string; readonly name: string };
  const state = isAnswered(callId) ? "done" : "ready";
  return { parts: [{ type: "tool-call", callId, name, input, state }], used: ["id", "name", "input"] };
};

const readResult = (block: Fields): Read | null => {
  if (!isResult(block)) return null;
  const isError = block.is_error === true;
  const used = ["tool_use_id", "content", ...(typeof block.is_error === "boolean" ? ["is_error"] : [])];
  const fileOf = (inner: Fields): Part | null => {
    const file = readFile(inner);
    const isWhole = file?.used.length === Object.keys(inner).length - 1;
    return isWhole ? (file?.parts[0] ?? null) : null;
  };
  return { parts: resultParts(block.tool_use_id as string, block.content, { isError, fileOf }), used };
};

const readFile = (block: Fields): Read | null => {
  if (block.type !== "image" && block.type !== "document") return null;
  const source = fieldsOf(block.source);
  const keys = Object.keys(source).length;
  const mediaType = textOf(source.media_type);
  const data = textOf(source.data);
  if (source.type === "base64" && mediaType !== null && data !== null && keys === 3)
    return { parts: [inlineFile(mediaType, data)], used: ["source"] };
  const url = textOf(source.url);
  if (source.type !== "url" || url === null || keys !== 2) return null;
  const anyType = block.type === "image" ? "image/*" : "application/octet-stream";
  return { parts: [{ type: "file", mediaType: anyType, url }], used: ["source"] };
};
