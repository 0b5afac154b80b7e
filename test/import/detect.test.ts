/** A file says by its beginning what it is. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { detectFormat } from "../../server/src/import/detect.js";
import { samplesOf } from "./expectation.js";
import { conversation, FIXTURES, fileSource, memoryFile, node } from "./kit.js";

const detectText = (text: string, name = "x.json") => detectFormat(memoryFile(name, text));

describe("[import] the format of a file", () => {
  test.each(["chatgpt", "claude-code", "pi", "librechat", "openwebui"])(
    "every sample of %s",
    async (format) => {
      for (const file of samplesOf(format)) {
        const { file: opened } = await fileSource(join(FIXTURES, format, file));
        expect([file, await detectFormat(opened)]).toEqual([file, format]);
      }
    },
  );

  test("is told from the first item of a list, however much comes after, and whatever is inside", async () => {
    const nodes = [node("history", null, { text: "x".repeat(1_000_000) }), node("chat", "history")];
    expect(await detectText(JSON.stringify([conversation(nodes)]))).toBe("chatgpt");
    expect(await detectText(`\uFEFF  [\n${JSON.stringify(conversation(nodes))}`)).toBe("chatgpt");
  });

  test("is told from a log's first line, longer than what is looked at", async () => {
    const line = { parentUuid: null, isSidechain: false, type: "user", message: "x".repeat(1_000_000) };
    expect(await detectText(JSON.stringify(line), "x.jsonl")).toBe("claude-code");
  });

  test("is told from the name where the content says nothing", async () => {
    expect(await detectText("[]", "conversations.json")).toBe("chatgpt");
    expect(await detectText("[]", "conversations-001.json")).toBe("chatgpt");
    expect(await detectText("[]", "notes.json")).toBeNull();
  });

  test.each(["", "   ", "It was a dark night", '{"a":1}', '[{"name":"x"}]', "5", "\u0000\u0001", '{"a'])(
    "%j has none that is known",
    async (text) => expect(await detectText(text)).toBeNull(),
  );
});
