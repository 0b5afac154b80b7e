/** Where the server puts a new entry (P1–P4), and what an entry may name. */
import { createTree, type EntryId, type Tree } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { createPlacing } from "../../server/src/place.js";
import {
  at,
  expectType,
  follow,
  joinedAs,
  publish,
  publishWithRun,
  type RawClient,
  say,
} from "../kit/raw.js";
import { createWorld } from "../kit/world.js";
import { message } from "./store/records.js";

const begin = async () => {
  const world = await createWorld();
  const ann = await joinedAs(world, "ann");
  const put = async (place: object, id: string) => {
    const answer = await ann.client.ask(publish(ann.ch, at(place, say(id))));
    return answer.type === "ack"
      ? answer.entries[0]?.parentId
      : (answer as { error: { code: string } }).error.code;
  };
  return { world, ...ann, put };
};

describe("[P1] after", () => {
  test("case-B1 two send at once from one leaf: one line, in the server's order", async () => {
    const { world, client, ch, put } = await begin();
    const bob = await joinedAs(world, "bob");
    await put({ after: null }, "u");
    const numbers: [RawClient, number][] = [
      [client, client.post(publish(ch, follow("u", say("a1")), follow("a1", say("a2"))))],
      [bob.client, bob.client.post(publish(bob.ch, follow("u", say("b1")), follow("b1", say("b2"))))],
    ];
    await world.settle();
    const placed = numbers.flatMap(([by, n]) => expectType(by.answer(n) as never, "ack").entries);
    expect(placed.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["a1", "u"],
      ["a2", "a1"],
      ["b1", "a2"],
      ["b2", "b1"],
    ]);
    for (const { children } of (await world.fold("s")).nodes()) expect(children.length).toBeLessThan(2);
  });

  test("goes on from the tip of the newest line through the entry", async () => {
    const { put } = await begin();
    await put({ after: null }, "u");
    await put({ after: "u" }, "m1");
    await put({ forkOf: "m1" }, "m2");
    await put({ after: "m1" }, "m1b");
    expect(await put({ after: "u" }, "x")).toBe("m2");
    expect(await put({ after: "m1" }, "y")).toBe("m1b");
    expect(await put({ after: "m1b" }, "z")).toBe("y");
  });

  test("after null: the tip of the newest root's line, or a new root where there is none", async () => {
    const { put } = await begin();
    expect(await put({ after: null }, "r1")).toBeNull();
    expect(await put({ after: null }, "a")).toBe("r1");
    await put({ under: null }, "r2");
    expect(await put({ after: null }, "b")).toBe("r2");
    expect(await put({ after: null }, "c")).toBe("b");
  });
});

test("[P2] forkOf: an alternative to the entry, with its parent; of a root, another root", async () => {
  const { put } = await begin();
  await put({ after: null }, "u");
  await put({ after: "u" }, "m");
  await put({ after: "m" }, "below");
  expect(await put({ forkOf: "m" }, "m2")).toBe("u");
  expect(await put({ forkOf: "m2" }, "m3")).toBe("u");
  expect(await put({ forkOf: "u" }, "u2")).toBeNull();
  expect(await put({ forkOf: "u2" }, "u3")).toBeNull();
});

test("[P2] case-B4 an edit of an edit of an edit, from three devices at once: four alternatives in order", async () => {
  const { world, put, ch } = await begin();
  await put({ after: null }, "p");
  await put({ after: "p" }, "v1");
  const devices = await Promise.all(["d1", "d2", "d3"].map((writer) => joinedAs(world, "ann", { writer })));
  for (const [index, { client }] of devices.entries())
    client.post(publish(ch, at({ forkOf: `v${index + 1}` }, say(`v${index + 2}`))));
  await world.settle();
  const children = (await world.fold("s")).children("p" as EntryId).map(({ entry }) => entry.id);
  expect(children).toEqual(["v1", "v2", "v3", "v4"]);
});

test("[P3] under: a child of exactly that entry; of null, always a new root", async () => {
  const { put } = await begin();
  await put({ under: null }, "u");
  await put({ after: "u" }, "m");
  await put({ after: "m" }, "n");
  expect(await put({ under: "u" }, "m2")).toBe("u");
  expect(await put({ under: "m" }, "n2")).toBe("m");
  expect(await put({ under: null }, "u2")).toBeNull();
});

test("[T4] an unknown entry is no place", async () => {
  const { put, world } = await begin();
  for (const place of [{ after: "x" }, { under: "x" }, { forkOf: "x" }])
    expect(await put(place, "a")).toBe("unknown_parent");
  // Not even itself.
  expect(await put({ after: "a" }, "a")).toBe("unknown_parent");
  expect(await world.records("s")).toEqual([]);
});

test("[P4] the acknowledgement says what the log says", async () => {
  const { client, ch, world } = await begin();
  const ack = expectType(
    await client.ask(
      publish(ch, follow(null, say("a")), at({ under: null }, say("b")), at({ forkOf: "a" }, say("c"))),
    ),
    "ack",
  );
  const tree = await world.fold("s");
  for (const { id, seq, parentId } of ack.entries)
    expect(tree.get(id)?.entry).toMatchObject({ seq, parentId });
});

describe("[V12] a run that regenerates is placed by the server", () => {
  const place = async (id: string) => {
    const { client, ch } = await begin();
    await client.ask(
      publish(
        ch,
        follow(null, say("system", "", { role: "system" })),
        follow("system", say("prompt")),
        follow("prompt", say("hint", "", { audience: "model" })),
        follow("hint", say("call", "", { role: "assistant" })),
        follow("call", say("result", "", { role: "tool" })),
        follow("result", say("reply", "", { role: "assistant" })),
      ),
    );
    const ack = expectType(
      await client.ask(publishWithRun(ch, { id: "r", place: { regenerate: id } })),
      "ack",
    );
    return [ack.run?.place, ack.run?.inputId];
  };

  test("case-B12 an alternative to everything since the last user prompt", async () => {
    for (const id of ["reply", "result", "call", "hint", "prompt"])
      expect(await place(id)).toEqual([{ under: "prompt" }, "prompt"]);
  });

  test("before the first prompt: a new root", async () => {
    expect(await place("system")).toEqual([{ under: null }, null]);
  });
});

describe("[C3] a compaction names its ancestors", () => {
  const compaction = (id: string, more: object) => ({ id, type: "compaction", summary: "…", ...more });
  const begun = async () => {
    const { client, ch } = await begin();
    await client.ask(
      publish(
        ch,
        follow(null, say("a")),
        follow("a", say("b")),
        follow("b", say("c")),
        at({ forkOf: "c" }, say("other")),
      ),
    );
    return (more: object, place: object = { under: "c" }) =>
      client.ask(publish(ch, at(place, compaction("k", more))));
  };

  test.each([
    { upToId: "b", firstKeptId: "b" },
    { upToId: "c", firstKeptId: null, keptIds: ["a", "b"] },
    { upToId: "c", firstKeptId: "a" },
  ])("taken: %j", async (more) => {
    expectType(await (await begun())(more), "ack");
  });

  test.each([
    { upToId: "other", firstKeptId: null },
    { upToId: "nowhere", firstKeptId: null },
    { upToId: "c", firstKeptId: "other" },
    { upToId: "c", firstKeptId: null, keptIds: ["a", "other"] },
    { upToId: "k", firstKeptId: null },
  ])("refused: %j", async (more) => {
    expect(await (await begun())(more)).toMatchObject({ error: { code: "invalid" } });
  });

  test("also among the entries of its own batch", async () => {
    const { client, ch } = await begin();
    await client.ask(publish(ch, follow(null, say("a"))));
    const batch = (id: string, upToId: string) =>
      publish(
        ch,
        at({ under: "a" }, say(`${id}1`)),
        at({ under: "a" }, say(`${id}2`)),
        at({ under: `${id}2` }, compaction(`${id}3`, { upToId, firstKeptId: "a" })),
      );
    expectType(await client.ask(batch("x", "x2")), "ack");
    expect(await client.ask(batch("y", "y1"))).toMatchObject({ error: { code: "invalid" } });
  });

  test("[C8] a branch summary names an entry that is there", async () => {
    const { client, ch } = await begin();
    await client.ask(publish(ch, follow(null, say("a"))));
    const summary = (id: string, fromId: string) =>
      follow("a", { id, type: "branch-summary", fromId, summary: "…" });
    expect(await client.ask(publish(ch, summary("b", "nowhere")))).toMatchObject({
      error: { code: "invalid" },
    });
    expectType(await client.ask(publish(ch, follow("a", say("c")), summary("b", "c"))), "ack");
  });
});

test("[T6] case-B9 a batch that goes on from the root of a long line walks it once", () => {
  const depth = 10_000;
  const tree = createTree();
  for (let seq = 1; seq <= depth; seq += 1)
    tree.apply(message(seq, "", { parentId: seq === 1 ? null : (`e${seq - 1}` as EntryId) }));
  let steps = 0;
  const counting: Tree = {
    ...tree,
    get: tree.get,
    children: (parentId) => {
      steps += 1;
      return tree.children(parentId);
    },
  };
  const placing = createPlacing(counting);
  for (let index = 0; index < 1000; index += 1) {
    const id = `x${index}` as EntryId;
    const parentId = placing.parentFor({ after: "e1" as EntryId });
    expect(parentId).toBe(index === 0 ? `e${depth}` : `x${index - 1}`);
    placing.add(id, parentId ?? null);
  }
  expect(steps).toBeLessThan(depth + 5 * 1000);
});

test("[P1] a batch that branches and goes on sees its own branches", async () => {
  const { client, ch } = await begin();
  await client.ask(publish(ch, follow(null, say("a")), follow("a", say("b")), follow("b", say("c"))));
  const ack = expectType(
    await client.ask(
      publish(
        ch,
        follow("a", say("d")),
        at({ under: "b" }, say("e")),
        follow("a", say("f")),
        at({ forkOf: "a" }, say("g")),
        follow(null, say("h")),
        follow("a", say("i")),
        at({ under: "a" }, say("j")),
        follow("a", say("k")),
        follow("b", say("l")),
      ),
    ),
    "ack",
  );
  const parents = Object.fromEntries(ack.entries.map(({ id, parentId }) => [id, parentId]));
  expect(parents).toEqual({ d: "c", e: "b", f: "e", g: null, h: "g", i: "f", j: "a", k: "j", l: "i" });
});
