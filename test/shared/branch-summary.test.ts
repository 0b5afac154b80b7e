/** C8: what a summary of a line that was left stands for. */
import { type Entry, planBranchSummary } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { compaction, extended, line, note, prompt, reply, result, system } from "./lines.js";

const SHARED = line(system("s"), prompt("u"), reply("a"));

const planned = (left: readonly Entry[], here: readonly Entry[]) => {
  const plan = planBranchSummary(left, here);
  return "code" in plan
    ? plan.code
    : [plan.fromId, plan.commonId, plan.summarize.map(({ entryId }) => entryId).join(" ")];
};

describe("[C8] the summary of a line that was left", () => {
  const left = extended(SHARED, prompt("v"), reply("b", "1"), result("t", "1"), note("n"));

  test("stands for what lies below the entry that the lines parted at", () => {
    expect(planned(left, SHARED)).toEqual(["n", "a", "v b t"]);
    expect(planned(left, extended(SHARED, prompt("w"), reply("c")))).toEqual(["n", "a", "v b t"]);
  });

  test("stands for all of it where the lines have no entry in common", () => {
    expect(planned(left, [])).toEqual(["n", null, "u a v b t"]);
    expect(planned(left, line(prompt("other")))).toEqual(["n", null, "u a v b t"]);
  });

  test("[C4] reads the summary of what was compacted there, and what that kept", () => {
    const compacted = extended(left, compaction("k", { firstKept: "b", upTo: "n" }), prompt("x"));
    expect(planned(compacted, SHARED)).toEqual(["x", "a", "k b t x"]);
  });

  test("is refused where the line that was left has nothing of its own", () => {
    expect(planned(SHARED, left)).toBe("nothing_to_compact");
    expect(planned(SHARED, SHARED)).toBe("nothing_to_compact");
    expect(planned(extended(SHARED, note("n")), SHARED)).toBe("nothing_to_compact");
    expect(planned([], SHARED)).toBe("nothing_to_compact");
  });
});
