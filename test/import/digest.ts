/** How an expectation writes what an entry says, and what the model would read of a line. */
import { context, type Entry, type Part, type Role } from "@espalier/shared";

type Said = { readonly role: Role; readonly parts: readonly Part[] };

/** `label: text`, or nothing for a message that says nothing. */
export const digest = (entry: Entry): string[] => {
  switch (entry.type) {
    case "message":
      return said(entry);
    case "compaction":
    case "branch-summary":
      return [`${entry.type}: ${short(entry.summary)}`];
    case "model-change":
      return [`model-change: ${entry.provider}/${entry.modelId}`];
    case "option-change":
      return [`option-change: ${entry.option}=${String(entry.value)}`];
    case "custom":
      return [`custom: ${entry.name}`];
    default:
      return [`${entry.type}: `];
  }
};

const short = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 40);

const said = ({ role, parts }: Said): string[] => {
  const text = short(wordsOf(parts));
  return text === "" ? [] : [`${role}: ${text}`];
};

const wordsOf = (parts: readonly Part[]): string =>
  firstNotEmpty(
    parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
    parts.map((part) => (part.type === "tool-result" ? resultText(part) : "")).join("\n"),
    parts.map((part) => (part.type === "tool-call" ? `[call ${part.name}]` : "")).join(" "),
    parts.some(({ type }) => type === "thinking") ? "[thinking]" : "",
    parts.some(({ type }) => type === "file") ? "[file]" : "",
    parts.some(({ type }) => type === "data") ? "[data]" : "",
  );

type ToolResult = Extract<Part, { type: "tool-result" }>;

const resultText = ({ output, isError }: ToolResult): string =>
  isError === true && output === "interrupted" ? "[interrupted]" : textOf(output);

/** A result's text: as it is, or that of its blocks. */
const textOf = (output: unknown): string => {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return output.map(textOf).join("\n");
  const { text, content } = (output ?? {}) as { text?: unknown; content?: unknown };
  return text !== undefined ? textOf(text) : content !== undefined ? textOf(content) : "";
};

const firstNotEmpty = (...texts: string[]): string => texts.find((text) => text.trim() !== "") ?? "";

/** What the model reads of a line. */
export const modelText = (line: readonly Entry[]): string[] => context(line).flatMap(said);
