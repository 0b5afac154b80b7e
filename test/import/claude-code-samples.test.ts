/** Every sample of a Claude Code session gives its expectation, in every field. */
import { describe, expect, test } from "vitest";
import { importClaudeCode } from "../../server/src/import/claude-code.js";
import { expectSample, samplesOf } from "./expectation.js";

const samples = samplesOf("claude-code");

describe("[import] Claude Code samples", () => {
  test("there are some", () => expect(samples).toHaveLength(13));
  test.each(samples)("%s", (file) => expectSample("claude-code", file, importClaudeCode));
});
