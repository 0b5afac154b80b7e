/**
 * Content within a Markdown document, so that nothing in it can be taken for a part of the document. A text
 * that is Markdown itself goes into a block quote, which ends whatever it leaves open, with its raw HTML taken
 * out of force; what is no Markdown goes into a fence that is longer than any within it.
 */
import createMarkdown from "markdown-it";
import { visible } from "./rich-text.js";

const parser = createMarkdown({ html: true });
/** Knows no tables; what is code with them may be none without. */
const plainParser = createMarkdown("commonmark", { html: true, maxNesting: 100 });

/** What may begin raw HTML. */
const TAG = /<(?=[A-Za-z/!?])/g;
const LESS = "&lt;";
/** Above this a text is given as it stands: nobody wrote it by hand. */
const MAX_LENGTH = 256 * 1024;

/** Markdown in a block quote. */
export const quoted = (text: string): string =>
  text.length > MAX_LENGTH ? fenced(text) : `${withoutHtml(`> ${visible(text).replaceAll("\n", "\n> ")}`)}\n`;

const MAX_ROUNDS = 4;

/**
 * Markdown with `&lt;` for what begins raw HTML. In code it stays as it is; since what is code depends on what is
 * HTML, the text is read again until nothing is left to mend. Where that leaves HTML in force for any reader, all of
 * it is mended, in code as well.
 */
const withoutHtml = (markdown: string): string => {
  if (markdown.search(TAG) === -1) return markdown;
  let mended = markdown;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = mended;
    mended = mendedOnce(before);
    if (mended !== before) continue;
    if (isHarmless(mended)) return mended;
    break;
  }
  return markdown.replace(TAG, LESS);
};

/** A label takes a backtick out of code where somebody defines it, which any other text of the document may do. */
const LABEL_WITH_TICK = /\]\[[^\]]*`/;

const isHarmless = (markdown: string): boolean =>
  !LABEL_WITH_TICK.test(markdown) &&
  [parser, plainParser].every((each) =>
    each
      .parse(markdown, {})
      .every(
        ({ type, children }) =>
          type !== "html_block" && !(children ?? []).some((child) => child.type === "html_inline"),
      ),
  );

const mendedOnce = (markdown: string): string => {
  const lines = markdown.split("\n");
  const harmless = harmlessLines(markdown, lines);
  for (let at = lines.length - 1; at >= 0; at -= 1)
    if (!harmless.has(at)) lines[at] = (lines[at] as string).replace(TAG, LESS);
  return lines.join("\n");
};

/** Lines without raw HTML; those that have it in force beside code are mended here. All others may be anything. */
const harmlessLines = (markdown: string, lines: string[]): Set<number> => {
  const harmless = new Set<number>();
  for (const { type, map, children } of parser.parse(markdown, {})) {
    const isCode = type === "fence" || type === "code_block";
    if (map === null || !(isCode || type === "inline")) continue;
    const [from, to] = map;
    const hasHtml = !isCode && (children ?? []).some((child) => child.type === "html_inline");
    // The cells of a table share its lines.
    if (hasHtml && markdown.includes("|")) continue;
    if (hasHtml)
      lines.splice(from, to - from, ...escapedOutsideCode(lines.slice(from, to).join("\n")).split("\n"));
    for (let at = from; at < to; at += 1) harmless.add(at);
  }
  return harmless;
};

/** A run of backticks begins code where another one of its length follows; what stands between is code. */
const escapedOutsideCode = (block: string): string => {
  const marks = /\\.|`+|<(?=[A-Za-z/!?])/gs;
  let escaped = "";
  let done = 0;
  for (let mark = marks.exec(block); mark !== null; mark = marks.exec(block)) {
    const [text] = mark;
    if (text === "<") {
      escaped += block.slice(done, mark.index) + LESS;
      done = marks.lastIndex;
    } else if (text.startsWith("`")) {
      const end = endOfCode(block, marks.lastIndex, text);
      if (end !== -1) marks.lastIndex = end;
    }
  }
  return escaped + block.slice(done);
};

const endOfCode = (block: string, from: number, ticks: string): number => {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let run = runs.exec(block); run !== null; run = runs.exec(block))
    if (run[0] === ticks) return run.index + ticks.length;
  return -1;
};

/** A code block of any text. */
export const fenced = (text: string, language = ""): string => {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${visible(text)}\n${fence}\n`;
};

/** Any text as a part of a line, none of which is Markdown or HTML. It never begins the line. */
export const plain = (text: string): string =>
  visible(text.replace(/\s+/g, " ").trim()).replace(/[\\`*_[\]<>#!|~&$]/g, "\\$&");

/** A link to an address, or the address as text where it is none that one should follow. */
export const link = (words: string, url: string): string =>
  `[${plain(words)}](<${url.replace(/[<>\s\\]/g, encodeURIComponent)}>)`;
