/** How entries are put into words for documents: plain texts, which each format escapes as it must. */
import type { Entry, EntryStatus, Part, Usage } from "@espalier/shared";

/** Who speaks, or what kind of entry it is. */
export const speakerOf = (entry: Entry): string => {
  switch (entry.type) {
    case "message":
      return wordOf(ROLES, entry.role);
    case "erased":
      return entry.role === undefined ? "Erased" : wordOf(ROLES, entry.role);
    case "custom":
      return entry.name;
    default:
      return wordOf(KINDS, (entry as Entry).type);
  }
};

/** What a newer version, or nobody, has written may be no text, or any. */
const wordOf = (words: Readonly<Record<string, string>>, key: unknown): string =>
  typeof key === "string" && Object.hasOwn(words, key) ? (words[key] as string) : jsonText(key);

const ROLES: Readonly<Record<string, string>> = {
  system: "System",
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
};

const KINDS: Readonly<Record<string, string>> = {
  "model-change": "Model",
  "option-change": "Option",
  compaction: "Summary",
  "branch-summary": "Branch summary",
};

/** Of one clock, so that an export is the same everywhere: `2026-05-01 09:30 UTC`. */
export const timeOf = (ms: number): string => {
  const iso = isoOf(ms);
  return iso === null ? "time unknown" : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
};

/** Null for what is no time of a calendar. */
export const isoOf = (ms: number): string | null => {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) || ms > MAX_MS || ms < 0 ? null : date.toISOString();
};
/** The end of the year 9999. */
const MAX_MS = 253_402_300_799_999;

/** What is to be said of a status; null where it is complete. */
export const statusOf = ({ status }: Entry): string | null =>
  status === "complete" ? null : wordOf(STATUSES, status);

const STATUSES: Readonly<Record<EntryStatus, string>> = {
  complete: "complete",
  streaming: "still streaming when exported",
  aborted: "stopped before its end",
  failed: "failed",
};

export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

/** How much of a session a document shows. */
export const shownOf = (shown: number, all: number): string =>
  shown === all ? countOf(all, "entry", "entries") : `${shown} of ${countOf(all, "entry", "entries")}`;

/** `claude-opus-4 · 1,204 tokens in, 310 out`; null where nothing is known. */
export const usageOf = ({ usage }: Entry): string | null => {
  if (usage === undefined) return null;
  const { model, input, output } = usage as Usage;
  const tokens = `${grouped(input)} tokens in, ${grouped(output)} out`;
  return model === undefined ? tokens : `${model} · ${tokens}`;
};

const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

/** A text as it is, anything else as JSON over several lines. */
export const jsonText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

/** The input of a tool as JSON over several lines where it is JSON; as it came where it is not. */
export const inputText = (input: string): string => {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
};

const PREVIEW_LENGTH = 80;

/** Marks of Markdown, which a preview goes without. */
const MARKS = /\*\*|`+|^[ \t]*(?:#{1,6}|[-*>]|\d+\.)[ \t]+/gm;

/** The beginning of what an entry says, on one line. */
export const previewOf = (entry: Entry): string => {
  const text = wordsOf(entry)
    .slice(0, 8 * PREVIEW_LENGTH)
    .replace(MARKS, "")
    .replace(/\s+/g, " ")
    .trim();
  const units = [...text];
  return units.length <= PREVIEW_LENGTH ? text : `${units.slice(0, PREVIEW_LENGTH - 1).join("")}…`;
};

const wordsOf = (entry: Entry): string => {
  if (entry.type === "message")
    return entry.parts.map(wordsOfPart).find((words) => words.trim() !== "") ?? "";
  if (entry.type === "compaction" || entry.type === "branch-summary") return entry.summary;
  return speakerOf(entry);
};

const wordsOfPart = (part: Part): string => {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool-call":
      return `${part.name} …`;
    case "tool-result":
      return jsonText(part.output);
    case "file":
      return part.name ?? part.mediaType;
    default:
      return "";
  }
};

/** An address that may become a link; null for any other, which is shown as text. */
export const linkOf = (url: string): string | null => {
  if (!/^(?:https?:\/\/|mailto:)/i.test(url) || !URL.canParse(url)) return null;
  return new URL(url).href;
};

/** A picture that a document can hold itself. */
export const isPicture = (url: string): boolean =>
  /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(url);

/** How an address is shown where it is not followed: what a data address holds is no reading. */
export const shownUrl = (url: string): string => {
  const [, type] = /^data:([^,;]*)/.exec(url) ?? [];
  return type === undefined ? url : `data: ${type || "text/plain"}, ${countOf(url.length, "character")}`;
};

/** The name of an entry's place in a document. An id has no other characters, unless others wrote the log. */
export const anchorOf = (id: string): string => `entry-${id.replace(/[^A-Za-z0-9_-]/g, "-")}`;
