import {
  createRegisters,
  defaultLeaf,
  type LogRecord,
  newestChild,
  oldestChild,
  promptOf,
  tipOf,
} from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { message, register } from "./records.js";
import { node, treeOf } from "./trees.js";

describe("walks", () => {
  const tree = treeOf(
    message("p1", null, 1),
    message("a1", "p1", 2, { role: "assistant" }),
    message("hidden", "a1", 3, { audience: "model" }),
    message("a2", "hidden", 4, { role: "assistant" }),
    message("a2b", "hidden", 5, { role: "assistant" }),
    message("a1b", "p1", 6, { role: "assistant" }),
    message("s", null, 7, { role: "system" }),
  );

  test("[P1] the tip of a line goes by the newest child", () => {
    expect(tipOf(node(tree, "p1"), newestChild).entry.id).toBe("a1b");
    expect(tipOf(node(tree, "a1"), newestChild).entry.id).toBe("a2b");
  });

  test("[V4] or by the oldest, as a view that follows would have grown", () => {
    expect(tipOf(node(tree, "p1"), oldestChild).entry.id).toBe("a2");
  });

  test("a tip is its own tip", () => expect(tipOf(node(tree, "s"), newestChild)).toBe(node(tree, "s")));

  test("[V12] a turn begins with the last user prompt above, hidden ones not counted", () => {
    expect(promptOf(node(tree, "a2")).prompt?.entry.id).toBe("p1");
    expect(promptOf(node(tree, "p1")).prompt?.entry.id).toBe("p1");
    expect(promptOf(node(tree, "s"))).toEqual({ prompt: null, top: node(tree, "s") });
  });

  test("[V12] without the prompt loaded, the walk ends at the topmost entry that is", () => {
    const part = treeOf(
      message("x", "gone", 5, { role: "assistant" }),
      message("y", "x", 6, { role: "tool" }),
    );
    expect(promptOf(node(part, "y"))).toEqual({ prompt: null, top: node(part, "x") });
  });
});

describe("[V2] the line that nobody asked for", () => {
  const leafAfter = (...records: readonly LogRecord[]) => {
    const registers = createRegisters();
    for (const record of records) if (record.kind === "register") registers.apply(record);
    return defaultLeaf(treeOf(...records), registers)?.entry.id ?? null;
  };
  const [one, two] = [message("one", null, 1), message("two", null, 2)];

  test("is the newest entry's, or the one that `view:active` named after it", () => {
    expect(leafAfter(one, register("view:active", 2, "one"), message("two", null, 3))).toBe("two");
    expect(leafAfter(one, two, register("view:active", 3, "one"))).toBe("one");
  });

  test("[F8] after a reset it is none, or the one that was named after the reset", () => {
    const reset = register("reset", 4, "first");
    expect(leafAfter(one, two, register("view:active", 3, "one"), reset)).toBeNull();
    expect(leafAfter(one, two, reset, register("view:active", 5, "one"))).toBe("one");
    expect(leafAfter(one, two, reset, register("view:active", 5, "one"), message("x", null, 6))).toBe("x");
  });
});
