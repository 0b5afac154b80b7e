/** What gets into a log: ids, repeats, batches, text, and who is believed about what. */
import type { Entry } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  append,
  at,
  expectType,
  follow,
  hello,
  join,
  joinedAs,
  publish,
  publishWithRun,
  register,
  say,
  streaming,
} from "../kit/raw.js";
import { createWorld, textOf } from "../kit/world.js";

const entriesOf = async (world: Awaited<ReturnType<typeof createWorld>>): Promise<Entry[]> =>
  (await world.records("s")).filter((record): record is Entry => record.kind === "entry");

test("[L1] the server gives seq, time and author", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann", { writer: "w1" });
  const ack = expectType(
    await client.ask(publish(ch, follow(null, say("a")), follow(null, say("b")))),
    "ack",
  );
  const entries = await entriesOf(world);
  expect(ack.entries).toEqual(entries.map(({ id, seq, parentId }) => ({ id, seq, parentId })));
  for (const entry of entries)
    expect(entry).toMatchObject({ author: "ann", writer: "w1", time: world.clock.now, rev: entry.seq });
  expect(entries[0]?.seq).toBeGreaterThan(0);
  expect(entries[1]?.seq).toBeGreaterThan(entries[0]?.seq as number);
});

test("[L2] nothing in a log is changed or removed by what comes later", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  await client.ask(publish(ch, follow(null, say("u")), follow("u", streaming("a"))));
  client.send(append(ch, "a", 0, "text"));
  await client.ask(register(ch, "title", "one"));
  await client.ask(publishWithRun(ch, { id: "r", place: { after: "u" } }));
  await client.ask({ type: "claim", ch, id: "r" });
  const before = JSON.stringify(await world.records("s")).slice(0, -1);
  await client.ask(publish(ch, at({ forkOf: "u" }, say("edited")), at({ forkOf: "a" }, say("regenerated"))));
  await client.ask(publish(ch, at({ under: null }, say("rewound")), follow(null, say("u", "other"))));
  client.send(append(ch, "a", 0, "text, and more", { status: "complete" }));
  client.send(append(ch, "a", 0, "none of it", { status: "failed" }));
  await client.ask(register(ch, "title", null));
  await client.ask({ type: "end", ch, id: "r", status: "done" });
  client.close();
  await world.advance(60_000);
  expect(JSON.stringify(await world.records("s")).startsWith(before)).toBe(true);
});

test.each(["seq", "rev", "time", "author", "writer", "parentId", "size", "kind"])(
  "[L1] a draft that brings `%s` is refused, and the connection goes on",
  async (field) => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const refused = await client.ask(publish(ch, follow(null, say("a", "a", { [field]: 1 }))));
    expect(refused).toMatchObject({ type: "refused", error: { code: "invalid" } });
    expect(await world.records("s")).toEqual([]);
    expectType(await client.ask(publish(ch, follow(null, say("a")))), "ack");
  },
);

describe("[L4] a repeat of a publish is acknowledged with the first one's seq and parent", () => {
  const begin = async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, say("root"))));
    const first = expectType(await client.ask(publish(ch, follow("root", streaming("a")))), "ack");
    return { world, client, ch, first: first.entries };
  };

  test("[L3] at once", async () => {
    const { world, client, ch, first } = await begin();
    const again = expectType(await client.ask(publish(ch, follow("root", streaming("a")))), "ack");
    expect(again.entries).toEqual(first);
    expect(await entriesOf(world)).toHaveLength(2);
  });

  test("with another place", async () => {
    const { world, client, ch, first } = await begin();
    for (const place of [{ under: null }, { after: "nowhere" }, { forkOf: "root" }]) {
      const again = expectType(await client.ask(publish(ch, at(place, streaming("a")))), "ack");
      expect(again.entries).toEqual(first);
    }
    expect(await entriesOf(world)).toHaveLength(2);
  });

  test("after appends changed and ended the entry", async () => {
    const { client, ch, first } = await begin();
    client.send(append(ch, "a", 0, "text", { status: "complete", usage: { input: 1, output: 2 } }));
    const again = expectType(await client.ask(publish(ch, follow("root", streaming("a")))), "ack");
    expect(again.entries).toEqual(first);
  });

  test("after a restart of the server on the same store", async () => {
    const { world, client, ch, first } = await begin();
    client.send(append(ch, "a", 0, "text", { status: "complete" }));
    await world.settle();
    world.stopServer();
    await world.startServer();
    const again = await joinedAs(world, "ann");
    const ack = expectType(await again.client.ask(publish(again.ch, follow("root", streaming("a")))), "ack");
    expect(ack.entries).toEqual(first);
  });

  test("from another writer of the same principal", async () => {
    const { world, first } = await begin();
    const other = await joinedAs(world, "ann", { writer: "w2" });
    const ack = expectType(await other.client.ask(publish(other.ch, follow("root", streaming("a")))), "ack");
    expect(ack.entries).toEqual(first);
  });

  test("in one turn with the first", async () => {
    const { world, client, ch } = await begin();
    const numbers = [1, 2, 3].map(() => client.post(publish(ch, follow("root", say("b")))));
    await world.settle();
    const seqs = numbers.map((n) => expectType(client.answer(n) as never, "ack").entries[0]?.seq);
    expect(new Set(seqs).size).toBe(1);
    expect(await entriesOf(world)).toHaveLength(3);
  });
});

test("[L4] another body under the same id is refused with `conflict`", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  await client.ask(publish(ch, follow(null, streaming("a", { meta: { x: 1, y: [2] } }))));
  client.send(append(ch, "a", 0, "text"));
  const bodies = [
    say("a"),
    streaming("a"),
    streaming("a", { meta: { x: 1, y: [3] } }),
    streaming("a", { meta: { x: 1, y: [2] }, usage: { input: 1, output: 1 } }),
    streaming("a", { meta: { x: 1, y: [2] }, role: "user" }),
    streaming("a", { meta: { x: 1, y: [2] }, parts: [{ type: "text", text: "text" }] }),
    { id: "a", type: "custom", name: "n", data: null },
  ];
  for (const body of bodies)
    expect(await client.ask(publish(ch, follow(null, body)))).toMatchObject({ error: { code: "conflict" } });
  // The order of keys is no part of a body.
  expectType(await client.ask(publish(ch, follow(null, streaming("a", { meta: { y: [2], x: 1 } })))), "ack");
  expect(await world.records("s")).toHaveLength(2);
});

test("[L4] the same body from another author is refused with `conflict`", async () => {
  const world = await createWorld();
  const ann = await joinedAs(world, "ann");
  const bob = await joinedAs(world, "bob", { writer: "ann" });
  await ann.client.ask(publish(ann.ch, follow(null, say("a"))));
  const refused = await bob.client.ask(publish(bob.ch, follow(null, say("a"))));
  expect(refused).toMatchObject({ error: { code: "conflict" } });
});

test("[L4] repeats of a run's request, claim and end are acknowledged", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  const request = publishWithRun(ch, { id: "r", place: { after: "a" } }, follow(null, say("a")));
  const claim = { type: "claim", ch, id: "r" };
  const end = { type: "end", ch, id: "r", status: "done" };
  const statuses: (string | undefined)[] = [];
  for (const command of [request, request, claim, request, claim, end, request, claim, end])
    statuses.push(expectType(await client.ask(command), "ack").run?.status);
  expect(statuses).toEqual([
    "requested", "requested", "active", "active", "active", "done", "done", "done", "done",
  ]); // biome-ignore format: one line
  expect((await world.records("s")).map(({ kind }) => kind)).toEqual(["entry", "run", "run", "run"]);
  const other = await client.ask(publishWithRun(ch, { id: "r", place: { after: "a" }, options: { x: 1 } }));
  expect(other).toMatchObject({ error: { code: "conflict" } });
});

describe("[L6] what would make a log unreadable is refused at the door", () => {
  const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  test.each([
    ["too deep", nested(100)],
    ["very deep", nested(100_000)],
    ["a number that is not finite", "1e999"],
    ["half of a surrogate pair", '"\\ud800"'],
    ["half of a surrogate pair as a key", '{"\\udc00":1}'],
  ])("%s", async (_name, json) => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const n = 1000;
    const draft = `{"id":"a","type":"custom","name":"x","data":${json}}`;
    client.sendText(
      `{"type":"publish","n":${n},"ch":${ch},"items":[{"draft":${draft},"place":{"after":null}}]}`,
    );
    await world.settle();
    expect(client.answer(n)).toMatchObject({ type: "refused", error: { code: "invalid" } });
    expect(await world.records("s")).toEqual([]);
    expectType(await client.ask(publish(ch, follow(null, say("b")))), "ack");
  });

  test("half of a pair in an append: the refusal names the entry", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, streaming("a"))));
    client.sendText(`{"type":"append","ch":${ch},"id":"a","at":0,"deltas":[{"text":"\\ud83d"}]}`);
    await world.settle();
    expect(client.all("refused")).toMatchObject([{ ch, id: "a", error: { code: "invalid" } }]);
    client.send(append(ch, "a", 0, "😀"));
    await world.settle();
    expect(client.all("appended")).toMatchObject([{ id: "a", size: 2 }]);
  });

  test("too large: the connection ends with 1009", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    client.post(publish(ch, follow(null, say("a", "x".repeat(1024 * 1024)))));
    await world.settle();
    expect(client.closeCode).toBe(1009);
    expect(await world.records("s")).toEqual([]);
  });

  test("an entry that grows past its bound, by text or by parts", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const data = { type: "data", name: "d", data: "x".repeat(1_000_000) };
    for (const [id, delta] of [
      ["a", { text: data.data }],
      ["b", { push: data }],
    ] as const) {
      await client.ask(publish(ch, follow(null, streaming(id))));
      const size = "text" in delta ? 1_000_000 : 1;
      for (let count = 0; count < 18; count += 1)
        client.send({ type: "append", ch, id, at: count * size, deltas: [delta] });
      await world.settle();
    }
    const refused = client.all("refused");
    expect(new Set(refused.map(({ error }) => error.code))).toEqual(new Set(["too_large", "gap"]));
    const tree = await world.fold("s");
    for (const id of ["a", "b"])
      expect(JSON.stringify(tree.get(id as never)?.entry).length).toBeLessThan(17 * 1024 * 1024);
  });

  test("a part that is set over and over does not count over and over", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(
      publish(ch, follow(null, streaming("a", { parts: [{ type: "data", name: "d", data: 0 }] }))),
    );
    for (let count = 0; count < 20; count += 1) {
      const set = { data: `${count}`.padStart(1_000_000, "x") };
      client.send({ type: "append", ch, id: "a", at: count, deltas: [{ set, part: 0 }] });
      await world.settle();
    }
    expect(client.all("refused")).toEqual([]);
    expect(client.all("appended").at(-1)).toMatchObject({ size: 20 });
  });
});

test("[L6] any other text and any key come back exactly", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  const texts = [
    "a\nb\r\nc",
    "\u2028\u2029\u0085",
    "\u0000\u0001",
    "👩‍👩‍👧 é ﷽",
    '"\\',
    "",
    "\ufeff",
    "</script>",
  ];
  const meta = JSON.parse('{"__proto__":{"x":1},"constructor":null,"":[],"\\u0000":1e-320,"n":-0.5}');
  for (const [index, text] of texts.entries())
    await client.ask(publish(ch, follow(null, say(`e${index}`, text, { meta }))));
  const change = JSON.parse('{"__proto__":1,"toString":2}');
  await client.ask(
    publish(
      ch,
      follow(null, { id: "m", type: "model-change", provider: "p", modelId: "m", options: change }),
    ),
  );
  world.stopServer();
  await world.startServer();
  const { joined } = await joinedAs(world, "bob");
  const shown = joined.entries as Entry[];
  expect(shown.slice(0, -1).map(textOf)).toEqual(texts);
  for (const entry of shown.slice(0, -1)) expect(JSON.stringify(entry.meta)).toBe(JSON.stringify(meta));
  expect(JSON.stringify((shown.at(-1) as { options?: unknown }).options)).toBe(JSON.stringify(change));
});

describe("[L7] a batch is placed and committed as a whole or not at all", () => {
  test("items refer to each other", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const ack = expectType(
      await client.ask(
        publish(
          ch,
          follow(null, say("a")),
          follow("a", say("b")),
          follow("a", say("c")),
          at({ forkOf: "c" }, say("d")),
          at({ under: "a" }, say("e")),
          at({ forkOf: "a" }, say("f")),
          follow("a", say("g")),
          follow(null, say("h")),
        ),
      ),
      "ack",
    );
    const parents = Object.fromEntries(ack.entries.map(({ id, parentId }) => [id, parentId]));
    expect(parents).toEqual({ a: null, b: "a", c: "b", d: "b", e: "a", f: null, g: "e", h: "f" });
  });

  test.each([
    ["an unknown parent", follow("nowhere", say("z")), "unknown_parent"],
    ["an id that is taken", follow(null, say("taken", "other")), "conflict"],
    ["an id that the batch holds twice", follow(null, say("b")), "conflict"],
    ["no place", at(undefined, say("z")), "invalid"],
    ["an unknown run", at(undefined, say("z", "z", { runId: "r" })), "not_found"],
  ])("one refused item refuses all: %s", async (_name, item, code) => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, say("taken"))));
    const before = await world.records("s");
    const run = { id: "r", place: { after: "a" } };
    const refused = await client.ask(
      publishWithRun(ch, run, follow(null, say("a")), follow("a", say("b")), item, follow("b", say("c"))),
    );
    expect(refused).toMatchObject({ type: "refused", error: { code } });
    expect(await world.records("s")).toEqual(before);
    // Nothing was staged either: the same ids are free, and the head did not move.
    const ack = expectType(await client.ask(publish(ch, follow(null, say("b", "other")))), "ack");
    expect(ack.entries).toEqual([{ id: "b", parentId: "taken", seq: 2 }]);
  });

  test("in one turn with others, each is decided against those before it", async () => {
    const world = await createWorld();
    const ann = await joinedAs(world, "ann");
    const bob = await joinedAs(world, "bob");
    const first = ann.client.post(publish(ann.ch, follow(null, say("a"))));
    const refused = bob.client.post(publish(bob.ch, follow("a", say("b")), follow("nowhere", say("c"))));
    const second = bob.client.post(publish(bob.ch, follow("a", say("d")), follow("d", say("e"))));
    await world.settle();
    expect(ann.client.answer(first)).toMatchObject({ type: "ack" });
    expect(bob.client.answer(refused)).toMatchObject({ error: { code: "unknown_parent" } });
    expect(bob.client.answer(second)).toMatchObject({ entries: [{ parentId: "a" }, { parentId: "d" }] });
    expect((await entriesOf(world)).map(({ id }) => id)).toEqual(["a", "d", "e"]);
  });

  test("an empty batch is acknowledged and writes nothing", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    expect(await client.ask(publish(ch))).toMatchObject({ type: "ack", entries: [] });
    expect(await world.records("s")).toEqual([]);
  });
});

test.each(["", "-a", "_a", "a/b", "a b", "é", "a".repeat(65), "../x", 7, null])(
  "[L8] the id %j is refused",
  async (id) => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const refused = await client.ask(publish(ch, follow(null, { ...say("a"), id })));
    expect(refused).toMatchObject({ error: { code: "invalid" } });
  },
);

test("[L8] ids are told apart by case; `__proto__` and `constructor` are ids like any other or none", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  for (const id of ["abc", "ABC", "constructor", "toString", "a".repeat(64)])
    expectType(await client.ask(publish(ch, at({ under: null }, say(id)))), "ack");
  expect(await client.ask(publish(ch, follow("hasOwnProperty", say("x"))))).toMatchObject({
    error: { code: "unknown_parent" },
  });
  expect(await client.ask(publish(ch, follow(null, say("__proto__"))))).toMatchObject({
    error: { code: "invalid" },
  });
});

test.each(["../x", "a/b/c", "", "a/", "/a", "__proto__", "x".repeat(300), "CON.txt"])(
  "[L8] case-D7 the session id %j is refused",
  async (session) => {
    const world = await createWorld();
    const client = await hello(world, "ann");
    const n = client.post({ type: "join", session, create: true, lines: [] });
    await world.settle();
    expect(client.answer(n)).toMatchObject({ type: "refused", error: { code: "invalid" } });
    expect(client.closeCode).toBeNull();
  },
);

test("[L8] a sidechain is a session of its own", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  await client.ask(publish(ch, follow(null, say("u"))));
  const side = await join(client, { session: "s/agent" });
  expect(side.ch).not.toBe(ch);
  await client.ask(publish(side.ch, follow(null, say("a"))));
  expect(await world.records("s")).toHaveLength(1);
  expect(await world.records("s/agent")).toHaveLength(1);
});

describe("[G1] registers", () => {
  test("the last one wins, null clears, and joins carry those that are set", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    for (const value of ["one", "two"]) await client.ask(register(ch, "title", value));
    await client.ask(register(ch, "pin:e1", true));
    await client.ask(register(ch, "pin:e1", null));
    const { joined } = await joinedAs(world, "bob");
    expect(joined.registers).toMatchObject([{ key: "title", value: "two", author: "ann" }]);
  });

  test("setting what is there does not raise the head", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(register(ch, "a", { x: [1, { y: null }] }));
    for (const [key, value] of [
      ["a", { x: [1, { y: null }] }],
      ["b", null],
    ] as const)
      expectType(await client.ask(register(ch, key, value)), "ack");
    expect(await world.records("s")).toHaveLength(1);
  });

  test("a title is a string", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    for (const value of [1, true, {}, ["x"], "x".repeat(1001)])
      expect(await client.ask(register(ch, "title", value))).toMatchObject({ error: { code: "invalid" } });
    expectType(await client.ask(register(ch, "title", "")), "ack");
  });

  test("keys and values are bounded", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    for (const key of ["", "1a", "a b", "a:", "__proto__", "a".repeat(65), "a:b:c"].slice(0, 6))
      expect(await client.ask(register(ch, key, 1))).toMatchObject({ error: { code: "invalid" } });
    const large = "x".repeat(64 * 1024);
    expect(await client.ask(register(ch, "a", large))).toMatchObject({ error: { code: "too_large" } });
    const codes = new Set<string>();
    for (let count = 0; count < 150; count += 1) {
      const answer = await client.ask(register(ch, `k:${count}`, "x".repeat(60 * 1024)));
      codes.add(answer.type === "refused" ? answer.error.code : answer.type);
    }
    expect(codes).toEqual(new Set(["ack", "too_large"]));
  });

  test("those that were cleared leave room for others", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const set = (key: string, value: boolean | null): number => client.post(register(ch, key, value));
    for (let from = 0; from < 20_000; from += 1000) {
      for (let index = from; index < from + 1000; index += 1) set(`pin:${index}`, true);
      await world.settle();
    }
    const over = set("pin:over", true);
    const cleared = set("pin:0", null);
    const again = set("pin:over", true);
    await world.settle();
    expect(client.all("ack")).toHaveLength(20_000 + 2);
    for (const n of [cleared, again]) expect(client.answer(n)?.type).toBe("ack");
    expect(client.answer(over)).toMatchObject({ error: { code: "too_large" } });
  });
});
