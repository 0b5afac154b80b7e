/** Long and wide trees, in every format: loops only, and little held beside the log. */
import type { LogRecord } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { exportChatGpt } from "../../server/src/export/chatgpt.js";
import { exportEspalier } from "../../server/src/export/espalier.js";
import { exportHtml } from "../../server/src/export/html.js";
import { exportMarkdown } from "../../server/src/export/markdown.js";
import { message } from "../shared/records.js";
import { conversationOf } from "./kit.js";

const text = (index: number) => ({ parts: [{ type: "text" as const, text: `entry **${index}**` }] });

const chain = (length: number): LogRecord[] =>
  Array.from({ length }, (_, index) =>
    message(`e${index}`, index === 0 ? null : `e${index - 1}`, index + 1, text(index)),
  );

/** A root with so many children, the first of which has one of its own. */
const wide = (width: number): LogRecord[] => [
  message("root", null, 1),
  ...Array.from({ length: width }, (_, index) => message(`e${index}`, "root", index + 2, text(index))),
  message("last", "e0", width + 2),
];

const EXPORTERS = {
  espalier: exportEspalier,
  chatgpt: exportChatGpt,
  markdown: exportMarkdown,
  html: exportHtml,
} as const;

describe.each(Object.entries(EXPORTERS))("%s", (_, exporter) => {
  test.each([
    ["[T5] a chain of 200,000", chain(200_000), ["e0", "e199999"]],
    ["[T5] 50,000 alternatives", wide(50_000), ["e0", "e49999", "last"]],
  ])(
    "%s",
    async (_, log, ids) => {
      const conversation = conversationOf(log);
      const missing = new Set<string>(ids);
      let longest = 0;
      for await (const piece of exporter(conversation, { all: true })) {
        longest = Math.max(longest, piece.length);
        for (const id of missing) if (new RegExp(`"(?:entry-)?${id}"`).test(piece)) missing.delete(id);
      }
      expect([...missing]).toEqual([]);
      // What is told at once is no more than a few entries; but for a list of all the alternatives.
      if (log.length > 100_000) expect(longest).toBeLessThan(128 * 1024);
    },
    120_000,
  );
});
