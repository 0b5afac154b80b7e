/** How entries, times and counts are put into words for a terminal. */
import type { Entry, Part } from "@espalier/shared";
import { escapeLine } from "./escape.js";

/** Who speaks, or what kind of entry it is. */
export const speakerOf = (entry: Entry): string => {
  const kind = wordOr(entry.type, "unknown");
  if (entry.type === "message") return wordOr(entry.role, kind);
  if (entry.type === "erased") return wordOr(entry.role, kind);
  return entry.type === "custom" ? wordOr(entry.name, kind) : kind;
};

/** A log may hold what a newer program wrote, or a damaged one. */
const wordOr = (value: unknown, word: string): string => (typeof value === "string" ? value : word);

/** What an entry says, on one line. No longer than a screen could show, whatever its length. */
export const previewOf = (entry: Entry): string => escapeLine(contentOf(entry));

/** More than any line takes, and little enough to escape at once. */
const PREVIEW_LENGTH = 1000;

const contentOf = (entry: Entry): string => {
  switch (entry.type) {
    case "message":
      return entry.parts.map(partText).filter(Boolean).join(" ").slice(0, PREVIEW_LENGTH);
    case "model-change":
      return `${entry.provider} ${entry.modelId}`;
    case "option-change":
      return `${entry.option} = ${shortJson(entry.value)}`;
    case "compaction":
    case "branch-summary":
      return entry.summary.slice(0, PREVIEW_LENGTH);
    case "custom":
      return shortJson(entry.data);
    case "erased":
      return "[erased]";
    default:
      return "[an entry of a newer version]";
  }
};

const partText = (part: Part): string => {
  switch (part.type) {
    case "text":
      return part.text.slice(0, PREVIEW_LENGTH);
    case "thinking":
      return `[thinking] ${part.text.slice(0, PREVIEW_LENGTH)}`;
    case "tool-call":
      return `[${part.name}: ${part.state}] ${part.input.slice(0, PREVIEW_LENGTH)}`;
    case "tool-result":
      return `[${part.isError ? "error" : "result"}] ${shortJson(part.output)}`;
    case "file":
      return `[file ${part.name ?? part.mediaType}]`;
    case "source":
      return `[source ${part.title ?? part.url}]`;
    case "data":
      return `[${part.name}] ${shortJson(part.data)}`;
    default:
      return "[a part of a newer version]";
  }
};

/** A text as it is, anything else as JSON. */
export const shortJson = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, PREVIEW_LENGTH);

/** Of this machine's own time zone: `2026-05-01 09:30`. */
export const timeOf = (ms: number): string => {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "unknown";
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join("-");
  return `${day} ${[date.getHours(), date.getMinutes()].map(twoDigits).join(":")}`;
};

const twoDigits = (number: number): string => String(number).padStart(2, "0");

/** @example countOf(2, "branch point") // "2 branch points" */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
