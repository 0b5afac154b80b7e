/** Claude Code files with random damage. A failure prints its seed and the file. */
import { test } from "vitest";
import { importClaudeCode } from "../../server/src/import/claude-code.js";
import { expectDamageSurvived } from "./damage.js";

test("[import] damage of any kind gives a valid log and loses no text", () =>
  expectDamageSurvived("claude-code", importClaudeCode, 200));
