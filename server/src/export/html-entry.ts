/** What one entry says, as HTML. Everything that is not of this file goes through `escapeHtml` or `richText`. */
import type { Entry, Part } from "@espalier/shared";
import { escapeHtml, richText } from "./rich-text.js";
import { inputText, isPicture, jsonText, linkOf, shownUrl, speakerOf, timeOf } from "./wording.js";

export function* entryHtml(entry: Entry): Generator<string> {
  switch (entry.type) {
    case "message":
      for (const part of entry.parts) yield partHtml(part);
      return;
    case "model-change":
      yield note(`From here on ${strong(`${entry.provider} ${entry.modelId}`)}`);
      if (entry.options !== undefined) yield code(jsonText(entry.options));
      return;
    case "option-change":
      yield note(`From here on ${strong(entry.option)} is ${strong(jsonText(entry.value))}`);
      return;
    case "compaction":
      yield note("The model reads this in place of what came before.");
      yield prose(entry.summary);
      return;
    case "branch-summary":
      yield note("What happened on a line that was left.");
      yield prose(entry.summary);
      return;
    case "custom":
      yield code(jsonText(entry.data));
      return;
    case "erased":
      yield note(`Erased on ${escapeHtml(timeOf(entry.erasedAt))} by ${strong(entry.erasedBy)}.`);
      return;
    default:
      yield note(`An entry of a kind that this version does not know: ${strong(speakerOf(entry))}`);
      yield code(jsonText(entry));
  }
}

const partHtml = (part: Part): string => {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? "" : prose(part.text);
    case "thinking":
      return part.text.trim() === "" ? "" : details("Thinking", "", prose(part.text));
    case "tool-call":
      return details(part.name, STATES[part.state] ?? part.state, callHtml(part));
    case "tool-result":
      return details(
        part.isError === true ? "Error" : "Result",
        firstLine(jsonText(part.output)),
        code(jsonText(part.output)),
        part.isError === true,
      );
    case "file":
      return fileHtml(part);
    case "source":
      return `<p class="source">${addressHtml(part.url, part.title)}</p>\n`;
    case "data":
      return details(part.name, "data", code(jsonText(part.data)));
    default:
      return details("A part of a kind that this version does not know", "", code(jsonText(part)));
  }
};

/** What a reader is told of a call: nothing where all is well. */
const STATES: Readonly<Record<string, string>> = {
  input: "cut off",
  ready: "not run",
  asking: "waits for approval",
  running: "was running",
  done: "",
  failed: "failed",
};

type ToolCall = Extract<Part, { type: "tool-call" }>;

const callHtml = ({ input, output, error }: ToolCall): string =>
  [
    input === "" ? "" : code(inputText(input)),
    output === undefined ? "" : note("Result") + code(jsonText(output)),
    error === undefined ? "" : note("Error") + code(error),
  ].join("");

const fileHtml = ({ mediaType, url, name }: Extract<Part, { type: "file" }>): string => {
  const words = name ?? mediaType;
  if (isPicture(url))
    return `<figure><img src="${escapeHtml(url)}" alt="${escapeHtml(words)}"><figcaption>${escapeHtml(words)}</figcaption></figure>\n`;
  const type = name === undefined ? "" : ` <span>${escapeHtml(mediaType)}</span>`;
  return `<p class="file">${addressHtml(url, words)}${type}</p>\n`;
};

const addressHtml = (url: string, words: string | undefined): string => {
  const href = linkOf(url);
  const shown = words === undefined || words === "" ? shownUrl(url) : words;
  if (href !== null)
    return `<a href="${escapeHtml(href)}" rel="noopener noreferrer nofollow">${escapeHtml(shown)}</a>`;
  return shown === words
    ? `${escapeHtml(words)} <span>${escapeHtml(shownUrl(url))}</span>`
    : escapeHtml(shown);
};

const prose = (text: string): string => `<div class="prose" dir="auto">\n${richText(text)}</div>\n`;
const note = (html: string): string => `<p class="note">${html}</p>\n`;
const strong = (text: string): string => `<strong><bdi>${escapeHtml(text)}</bdi></strong>`;
const code = (text: string): string => `<pre><code>${escapeHtml(text)}</code></pre>\n`;

const details = (summary: string, hint: string, html: string, isOpen = false): string => {
  const aside = hint === "" ? "" : ` <span><bdi>${escapeHtml(hint)}</bdi></span>`;
  return `<details${isOpen ? " open" : ""}><summary><bdi>${escapeHtml(summary)}</bdi>${aside}</summary>\n${html}</details>\n`;
};

const HINT_LENGTH = 100;

const firstLine = (text: string): string => {
  const line = text.slice(0, HINT_LENGTH).replace(/\s+/g, " ").trim();
  return text.length > HINT_LENGTH ? `${line.toWellFormed()}…` : line;
};
