/** Estimates of what the model reads of an entry. */
import { type Entry, estimateTokens, type Part } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { compaction, line, note, other, prompt, replyAs } from "./lines.js";

const tokensOf = (...parts: readonly Part[]): number =>
  estimateTokens(line(replyAs("a", { parts }))[0] as Entry);
const EMPTY_CALL = { type: "tool-call", callId: "c", name: "", input: "", state: "ready" } as const;

describe("estimateTokens", () => {
  const text = { type: "text", text: "x".repeat(400) } as const;

  test("a token for four characters, and four for the message", () => {
    expect(tokensOf(text)).toBe(104);
    expect(tokensOf({ ...text, type: "thinking" })).toBe(104);
    expect(tokensOf({ type: "text", text: "12345" })).toBe(6);
  });

  test("what tools were given and gave back counts, as JSON", () => {
    expect(tokensOf({ ...EMPTY_CALL, name: "look", input: '{"at":1}' })).toBe(7);
    expect(tokensOf({ ...EMPTY_CALL, state: "done", output: "x".repeat(400) })).toBe(104);
    expect(tokensOf({ type: "tool-result", callId: "c", output: { text: "x".repeat(389) } })).toBe(104);
    expect(tokensOf({ type: "data", name: "", data: ["x".repeat(396)] })).toBe(104);
  });

  test("a file counts as one, however long its address", () =>
    expect(tokensOf({ type: "file", mediaType: "image/png", url: `data:,${"x".repeat(9999)}` })).toBe(1204));

  test("[L5] a part of a newer version counts as what it is in the log", () =>
    expect(tokensOf({ type: "newer", a: 1 } as unknown as Part)).toBe(10));

  test("a summary counts", () => {
    const [entry] = line(compaction("k", { firstKept: null, upTo: "x" }));
    expect(estimateTokens(entry as Entry)).toBe(7);
  });

  test("[C1] what the model does not read is nothing", () => {
    const option = other("o", { type: "option-change", option: "effort", value: "high" });
    const path = line(note("n"), option, prompt("p", { audience: "reader" }));
    expect(path.map(estimateTokens)).toEqual([0, 0, 0]);
  });
});
