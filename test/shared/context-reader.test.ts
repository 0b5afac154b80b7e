import {
  type ContextMessage,
  type ContextReader,
  context,
  contextEntries,
  createContextReader,
  type Entry,
  pathTo,
  settings,
  type Tree,
  type TreeNode,
} from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contextSteps, play } from "./context-log.js";
import {
  call,
  chain,
  compaction,
  erased,
  type Link,
  read,
  reply,
  result,
  system,
  text,
  tool,
  user,
} from "./context-records.js";
import { append, id } from "./records.js";
import { node, treeOf } from "./trees.js";

const pathOf = (leaf: TreeNode | null): Entry[] =>
  leaf === null ? [] : pathTo(leaf).map(({ entry }) => entry);

/** Whether each call is answered once, right behind its reply, and no result stands anywhere else. */
const isPaired = (messages: readonly ContextMessage[]): boolean => {
  const open: string[] = [];
  let isReply = false;
  for (const { role, parts } of messages) {
    const goesOn = isReply && role === "assistant" && parts.some(({ type }) => type === "tool-call");
    if (role !== "tool" && open.length > 0 && !goesOn) return false;
    isReply = role === "assistant";
    for (const part of parts) {
      if (part.type === "tool-call" && part.output === undefined) open.push(part.callId);
      if (part.type !== "tool-result") continue;
      if (!open.includes(part.callId)) return false;
      open.splice(open.indexOf(part.callId), 1);
    }
  }
  return open.length === 0;
};

describe("any conversation", () => {
  test("[C4] [S8] a reader says at every leaf what the context of its path says", () => {
    fc.assert(
      fc.property(contextSteps, (steps) => {
        let reader: ContextReader | undefined;
        for (const { tree, leaf } of play(steps)) {
          reader ??= createContextReader(tree);
          expect(reader.at(leaf)).toEqual(context(pathOf(leaf)));
          expect(reader.at(leaf)).toBe(reader.at(leaf));
        }
      }),
      { numRuns: 500 },
    );
  });

  test("[C6] has a context in which every call is answered, right behind it", () => {
    fc.assert(
      fc.property(contextSteps, (steps) => {
        for (const { leaf } of play(steps)) expect(isPaired(context(pathOf(leaf)))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("[C2] [C7] has the same context and settings by the entries that they are made of", () => {
    fc.assert(
      fc.property(contextSteps, (steps) => {
        let reader: ContextReader | undefined;
        for (const { tree, leaf } of play(steps)) {
          reader ??= createContextReader(tree);
          const path = pathOf(leaf);
          const entries = reader.entries(leaf);
          expect(entries).toEqual(contextEntries(path));
          expect(context(contextEntries(entries))).toEqual(context(path));
          expect(context(entries)).toEqual(context(path));
          expect(settings(entries)).toEqual(settings(path));
        }
      }),
      { numRuns: 500 },
    );
  });

  test("[C10] stays valid whatever an edit leaves out", () => {
    fc.assert(
      fc.property(contextSteps, fc.integer({ min: 2, max: 4 }), (steps, nth) => {
        for (const { leaf } of play(steps)) {
          let asked = 0;
          const edit = (message: ContextMessage) => (asked++ % nth === 0 ? null : message);
          expect(isPaired(context(pathOf(leaf), { edit }))).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("a reader", () => {
  const grown = (tree: Tree, link: Link, parent: string, at: number): TreeNode => {
    const entry = link(parent, at);
    tree.apply(entry);
    return node(tree, entry.id);
  };
  const chats = [system("s"), user("u"), reply("a", [call("x")]), tool("t", [result("x")])];

  test("[S8] gives the messages of entries that did not change as the same objects", () => {
    const tree = treeOf(...chain(...chats, reply("b", [text("b")], { status: "streaming" })));
    const reader = createContextReader(tree);
    const first = reader.at(node(tree, "b"));
    tree.apply(append("b", 9, 0, ["c"]));
    const second = reader.at(node(tree, "b"));
    expect(read(second).at(-1)).toBe("assistant: bc");
    expect(read(first).at(-1)).toBe("assistant: b");
    const third = reader.at(grown(tree, user("v"), "b", 10));
    for (let index = 0; index < 4; index++) {
      expect(second[index]).toBe(first[index]);
      expect(third[index]).toBe(first[index]);
    }
    expect(third[4]).toBe(second[4]);
    const cut = reader.at(grown(tree, compaction("K", "b", "v"), "v", 11));
    expect(cut[2]).toBe(second[4]);
  });

  test("[C6] a result that comes takes the place of what was put in for it", () => {
    const tree = treeOf(...chain(...chats.slice(0, 3), user("v")));
    const reader = createContextReader(tree);
    expect(read(reader.at(node(tree, "v"))).slice(2)).toEqual([
      "assistant: x?",
      "tool: x=interrupted",
      "user: v",
    ]);
    const late = grown(tree, tool("t", [result("x")]), "v", 9);
    expect(read(reader.at(late)).slice(2)).toEqual(["assistant: x?", "tool: x=found x", "user: v"]);
    expect(read(reader.at(node(tree, "v")))[3]).toBe("tool: x=interrupted");
  });

  test("[L2] an entry that is erased above the leaf, or above a cut, is not sent again", () => {
    const tree = treeOf(...chain(...chats, compaction("K", null, "t"), user("v"), user("w")));
    const reader = createContextReader(tree);
    expect(read(reader.at(node(tree, "w")))).toEqual(["system: s", "user: sum K", "user: v", "user: w"]);
    tree.apply(erased(node(tree, "s").entry, 20));
    tree.apply(erased(node(tree, "v").entry, 21));
    expect(read(reader.at(node(tree, "w")))).toEqual(["user: sum K", "user: w"]);
    tree.apply(erased(node(tree, "K").entry, 22));
    expect(read(reader.at(node(tree, "w")))).toEqual([
      "user: u",
      "assistant: x?",
      "tool: x=found x",
      "user: w",
    ]);
  });

  test("[T4] older entries that are loaded later are read from then on", () => {
    const path = chain(system("s"), user("u"), reply("a"), compaction("K", "a", "a"), user("v"));
    const window = treeOf(...path.slice(2));
    const reader = createContextReader(window);
    expect(read(reader.at(node(window, "v")))).toEqual(["user: sum K", "assistant: a", "user: v"]);
    window.apply(path[1] as Entry);
    window.apply(path[0] as Entry);
    expect(read(reader.at(node(window, "v")))[0]).toBe("system: s");
    expect(read(reader.at(node(window, "a")))).toEqual(["system: s", "user: u", "assistant: a"]);
  });

  test("reads nothing before the first entry", () => {
    expect(createContextReader(treeOf()).at(null)).toEqual([]);
    expect(createContextReader(treeOf()).entries(null)).toEqual([]);
  });
});

/** A line of nodes that counts how often one was asked for its parent. */
const countedLine = (entries: readonly Entry[]) => {
  const steps = { count: 0 };
  let leaf: TreeNode | null = null;
  const grow = (entry: Entry): TreeNode => {
    const parent = leaf;
    leaf = {
      entry,
      children: [],
      get parent() {
        steps.count++;
        return parent;
      },
    };
    return leaf;
  };
  for (const entry of entries) grow(entry);
  return { steps, grow, leaf: () => leaf as TreeNode | null };
};

describe("[T6] what a reader costs", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => user(`u${index}`));

  test("is the walk to what it read before", () => {
    const { steps, grow, leaf } = countedLine(chain(...many));
    const reader = createContextReader({ rewrites: 0 });
    reader.at(leaf());
    steps.count = 0;
    reader.at(grow(user("v")("u9999", 10_001)));
    expect(steps.count).toBeLessThan(5);
  });

  test("[S8] a token looks at nothing that was final when it was read, an erasure once at all of it", () => {
    const looks = { count: 0 };
    const changes = { rewrites: 0 };
    let held = chain(...many.slice(0, 1000), reply("a", [text("a")], { status: "streaming" }));
    const nodes: TreeNode[] = held.map((_, index) => ({
      get entry() {
        looks.count++;
        return held[index] as Entry;
      },
      get parent() {
        return nodes[index - 1] ?? null;
      },
      children: [],
    }));
    const leaf = nodes.at(-1) as TreeNode;
    const reader = createContextReader(changes);
    reader.at(leaf);
    const looked = (change: (entry: Entry) => Entry, place: number): number => {
      held = held.with(place, change(held.at(place) as Entry));
      looks.count = 0;
      expect(reader.at(leaf)).toEqual(context(held));
      return looks.count;
    };
    const token = (entry: Entry): Entry => ({ ...entry, parts: [text("ab")] }) as Entry;
    expect(looked(token, -1)).toBeLessThan(10);
    changes.rewrites++;
    expect(looked((entry) => ({ ...entry, parts: [] }) as Entry, 990)).toBeLessThan(1100);
    expect(looked(token, -1)).toBeLessThan(10);
  });

  test("[case-C5] is the kept window after a compaction, however long the path above it", () => {
    const { steps, grow, leaf } = countedLine(chain(...many, compaction("K", "u9980", "u9999")));
    const reader = createContextReader({ rewrites: 0 });
    expect(reader.at(leaf())).toHaveLength(21);
    steps.count = 0;
    expect(reader.at(grow(user("v")("K", 10_002)))).toHaveLength(22);
    reader.entries(leaf());
    expect(steps.count).toBeLessThan(10);
  });

  test("[T5] [case-B9] 200,000 deep is an ordinary case", () => {
    const tree = treeOf();
    for (let index = 0; index < 200_000; index++)
      tree.apply(user(`u${index}`)(index === 0 ? null : `u${index - 1}`, index + 1));
    expect(createContextReader(tree).at(tree.get(id("u199999")) ?? null)).toHaveLength(200_000);
  });
});
