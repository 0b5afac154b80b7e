/** HTML: one file that stands alone, in which content cannot act. */
import { createHash } from "node:crypto";
import type { EntryId, LogRecord, Part } from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exportHtml } from "../../server/src/export/html.js";
import { message, register } from "../shared/records.js";
import { GARDEN } from "./garden.js";
import { hostileText } from "./hostile.js";
import { conversationOf, textOf } from "./kit.js";

const write = (records: readonly LogRecord[], options = {}) =>
  textOf(exportHtml(conversationOf(records), options));

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found ?? "");
const bodyOf = (html: string): string => html.slice(html.indexOf("<body>"));

describe("the document", () => {
  test("its policy forbids scripts, other hosts and all styles but its own", async () => {
    const html = await write(GARDEN);
    const [policy = ""] = matches(html, /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/g);
    const [style = ""] = matches(html, /<style>([\s\S]*?)<\/style>/g);
    const hash = createHash("sha256").update(style).digest("base64");
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    expect(html).not.toMatch(/<script|<link|<iframe|\sstyle=|\son\w+=/i);
    expect(style).not.toMatch(/url\(|@import/);
  });

  test("one line has an article for each of its entries; all has one for each entry, and every link leads to one", async () => {
    const articles = (html: string): string[] => matches(html, /<article class="\w+" id="entry-(\w+)">/g);
    expect(articles(await write(GARDEN, { leaf: "a4" as EntryId }))).toEqual(["q1", "a1", "q3", "a4"]);
    const html = await write(GARDEN, { all: true });
    expect(articles(html).toSorted()).toEqual(
      GARDEN.flatMap((record) => (record.kind === "entry" ? [record.id] : [])).toSorted(),
    );
    for (const target of matches(html, /href="#entry-([^"]*)"/g)) expect(articles(html)).toContain(target);
    expect(matches(html, /<h2 class="branch"><span>Branch \d<\/span> (alternative \d of \d)/g)).toEqual([
      "alternative 2 of 2",
      "alternative 2 of 2",
      "alternative 1 of 3",
      "alternative 2 of 3",
    ]);
    expect(html).not.toContain("A secret");
    expect(html).not.toMatch(/<article[^>]*>(?:(?!<\/article>)[\s\S])*<article/);
  });

  test("Markdown is rendered: emphasis, lists, code and tables, without a style of their own", async () => {
    const html = await write(GARDEN);
    expect(html).toContain("<strong>espalier</strong>");
    expect(html).toContain('<td class="to-right">1.5 m</td>');
    expect(html).toContain('<pre><code class="language-ts">');
  });

  test("pictures that it holds are shown, others are links", async () => {
    const parts: Part[] = [
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA", name: "own" },
      { type: "file", mediaType: "image/svg+xml", url: "data:image/svg+xml,<svg>", name: "vector" },
      { type: "text", text: "![far](https://example.com/p.png) ![near](data:image/gif;base64,AAAA)" },
    ];
    const html = await write([message("a", null, 1, { parts })]);
    expect(matches(html, /<img src="([^"]*)"/g)).toEqual([
      "data:image/png;base64,AAAA",
      "data:image/gif;base64,AAAA",
    ]);
    expect(html).toContain('<a href="https://example.com/p.png" rel="noopener noreferrer nofollow">far</a>');
  });
});

const TAGS =
  /<\/?(?:a|article|b|bdi|blockquote|body|br|code|del|details|div|em|figcaption|figure|h[1-6]|header|hr|html|i|img|li|main|nav|ol|p|pre|s|section|span|strong|summary|table|tbody|td|th|thead|time|tr|ul)(?: (?:alt|aria-current|aria-label|class|datetime|dir|href|id|open|rel|src|start|title)(?:="[^"<>]*")?)*>/g;

test("a link to nowhere is its text", async () => {
  const html = await write([
    message("a", null, 1, { parts: [{ type: "text", text: "[here]() ![seen]()" }] }),
  ]);
  expect(bodyOf(html)).toContain("here");
  expect(bodyOf(html)).toContain("seen");
  expect(bodyOf(html)).not.toMatch(/(?:href|src)=""/);
});

test("whatever is said, only known tags and addresses come of it", async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, hostileText, async (one, two) => {
      const parts: Part[] = [
        { type: "text", text: one },
        { type: "thinking", text: two },
        { type: "tool-call", callId: "c", name: one, input: two, state: "failed", output: [one], error: two },
        { type: "tool-result", callId: "c", output: one, isError: true },
        { type: "file", mediaType: two, url: one, name: two },
        { type: "source", url: two, title: one },
        { type: "data", name: one, data: { [two]: one } },
        { type: two, text: one } as unknown as Part,
      ];
      const html = await write([register("title", 1, one), message("a", null, 2, { parts })], { all: true });
      const body = bodyOf(html);
      expect(body.replace(TAGS, "")).not.toMatch(/[<>]/);
      for (const url of matches(body, /(?:href|src)="([^"]*)"/g))
        expect(url).toMatch(/^(?:#|https?:\/\/|mailto:|data:image\/(?:png|gif|jpeg|webp);base64,)/);
      expect(html).not.toMatch(/(?![\n\t])\p{Cc}/u);
      // What is opened is closed, so nothing swallows what follows.
      for (const tag of ["article", "div", "pre", "details", "blockquote", "section"])
        expect(matches(body, new RegExp(`<(${tag})\\b`, "g")).length).toBe(
          matches(body, new RegExp(`</(${tag})>`, "g")).length,
        );
    }),
    { numRuns: 500 },
  );
}, 120_000);
