/** What a terminal is told of an entry, whatever a log holds in its place. */
import type { Entry } from "@espalier/shared";
import { expect, test } from "vitest";
import { speakerOf } from "../../server/src/cli/wording.js";
import { message } from "../shared/records.js";

test.each([
  [{ type: undefined }, "unknown"],
  [{ type: 7 }, "unknown"],
  [{ role: undefined }, "message"],
  [{ type: "custom" }, "custom"],
  [{ type: "poem" }, "poem"],
  [{}, "user"],
])("[L5] every entry has a speaker: %j", (more, speaker) => {
  const { role: _, ...rest } = message("a", null, 1);
  expect(speakerOf({ ...rest, role: "user", ...more } as unknown as Entry)).toBe(speaker);
});
