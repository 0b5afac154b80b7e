import {
  type Entry,
  type LogRecord,
  newestChild,
  oldestChild,
  pathTo,
  promptOf,
  type Tree,
  type TreeNode,
  tipOf,
} from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomLog } from "./random-log.js";
import { append, id, message, register, seq, streaming } from "./records.js";
import { idsOf, node, treeOf } from "./trees.js";

/** All that a tree says, in a form that can be compared. */
const contentOf = (tree: Tree) => ({
  size: tree.size,
  newest: tree.newest?.entry.id,
  roots: idsOf(tree.roots),
  nodes: [...tree.nodes()]
    .map(({ entry, parent, children }) => ({ entry, parent: parent?.entry.id, children: idsOf(children) }))
    .sort((a, b) => a.entry.seq - b.entry.seq),
});

describe("[T1] the tree is a pure function of the log", () => {
  test("the same records give the same tree", () => {
    fc.assert(
      fc.property(randomLog, (log) => {
        const copy = JSON.parse(JSON.stringify(log)) as LogRecord[];
        expect(JSON.stringify(contentOf(treeOf(...log)))).toBe(JSON.stringify(contentOf(treeOf(...copy))));
      }),
    );
  });

  test("records that come again change nothing", () => {
    fc.assert(
      fc.property(randomLog, fc.array(fc.nat()), (log, repeats) => {
        const tree = treeOf(...log);
        const before = contentOf(tree);
        for (const each of repeats) {
          const record = log[each % Math.max(1, log.length)];
          if (record !== undefined) expect(tree.apply(record).type).toBe("ignored");
        }
        expect(contentOf(tree)).toEqual(before);
      }),
    );
  });

  test("a replica that gets folded entries in any order, twice, holds the same tree", () => {
    const shuffled = randomLog.chain((log) => {
      const folded = [...treeOf(...log).nodes()].map(({ entry }) => entry);
      const twice = [...folded, ...folded];
      return fc.tuple(
        fc.constant(log),
        fc.shuffledSubarray(twice, { minLength: twice.length, maxLength: twice.length }),
      );
    });
    fc.assert(
      fc.property(shuffled, ([log, pages]) => {
        expect(contentOf(treeOf(...pages))).toEqual(contentOf(treeOf(...log)));
      }),
    );
  });

  test("a replica that gets pages of a part agrees on what it holds", () => {
    const part = randomLog.chain((log) => {
      const folded: Entry[] = [...treeOf(...log).nodes()].map(({ entry }) => entry);
      return fc.tuple(fc.constant(log), fc.shuffledSubarray(folded));
    });
    fc.assert(
      fc.property(part, ([log, held]) => {
        const whole = treeOf(...log);
        const replica = treeOf(...held);
        expect(replica.size).toBe(held.length);
        const isHeld = ({ entry }: TreeNode) => replica.get(entry.id) !== undefined;
        for (const one of replica.nodes()) {
          const same = node(whole, one.entry.id);
          expect(one.entry).toEqual(same.entry);
          expect(idsOf(one.children)).toEqual(idsOf(same.children.filter(isHeld)));
          expect(one.parent?.entry.id).toBe(
            same.parent && isHeld(same.parent) ? same.parent.entry.id : undefined,
          );
        }
        expect(idsOf(replica.roots)).toEqual(idsOf(whole.roots.filter(isHeld)));
        for (const { entry } of whole.nodes()) {
          const expected = idsOf(whole.children(entry.id).filter(isHeld));
          expect(idsOf(replica.children(entry.id))).toEqual(expected);
        }
      }),
    );
  });
});

describe("[T2] alternatives are ordered by seq", () => {
  test("whatever order they come in, and whatever their ids and times", () => {
    const tree = treeOf(
      message("r", null, 1),
      message("z", "r", 2, { time: 900 }),
      message("a", "r", 9, { time: 1 }),
      message("m", "r", 5, { time: 500 }),
    );
    expect(idsOf(tree.children(id("r")))).toEqual(["z", "m", "a"]);
  });

  test("roots too", () => {
    expect(idsOf(treeOf(message("b", null, 3), message("a", null, 1)).roots)).toEqual(["a", "b"]);
  });

  test("[F8] [T4] a line is as old as its first entry, also where that is loaded later", () => {
    const [one, two] = [message("one", null, 1), message("two", "one", 2)];
    const [more, still] = [message("more", "two", 5), message("still", "more", 6)];
    const tree = treeOf(register("reset", 3, "first"), message("anew", null, 4), more, still);
    expect(tree.topOf(node(tree, "still"))).toBe(node(tree, "more"));
    expect(tree.newest).toBe(node(tree, "still"));
    tree.apply(two);
    tree.apply(one);
    expect(tree.topOf(node(tree, "still"))).toBe(node(tree, "one"));
    expect(tree.newest).toBe(node(tree, "anew"));
    tree.apply(message("again", "still", 7));
    expect(tree.newest).toBe(node(tree, "anew"));
    tree.apply(register("reset", 8, "second"));
    expect(tree.newest).toBeNull();
  });

  test("[S8] rewrites are counted, tokens are not", () => {
    const tree = treeOf(streaming("a", null, 1), append("a", 2, 0, ["x"]));
    tree.apply({ ...append("a", 3, 1, ["y"]), status: "complete" });
    expect(tree.rewrites).toBe(0);
    tree.apply({ ...message("a", null, 1), rev: seq(9) });
    expect(tree.rewrites).toBe(1);
  });

  test("[V2] the newest entry is the one with the highest seq, not the last applied", () => {
    expect(treeOf(message("b", null, 3), message("a", null, 1)).newest?.entry.id).toBe("b");
  });
});

describe("[T3] parents and children are derived from parentId", () => {
  test("no entry stores them", () => {
    const tree = treeOf(message("a", null, 1), message("b", "a", 2));
    expect(Object.keys(node(tree, "a").entry)).not.toContain("children");
    expect(node(tree, "b").parent).toBe(node(tree, "a"));
    expect(node(tree, "a").children).toEqual([node(tree, "b")]);
  });
});

describe("[T4] a parent that is not loaded", () => {
  test("its child is not shown as a root", () => {
    const tree = treeOf(message("b", "a", 2));
    expect(tree.roots).toEqual([]);
    expect(node(tree, "b").parent).toBeNull();
    expect(idsOf(tree.children(id("a")))).toEqual(["b"]);
  });

  test("takes up its children in order when it comes", () => {
    const tree = treeOf(message("c", "a", 5), message("b", "a", 3), message("a", null, 1));
    expect(idsOf(node(tree, "a").children)).toEqual(["b", "c"]);
    expect(idsOf(pathTo(node(tree, "c")))).toEqual(["a", "c"]);
  });

  test("an append to an entry that is not held is told as missing", () => {
    expect(treeOf().apply(append("x", 2, 0, ["a"]))).toEqual({ type: "missing", id: "x" });
  });
});

const DEEP = 200_000;
const WIDE = 50_000;

describe("[T5] large trees", () => {
  test("200,000 deep, top down and bottom up", () => {
    const chain = Array.from({ length: DEEP }, (_, at) =>
      message(`e${at}`, at === 0 ? null : `e${at - 1}`, at + 1),
    );
    for (const records of [chain, chain.toReversed()]) {
      const tree = treeOf(...records.slice(0, 0));
      for (const record of records) tree.apply(record);
      expect(pathTo(node(tree, `e${DEEP - 1}`))).toHaveLength(DEEP);
      expect(tipOf(node(tree, "e0"), newestChild)).toBe(tree.newest);
      expect(promptOf(node(tree, "e5")).prompt).toBe(node(tree, "e5"));
    }
  });

  test("50,000 alternatives, newest last and newest first", () => {
    const wide = Array.from({ length: WIDE }, (_, at) => message(`e${at}`, "r", at + 2));
    for (const records of [wide, wide.toReversed()]) {
      const tree = treeOf(message("r", null, 1));
      for (const record of records) tree.apply(record);
      expect(node(tree, "r").children).toHaveLength(WIDE);
      expect(tipOf(node(tree, "r"), newestChild).entry.id).toBe(`e${WIDE - 1}`);
      expect(tipOf(node(tree, "r"), oldestChild).entry.id).toBe("e0");
    }
  });

  test("50,000 alternatives before their parent", () => {
    const tree = treeOf();
    for (let at = 0; at < WIDE; at++) tree.apply(message(`e${at}`, "r", at + 2));
    tree.apply(message("r", null, 1));
    expect(node(tree, "r").children).toHaveLength(WIDE);
  });
});

describe("[T6] folding a record touches its own entry alone", () => {
  test("every other node keeps its object", () => {
    const tree = treeOf(message("a", null, 1), streaming("b", "a", 2), message("c", "b", 3));
    const before = ["a", "b", "c"].map((name) => node(tree, name).entry);
    tree.apply(append("b", 4, 0, ["x"]));
    const after = ["a", "b", "c"].map((name) => node(tree, name).entry);
    expect(after.map((entry, at) => entry === before[at])).toEqual([true, false, true]);
  });
});

describe("[S4] a replica never guesses", () => {
  const start = () => treeOf(streaming("a", null, 1), append("a", 2, 0, ["abc"]));
  const textOf = (tree: Tree) => node(tree, "a").entry;

  test("a record at or below the rev is ignored", () => {
    const tree = start();
    expect(tree.apply(append("a", 2, 0, ["abc"])).type).toBe("ignored");
    expect(tree.apply(append("a", 1, 3, ["zzz"])).type).toBe("ignored");
    expect(textOf(tree)).toMatchObject({ size: 3, rev: 2, parts: [{ text: "abc" }] });
  });

  test("an overlap is trimmed", () => {
    const tree = start();
    expect(tree.apply(append("a", 4, 1, ["bcde"])).type).toBe("changed");
    expect(textOf(tree)).toMatchObject({ size: 5, rev: 4, parts: [{ text: "abcde" }] });
  });

  test("one that was folded whole still brings its status and rev", () => {
    const tree = start();
    tree.apply(append("a", 4, 0, ["abc"], { status: "complete" }));
    expect(textOf(tree)).toMatchObject({ size: 3, rev: 4, status: "complete", parts: [{ text: "abc" }] });
  });

  test("one beyond the size is missing something, and changes nothing", () => {
    const tree = start();
    const before = textOf(tree);
    expect(tree.apply(append("a", 4, 4, ["e"]))).toEqual({ type: "missing", id: "a" });
    expect(textOf(tree)).toBe(before);
  });

  test("a snapshot takes the place of an older one, in its node", () => {
    const tree = start();
    const held = node(tree, "a");
    const snapshot = { ...streaming("a", null, 1, [{ type: "text", text: "abcdef" }]), rev: seq(7), size: 6 };
    expect(tree.apply(snapshot).type).toBe("changed");
    expect(tree.apply({ ...snapshot, rev: seq(6), size: 5 }).type).toBe("ignored");
    expect(node(tree, "a")).toBe(held);
    expect(held.entry).toMatchObject({ size: 6, rev: 7 });
  });
});

describe("[S8] entries are frozen and replaced", () => {
  test("a held entry does not change under its holder", () => {
    const tree = treeOf(streaming("a", null, 1), append("a", 2, 0, ["x"]));
    const held = node(tree, "a").entry as Extract<Entry, { type: "message" }>;
    const { parts } = held;
    const applied = tree.apply(append("a", 3, 1, ["y", { push: { type: "thinking", text: "t" } }]));
    expect(applied).toMatchObject({ type: "changed", before: held });
    expect(held).toMatchObject({ rev: 2, size: 1, parts: [{ type: "text", text: "x" }] });
    expect(held.parts).toBe(parts);
  });

  test("entry, parts list and each part are frozen, at birth and after appends", () => {
    const tree = treeOf(streaming("a", null, 1, [{ type: "text", text: "" }]));
    const expectFrozen = () => {
      const { entry } = node(tree, "a");
      if (entry.type !== "message") throw new Error("not a message");
      expect([entry, entry.parts, ...entry.parts].every(Object.isFrozen)).toBe(true);
    };
    expectFrozen();
    tree.apply(append("a", 2, 0, ["x", { push: { type: "data", name: "n", data: 1 } }]));
    expectFrozen();
    tree.apply(append("a", 3, 2, [{ set: { data: 2 }, part: 1 }]));
    expectFrozen();
    tree.apply({ ...streaming("a", null, 1, [{ type: "text", text: "snapshot" }]), rev: seq(9) });
    expectFrozen();
  });
});
