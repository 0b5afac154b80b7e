import { pathTo } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { append, message, streaming, unknownRecord } from "./records.js";
import { idsOf, node, treeOf } from "./trees.js";

describe("[L5] what a newer version wrote", () => {
  test("an unknown kind is no part of the tree", () => {
    const tree = treeOf();
    expect(tree.apply(unknownRecord({ kind: "reaction", id: "x", seq: 1 })).type).toBe("ignored");
    expect(tree.size).toBe(0);
  });

  test("an unknown entry type is kept as it is, and keeps its place", () => {
    const { parts: _, role: __, ...rest } = message("a", null, 1);
    const entry = { ...rest, type: "poll", question: "?", options: ["x"] };
    const tree = treeOf(unknownRecord(entry), message("b", "a", 2));
    expect(node(tree, "a").entry).toEqual(entry);
    expect(idsOf(pathTo(node(tree, "b")))).toEqual(["a", "b"]);
  });

  test("an unknown entry type that grows keeps its position, so that no append seems missing", () => {
    const { parts: _, role: __, ...rest } = streaming("a", null, 1);
    const tree = treeOf(unknownRecord({ ...rest, type: "poll" }));
    expect(tree.apply(append("a", 2, 0, ["ab"])).type).toBe("changed");
    expect(tree.apply(append("a", 3, 2, ["c"], { status: "complete" })).type).toBe("changed");
    expect(node(tree, "a").entry).toMatchObject({ type: "poll", size: 3, rev: 3, status: "complete" });
  });

  test("unknown fields of entries and parts outlive an append", () => {
    const part = { type: "text", text: "a", citations: [1] };
    const entry = { ...streaming("a", null, 1), parts: [part], mood: "good" };
    const tree = treeOf(unknownRecord(entry), append("a", 2, 0, ["b"]));
    expect(node(tree, "a").entry).toMatchObject({ mood: "good", parts: [{ ...part, text: "ab" }] });
  });

  test("unknown parts and deltas are passed over, and count as one", () => {
    const parts = [{ type: "hologram", beams: 3 }];
    const tree = treeOf(unknownRecord({ ...streaming("a", null, 1), parts }));
    tree.apply(append("a", 2, 0, ["lost"]));
    tree.apply(unknownRecord({ ...append("a", 3, 4, []), deltas: [{ swap: [0, 1] }] }));
    expect(node(tree, "a").entry).toMatchObject({ parts, size: 5 });
  });
});
