/** F1 and F3: where a line is cut for a fork, and what its entries are there. */
import { context, type Entry, type EntryId, forkPath, forkPoint } from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compaction, line, note, other, prompt, reply, replyAs, result, system } from "./lines.js";
import { id, message } from "./records.js";

const cutOf = (path: readonly Entry[]): string | null => forkPoint(path)?.entry.id ?? null;

/** Copies named after their source. */
const copyOf = (path: readonly Entry[]): Entry[] => [...forkPath(path, (source) => id(`${source.id}2`))];

describe("[F3] a fork is cut at the path's end", () => {
  test("where nothing is open", () => {
    const path = line(prompt("u"), reply("a", "c"), result("t", "c"), reply("b"));
    expect(forkPoint(path)).toEqual({ index: 3, entry: path[3] });
    expect(cutOf(path.slice(0, 3))).toBe("t");
  });

  test("before the first entry, where there is none", () => expect(forkPoint([])).toBeNull());

  test("but before a reply whose call has no result by then", () => {
    const path = line(prompt("u"), reply("a", "c"), note("n"));
    expect(cutOf(path)).toBe("u");
    expect(cutOf(path.slice(1))).toBeNull();
  });

  test("but before a reply of which only some results are on the path", () => {
    const path = line(prompt("u"), reply("a", "c", "d"), result("t", "d"), result("s", "c"));
    expect(cutOf(path.slice(0, 3))).toBe("u");
    expect(cutOf(path)).toBe("s");
  });

  test("but before the first of two replies where the calls of both are open", () => {
    const path = line(prompt("u"), reply("a", "c"), reply("b", "d"), result("t", "d"));
    expect(cutOf(path)).toBe("u");
  });

  test("but before a message that streams, also where something was written below it", () => {
    const path = line(prompt("u"), replyAs("a", { status: "streaming" }), prompt("v"), reply("b"));
    expect(cutOf(path)).toBe("u");
    expect(cutOf(path.slice(0, 2))).toBe("u");
  });

  test("with an outcome that the call holds itself", () => {
    const part = { type: "tool-call", callId: "c", name: "look", input: "{}" } as const;
    const done = replyAs("a", { parts: [{ ...part, state: "done", output: 1 }] });
    const asking = replyAs("a", { parts: [{ ...part, state: "asking" }] });
    expect(cutOf(line(prompt("u"), done))).toBe("a");
    expect(cutOf(line(prompt("u"), asking))).toBe("u");
  });

  test("[case-C7] a call that was interrupted does not tie the line for ever", () => {
    const path = line(prompt("u"), reply("a", "c"), prompt("v"), reply("b"), prompt("w"));
    expect(cutOf(path.slice(0, 3))).toBe("u");
    expect(cutOf(path.slice(0, 4))).toBe("b");
    expect(cutOf(path)).toBe("w");
    expect(cutOf(line(prompt("u"), replyAs("a", { status: "aborted" }, "c")))).toBe("a");
  });

  test("[case-C8] an id that two replies use pairs within each", () => {
    const path = line(prompt("u"), reply("a", "c"), result("t", "c"), reply("b", "c"));
    expect(cutOf(path)).toBe("t");
  });
});

describe("[F1] a fork by copy", () => {
  test("has ids of its own, one line, seqs from 1, and all else as it was", () => {
    const path = line(
      system("s"),
      prompt("u", { meta: { a: 1 }, size: 4 }),
      replyAs("a", { status: "failed" }),
    );
    const source = path.map((entry) => ({ ...entry, seq: entry.seq + 70, rev: entry.rev + 80 }) as Entry);
    expect(copyOf(source)).toEqual([
      { ...path[0], id: "s2", parentId: null },
      { ...path[1], id: "u2", parentId: "s2" },
      { ...path[2], id: "a2", parentId: "u2" },
    ]);
  });

  test("leaves out runs and writers, which are of the source", () => {
    const [copy] = copyOf([message("a", null, 9, { runId: "r" as never, writer: "w" as never })]);
    expect(copy).not.toHaveProperty("runId");
    expect(copy).not.toHaveProperty("writer");
  });

  test("counts seqs from where it is told to", () => {
    const copies = [...forkPath(line(prompt("u"), prompt("v")), ({ id }) => id, 41)];
    expect(copies.map(({ seq, rev }) => [seq, rev])).toEqual([
      [41, 41],
      [42, 42],
    ]);
  });

  test("maps what a compaction and a branch-summary name", () => {
    const copies = copyOf(
      line(
        prompt("u"),
        prompt("v"),
        reply("b"),
        compaction("k", { firstKept: "b", upTo: "b", kept: ["u", "gone"] }),
        other("m", { type: "branch-summary", fromId: "v", summary: "" }),
        other("n", { type: "branch-summary", fromId: "elsewhere", summary: "" }),
      ),
    );
    expect(copies[3]).toMatchObject({ firstKeptId: "b2", upToId: "b2", keptIds: ["u2"] });
    expect(copies[4]).toMatchObject({ fromId: "v2" });
    expect(copies[5]).toMatchObject({ fromId: "elsewhere" });
  });

  test("[case-C2] a kept entry that was left out: its neighbours' window, or more", () => {
    const path = line(
      prompt("u"),
      prompt("v"),
      prompt("w"),
      prompt("x"),
      prompt("y"),
      compaction("k", { firstKept: "w", upTo: "x" }),
    );
    const without = (...names: string[]) => copyOf(path.filter(({ id }) => !names.includes(id)));
    const read = (copies: readonly Entry[]) => context(copies).map(({ entryId }) => entryId);
    expect(read(copyOf(path))).toEqual(["k2", "w2", "x2", "y2"]);
    expect(read(without("w"))).toEqual(["k2", "x2", "y2"]);
    expect(read(without("x"))).toEqual(["k2", "w2", "y2"]);
    expect(read(without("u", "v", "w"))).toEqual(["k2", "x2", "y2"]);
    expect(read(without("w", "x"))).toEqual(["k2", "u2", "v2", "y2"]);
  });

  test("[C2] the context of the copy is that of the source", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4), { maxLength: 12 }), fc.nat(), fc.nat(), (kinds, a, b) => {
        const items = kinds.map((kind, at) => (kind === 0 ? note(`n${at}`) : prompt(`u${at}`)));
        const [first = 0, upTo = 0] = [a % (items.length + 1), b % (items.length + 1)].sort((x, y) => x - y);
        const name = (at: number) => line(...items)[at]?.id ?? null;
        const upToName = name(upTo) ?? name(items.length - 1);
        if (upToName === null) return;
        const path = line(...items, compaction("k", { firstKept: name(first), upTo: upToName }), prompt("z"));
        const texts = (of: readonly Entry[]) => context(of).map(({ role, parts }) => ({ role, parts }));
        expect(texts(copyOf(path))).toEqual(texts(path));
      }),
    );
  });

  test("[case-B9] 200,000 entries, one at a time, in a time that grows with their number", () => {
    const long = function* (): Iterable<Entry> {
      for (let at = 1; at <= 200_000; at += 1) yield message(`e${at}`, at === 1 ? null : `e${at - 1}`, at);
    };
    let count = 0;
    let last: EntryId | null = null;
    let isChained = true;
    for (const copy of forkPath(long(), ({ id: source }) => id(`${source}x`))) {
      isChained &&= copy.parentId === last;
      last = copy.id;
      count += 1;
    }
    expect(isChained).toBe(true);
    expect(count).toBe(200_000);
    expect(forkPoint(long())?.index).toBe(199_999);
  });
});
