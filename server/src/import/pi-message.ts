/** pi's messages as parts: blocks, results of tools, and commands that the user ran. */
import type { Json, Part } from "@espalier/shared";
import { type Fields, isEmpty, isFields, restOf, textOf } from "./fields.js";
import { dataPart, inlineFile, inputTextOf, resultParts, typeNameOf } from "./jsonl-fields.js";

export type PiParts = {
  readonly parts: readonly Part[];
  /** What a part does not hold of its block, by the block's place. */
  readonly leftovers: Fields;
  /** Types that became data for want of something better. */
  readonly unknown: readonly string[];
};

type IsAnswered = (callId: string) => boolean;
type Read = { readonly parts: readonly Part[]; readonly used: readonly string[] };

export const readPiBlocks = (content: Json | undefined, isAnswered: IsAnswered): PiParts => {
  if (content === undefined || content === null || content === "") return NOTHING;
  if (typeof content === "string") return { ...NOTHING, parts: [{ type: "text", text: content }] };
  const blocks = Array.isArray(content) ? (content as readonly Json[]) : [content];
  const parts: Part[] = [];
  const leftovers: { [place: string]: Json } = {};
  const unknown: string[] = [];
  for (const [place, block] of blocks.entries()) {
    const read = readBlock(block, isAnswered);
    if (read === null) unknown.push(typeNameOf(block));
    parts.push(...(read?.parts ?? [dataPart(typeNameOf(block), block)]));
    const leftover = read === null || !isFields(block) ? {} : restOf(block, "type", ...read.used);
    if (!isEmpty(leftover)) leftovers[place] = leftover;
  }
  return { parts, leftovers, unknown };
};

const NOTHING: PiParts = { parts: [], leftovers: {}, unknown: [] };

/** Null for a block that is not known, or that has not the shape of its type. */
const readBlock = (block: Json, isAnswered: IsAnswered): Read | null => {
  if (!isFields(block)) return null;
  switch (block.type) {
    case "text":
    case "thinking": {
      const text = textOf(block[block.type]);
      if (text === null) return null;
      return { parts: text === "" ? [] : [{ type: block.type, text }], used: [block.type] };
    }
    case "image":
      return readImage(block);
    case "toolCall":
      return readCall(block, isAnswered);
    default:
      return null;
  }
};

const readImage = (block: Fields): Read | null => {
  const data = textOf(block.data);
  const mimeType = textOf(block.mimeType);
  if (data === null || mimeType === null) return null;
  return { parts: [inlineFile(mimeType, data)], used: ["data", "mimeType"] };
};

const readCall = (block: Fields, isAnswered: IsAnswered): Read | null => {
  const callId = textOf(block.id);
  const name = textOf(block.name);
  const input = inputTextOf(block.arguments);
  if (callId === null || name === null || input === null) return null;
  const state = isAnswered(callId) ? "done" : "ready";
  return { parts: [{ type: "tool-call", callId, name, input, state }], used: ["id", "name", "arguments"] };
};

export const readPiResult = (message: Fields): PiParts => {
  const isError = message.isError === true;
  const fileOf = (block: Fields): Part | null => {
    const image = block.type === "image" ? readImage(block) : null;
    return image !== null && Object.keys(block).length === 3 ? (image.parts[0] ?? null) : null;
  };
  return {
    ...NOTHING,
    parts: resultParts(message.toolCallId as string, message.content, { isError, fileOf }),
  };
};

/** A command that the user ran, in the words in which pi tells the model of it. */
export const readPiCommand = (message: Fields): PiParts => {
  const { command, output, cancelled, exitCode } = message;
  const told = textOf(output) ?? "";
  const lines = [`Ran \`${command}\``, told === "" ? "(no output)" : `\`\`\`\n${told}\n\`\`\``];
  if (cancelled === true) lines.push("", "(command cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0)
    lines.push("", `Command exited with code ${exitCode}`);
  if (message.truncated === true && typeof message.fullOutputPath === "string")
    lines.push("", `[Output truncated. Full output: ${message.fullOutputPath}]`);
  return { ...NOTHING, parts: [{ type: "text", text: lines.join("\n") }] };
};

/** The fields of a message that its parts hold. */
export const heldByCommand = (message: Fields): readonly string[] => [
  "command",
  ...(typeof message.output === "string" ? ["output"] : []),
];
