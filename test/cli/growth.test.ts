/** What `tail` tells of an entry between two looks: each token once, and anew what is no longer what it was. */
import { PassThrough } from "node:stream";
import type { MessageEntry, Part } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { growthOf } from "../../server/src/cli/growth.js";
import { createOutput } from "../../server/src/cli/output.js";
import { createTailJson } from "../../server/src/cli/tail-json.js";
import { createTailText } from "../../server/src/cli/tail-text.js";
import { reply } from "./logs.js";

type Call = Extract<Part, { type: "tool-call" }>;

const call = (more: Partial<Call> = {}): Call => ({
  type: "tool-call",
  callId: "c",
  name: "search",
  input: '{"q":',
  state: "input",
  ...more,
});

const entryOf = (...parts: Part[]): MessageEntry => reply(2, 1, "", { parts, status: "streaming", size: 9 });

/** What is told after the first look, by both. */
const toldOf = (before: Part, after: Part): { text: string; json: unknown[] } => {
  const told = (create: typeof createTailText): string => {
    const stream = new PassThrough();
    const listener = create(createOutput(stream, {}));
    listener.entry(entryOf(before));
    stream.read();
    const growth = growthOf(entryOf(before), entryOf(after));
    if (growth.length > 0) listener.grown(entryOf(after), growth);
    return String(stream.read() ?? "");
  };
  const lines = told(createTailJson).split("\n").filter(Boolean);
  return { text: told(createTailText), json: lines.map((line) => JSON.parse(line)) };
};

const text = (said: string): Part => ({ type: "text", text: said });

describe("what grew is told as more text", () => {
  test.each([
    ["a text", text("abc"), text("abcdef"), "def"],
    ["the input of a call", call(), call({ input: '{"q":"fern"}' }), '"fern"}'],
  ])("%s", (_, before, after, more) => {
    expect(toldOf(before, after)).toEqual({
      text: more,
      json: [{ id: "e2", type: "text", part: 0, text: more }],
    });
  });

  test("what is the same is not told", () => {
    expect(growthOf(entryOf(call({ output: [1] })), entryOf(call({ output: [1] })))).toEqual([]);
  });
});

describe("what is no longer what it was is told anew", () => {
  test.each([
    ["a text that was replaced", text("abc"), text("XYZ rewritten"), "\n[rewritten] XYZ rewritten"],
    ["a text that became shorter", text("abc"), text("ab"), "\n[rewritten] ab"],
    [
      "an output",
      call({ state: "running" }),
      call({ state: "running", output: "o" }),
      "\n[search: running]  → o",
    ],
    ["an error", call({ output: "o" }), call({ error: "it broke" }), "\n[search: input]  → it broke"],
    [
      "input that came with a change of state",
      call(),
      call({ input: '{"q":"fern"}', state: "ready" }),
      '\n[search: ready] {"q":"fern"}',
    ],
    ["a part of another type", text("abc"), { type: "thinking", text: "abcd" } as Part, "\n[thinking] abcd"],
  ])("%s", (_, before, after, shown) => {
    expect(toldOf(before, after)).toEqual({
      text: shown,
      json: [{ id: "e2", type: "part", part: 0, isNew: false, content: after }],
    });
  });
});
