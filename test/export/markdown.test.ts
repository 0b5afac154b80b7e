/** Markdown: what stands in the document, and that content stays content. */
import { createRequire } from "node:module";
import type { EntryId, LogRecord } from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exportMarkdown } from "../../server/src/export/markdown.js";
import { quoted } from "../../server/src/export/markdown-text.js";
import { message, register } from "../shared/records.js";
import { GARDEN } from "./garden.js";
import { hostileText } from "./hostile.js";
import { conversationOf, textOf } from "./kit.js";

type Token = { type: string; tag: string; level: number; content: string; children: Token[] | null };
const createMarkdown = createRequire(new URL("../../server/package.json", import.meta.url))("markdown-it");
type Parser = { parse(text: string, env: object): Token[] };
const parser = createMarkdown({ html: true }) as Parser;
/** What a renderer with tables reads, and one without. */
const parsers = [parser, createMarkdown("commonmark", { html: true, maxNesting: 100 }) as Parser];

/** Headings of the document itself, as `h2 Words`. */
const headingsOf = (text: string): string[] => {
  const tokens = parser.parse(text, {});
  return tokens.flatMap(({ type, tag, level }, index) =>
    type === "heading_open" && level === 0 ? [`${tag} ${tokens[index + 1]?.content}`] : [],
  );
};

/** Everything that a renderer would take for HTML. */
const htmlOf = (text: string): string[] =>
  parsers
    .flatMap((each) => each.parse(text, {}))
    .flatMap((token) => [token, ...(token.children ?? [])])
    .filter(({ type }) => type.startsWith("html_"))
    .map(({ content }) => content.trim());

const write = (records: readonly LogRecord[], options = {}) =>
  textOf(exportMarkdown(conversationOf(records), options));

describe("the garden", () => {
  test("one line: an entry a heading, from the first to the one that is shown", async () => {
    expect(headingsOf(await write(GARDEN))).toEqual([
      "h1 An espalier for the south wall",
      ...[
        "User",
        "Assistant",
        "User",
        "Assistant",
        "Tool",
        "Assistant",
        "Model",
        "Summary",
        "User",
        "Assistant",
        "User",
        "Assistant",
      ].map((name) => `h3 ${name}`),
    ]);
  });

  test("a named leaf ends the line", async () => {
    const text = await write(GARDEN, { leaf: "a4" as EntryId });
    expect(headingsOf(text)).toHaveLength(5);
    expect(text).toContain("4 of 17 entries");
  });

  test("all: each branch is a section that says what it is an alternative to, and links lead somewhere", async () => {
    const text = await write(GARDEN, { all: true });
    const branches = headingsOf(text).filter((heading) => heading.startsWith("h2"));
    expect(branches.map((heading) => heading.replace(/\[.*/, ""))).toEqual([
      "h2 Branch 1: alternative 2 of 2 to ",
      "h2 Branch 2: alternative 2 of 2 to ",
      "h2 Branch 3: alternative 1 of 3 to ",
      "h2 Branch 4: alternative 2 of 3 to ",
    ]);
    const anchors = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, name]) => name);
    expect(new Set(anchors).size).toBe(17);
    for (const [, name] of text.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(name);
  });

  test("what is no text stands there as what it is", async () => {
    const text = await write(GARDEN, { all: true });
    expect(text).toContain("<details><summary>Thinking</summary>");
    expect(text).toContain("**Tool call** search\\_almanac (done)");
    expect(text).toContain('"distance": "30–40 cm"');
    expect(text).toMatch(/\*\*File\*\* wall.jpg .+\(<https:\/\/example.com\/wall.jpg>\)/);
    expect(text).toContain("**Source** [RHS: espaliers](<https://www.rhs.org.uk/fruit/espalier>)");
    expect(text).toContain("*Erased on 2026-05-01 09:44 UTC by admin.*");
    expect(text).not.toContain("A secret");
  });
});

test("whatever is said, it makes no heading, section or HTML of the document", async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, hostileText, hostileText, async (title, said, given) => {
      const text = await write(
        [
          register("title", 1, `x ${title}`),
          message("a", null, 2, { parts: [{ type: "text", text: `x${said}` }] }),
          message("b", "a", 3, {
            role: "assistant",
            parts: [
              { type: "thinking", text: `x${given}` },
              { type: "tool-call", callId: "c", name: `x${title}`, input: said, state: "done", error: given },
              { type: "tool-result", callId: `x${said}`, output: given },
              { type: "file", mediaType: `x${said}`, url: given, name: `x${title}` },
              { type: "source", url: `https://example.com/${title}`, title: `x${given}` },
              { type: "text", text: said },
            ],
          }),
          message("c", "b", 4, { parts: [{ type: "text", text: `x${given}` }] }),
        ],
        { all: true },
      );
      const [top, ...headings] = headingsOf(text);
      expect(top).toMatch(/^h1 x/);
      expect(headings).toEqual(["h3 User", "h3 Assistant", "h3 User"]);
      const own = /^(?:<a id="entry-[abc]">|<\/a>|<details><summary>Thinking<\/summary>|<\/details>)$/;
      expect(htmlOf(text).filter((html) => !own.test(html))).toEqual([]);
      expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u);
    }),
    { numRuns: 500 },
  );
}, 120_000);

const IMAGE = "<img src=x onerror=alert(1)>";

test.each([
  ["a backtick in a link's address", `[a](\`)${IMAGE} \``],
  ["a backtick in a link's title", `[a](b "\`")${IMAGE} \``],
  ["what is no table to everyone", `|a|\n|-|\nb\n    ${IMAGE}`],
  ["a cell whose code ends in the next one", `|a|b|\n|-|-|\n|\`|${IMAGE}\`|`],
  ["a label that another message defines", `[a][\`]${IMAGE} \``],
])("raw HTML is out of force behind %s", async (_, said) => {
  const text = await write([message("a", null, 1, { parts: [{ type: "text", text: said }] })]);
  expect(text).toContain("&lt;img src=x");
  expect(text).not.toContain("<img");
});

test("whatever Markdown is quoted, no renderer takes any of it for raw HTML", () => {
  fc.assert(
    fc.property(hostileText, (said) => {
      expect(htmlOf(quoted(`x${said}`))).toEqual([]);
      expect(htmlOf(quoted(said))).toEqual([]);
    }),
    { numRuns: 3000 },
  );
}, 120_000);

test("HTML in code is left as it is", async () => {
  const said = "Use `<b>` or\n\n```html\n<p>x</p>\n```\n\nbut <i>no</i> tags";
  const text = await write([message("a", null, 1, { parts: [{ type: "text", text: said }] })]);
  expect(text).toContain("> Use `<b>` or\n");
  expect(text).toContain("> <p>x</p>\n");
  expect(text).toContain("> but &lt;i>no&lt;/i> tags");
});
