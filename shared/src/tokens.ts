/**
 * How much of a model's window an entry takes: an estimate, for deciding where to cut. Counting exactly needs the
 * model's own tokenizer, which is handed in where that matters.
 */
import { messageOf } from "./context-message.js";
import type { Entry, Part } from "./record.js";

/** Says how many tokens the model reads of an entry. Asked only for entries that it reads. */
export type EstimateTokens = (entry: Entry) => number;

const CHARACTERS_PER_TOKEN = 4;
/** An image of ordinary size, or a page or two; what a file's address holds says nothing of it. */
const FILE_TOKENS = 1200;
/** Role, separators and the like. */
const MESSAGE_TOKENS = 4;

/**
 * A token for every four characters (UTF-16 code units) of text, thinking, summaries, and inputs and outputs of
 * tools as JSON; 1,200 for a file; 4 for the message itself. 0 for what the model does not read.
 */
export const estimateTokens: EstimateTokens = (entry) => {
  const message = messageOf(entry);
  if (message === null) return 0;
  let tokens = MESSAGE_TOKENS;
  let characters = 0;
  for (const part of message.parts) {
    if (part.type === "file") tokens += FILE_TOKENS;
    else characters += charactersOf(part);
  }
  return tokens + Math.ceil(characters / CHARACTERS_PER_TOKEN);
};

const charactersOf = (part: Exclude<Part, { type: "file" }>): number => {
  switch (part.type) {
    case "text":
    case "thinking":
      return part.text.length;
    case "tool-call":
      return part.name.length + part.input.length + jsonLength(part.output) + (part.error?.length ?? 0);
    case "tool-result":
      return jsonLength(part.output);
    case "data":
      return part.name.length + jsonLength(part.data);
    default:
      return jsonLength(part);
  }
};

/** A string as it is: its quotes and escapes are not what the model reads. */
const jsonLength = (value: unknown): number => {
  if (value === undefined) return 0;
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
};
