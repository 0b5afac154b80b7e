/** Entries that no version has written: every export shows them as what they are, and none fails. */
import type { Entry } from "@espalier/shared";
import { expect, test } from "vitest";
import { exportChatGpt } from "../../server/src/export/chatgpt.js";
import { exportEspalier } from "../../server/src/export/espalier.js";
import { exportHtml } from "../../server/src/export/html.js";
import { exportMarkdown } from "../../server/src/export/markdown.js";
import { message } from "../shared/records.js";
import { conversationOf, textOf } from "./kit.js";

test.each([[7], [null], [true], [["a"]], [{ toString: 1 }], ["constructor"], [undefined]])(
  "an entry of the type %j",
  async (type) => {
    const odd = { ...message("b", "a", 2), type } as unknown as Entry;
    const conversation = () =>
      conversationOf([message("a", null, 1), odd, message("c", "b", 3), message("d", "b", 4)]);
    expect(await textOf(exportMarkdown(conversation(), { all: true }))).toContain(
      "that this version does not know",
    );
    expect(await textOf(exportHtml(conversation(), { all: true }))).toContain(
      "that this version does not know",
    );
    expect(JSON.parse(await textOf(exportChatGpt(conversation())))).toHaveLength(1);
    expect(await textOf(exportEspalier(conversation()))).toContain('"id":"b"');
  },
);
