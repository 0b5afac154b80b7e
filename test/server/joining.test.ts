/** What a joiner is given: windows, alternatives, what is open, tails; and nothing missed or doubled. */
import type { EntryId, LineAsk, LogRecord, SessionId, Tree } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  append,
  at,
  expectType,
  follow,
  hello,
  join,
  joinedAs,
  joinMessage,
  publish,
  publishWithRun,
  type RawClient,
  register,
  say,
  streaming,
  treeOf,
} from "../kit/raw.js";
import { createWorld, type World } from "../kit/world.js";
import { message, run } from "./store/records.js";

const seed = (world: World, ...records: LogRecord[]) => world.store.append("s" as SessionId, 0, records);

/** A line e1 ← e2 ← … */
const line = (count: number): LogRecord[] =>
  Array.from({ length: count }, (_, index) =>
    message(index + 1, `m${index + 1}`, { parentId: index === 0 ? null : (`e${index}` as EntryId) }),
  );

const idsOf = (entries: readonly { id: string }[]): string[] => entries.map(({ id }) => id);

const treeEntries = (tree: Tree) => [...tree.nodes()].map(({ entry }) => entry).sort((a, b) => a.seq - b.seq);

describe("[F7] a session comes into being with its first write", () => {
  test("joining an unknown id is `not_found`, unless the join says `create`", async () => {
    const world = await createWorld();
    const client = await hello(world, "ann");
    expect(await client.ask(joinMessage({ create: false }))).toMatchObject({ error: { code: "not_found" } });
    const joined = await join(client);
    expect(joined).toMatchObject({
      mode: "fresh",
      head: 0,
      entries: [],
      lines: [{ leaf: null }],
      alternatives: [],
    });
  });

  test("one that was created and never written leaves nothing behind", async () => {
    const world = await createWorld();
    const { client } = await joinedAs(world, "ann");
    const other = await hello(world, "bob");
    expect(await other.ask(joinMessage({ create: false }))).toMatchObject({ error: { code: "not_found" } });
    client.close();
    await world.advance(60_000);
    expect(await world.store.load("s" as SessionId)).toEqual({ type: "absent" });
    expect(await other.ask({ type: "list", limit: 10 })).toMatchObject({ sessions: [], more: false });
    // The server itself keeps no timer for it: those left are the connection's own.
    other.close();
    await world.settle();
    expect(world.clock.timers).toBe(0);
  });

  test("after its first write it is found by others", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(register(ch, "title", "T"));
    const other = await joinedAs(world, "bob", { create: false });
    expect(other.joined).toMatchObject({ head: 1, registers: [{ value: "T" }] });
  });
});

describe("[J1] [V8] the window of a line", () => {
  test("its newest entries, up to the limit, in order of seq", async () => {
    const world = await createWorld();
    await seed(world, ...line(10));
    const { joined } = await joinedAs(world, "ann", { lines: [{ limit: 3 }] });
    expect(idsOf(joined.entries)).toEqual(["e8", "e9", "e10"]);
    expect(joined).toMatchObject({ head: 10, lines: [{ leaf: "e10" }] });
  });

  test("it ends before it grows past 256 KiB, with one entry at least", async () => {
    const world = await createWorld();
    const large = "x".repeat(100 * 1024);
    await seed(
      world,
      ...line(5).map((record) => ({ ...record, parts: [{ type: "text", text: large }] }) as LogRecord),
      message(6, large.repeat(3), { parentId: "e5" as EntryId }),
    );
    const of = async (leaf: string) =>
      idsOf(
        (await joinedAs(world, "ann", { lines: [{ candidates: [leaf as EntryId], walk: "stay" }] })).joined
          .entries,
      );
    expect(await of("e5")).toEqual(["e4", "e5"]);
    expect(await of("e6")).toEqual(["e6"]);
  });

  test("several lines at once, each entry once", async () => {
    const world = await createWorld();
    await seed(world, ...line(4), message(5, "x", { parentId: "e2" as EntryId }), message(6, "y"));
    const { joined } = await joinedAs(world, "ann", {
      lines: [
        { candidates: ["e4" as EntryId], limit: 10 },
        { candidates: ["e5" as EntryId], limit: 2 },
        {},
        { candidates: [null], walk: "stay" },
      ],
    });
    expect(joined.lines).toEqual([{ leaf: "e4" }, { leaf: "e5" }, { leaf: "e6" }, { leaf: null }]);
    expect(idsOf(joined.entries)).toEqual(["e1", "e2", "e3", "e4", "e5", "e6"]);
  });

  test("no line: nothing but what is open, runs and registers", async () => {
    const world = await createWorld();
    await seed(world, ...line(4), message(5, "", { status: "streaming", parentId: "e4" as EntryId }));
    const { joined } = await joinedAs(world, "ann", { lines: [] });
    expect(joined).toMatchObject({ lines: [], entries: [], open: [{ id: "e5", parentId: "e4", size: 0 }] });
  });

  test("runs: those that have not ended, and those of the window", async () => {
    const world = await createWorld();
    await seed(
      world,
      run(1, "open", "requested"),
      run(2, "far", "done"),
      run(3, "near", "done"),
      message(4, "far", { runId: "far" as never }),
      message(5, "near", { runId: "near" as never, parentId: "e4" as EntryId }),
    );
    const { joined } = await joinedAs(world, "ann", { lines: [{ limit: 1 }] });
    expect(joined.runs.map(({ id, status }) => [id, status])).toEqual([
      ["open", "requested"],
      ["near", "done"],
    ]);
  });

  test("a streaming entry in the window comes whole; one outside it as id, parent and size", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(
      publish(
        ch,
        follow(null, say("u")),
        follow("u", streaming("hidden")),
        at({ under: "u" }, streaming("shown")),
      ),
    );
    for (const id of ["hidden", "shown"]) client.send(append(ch, id, 0, "text"));
    await world.settle();
    const { joined } = await joinedAs(world, "bob");
    expect(joined.open).toEqual([{ id: "hidden", parentId: "u", size: 4 }]);
    expect(joined.entries.at(-1)).toMatchObject({ id: "shown", size: 4, parts: [{ text: "text" }] });
    const other = await client.ask({ type: "line", ch, candidates: ["hidden"], walk: "stay", limit: 1 });
    expect(other).toMatchObject({ entries: [{ id: "hidden", size: 4, parts: [{ text: "text" }] }] });
  });
});

describe("[V9] alternatives", () => {
  const branchy = async (children: number) => {
    const world = await createWorld();
    const records: LogRecord[] = [message(1)];
    for (let seq = 2; seq < 2 + children; seq += 1)
      records.push(message(seq, "", { parentId: "e1" as EntryId }));
    await seed(world, ...records);
    return world;
  };

  test("a parent whose one child is given is left out, and so is a leaf with none", async () => {
    const world = await createWorld();
    await seed(world, ...line(5));
    expect((await joinedAs(world, "ann")).joined.alternatives).toEqual([]);
    expect((await joinedAs(world, "ann", { lines: [{ candidates: ["e2" as EntryId], walk: "stay" }] })).joined.alternatives).toEqual([{ parentId: "e2", total: 1, from: 0, ids: ["e3"] }]); // biome-ignore format: one line
  });

  test("up to 32 come whole", async () => {
    const { joined } = await joinedAs(await branchy(32), "ann");
    expect(joined.alternatives).toMatchObject([{ parentId: "e1", total: 32, from: 0 }]);
    expect(joined.alternatives[0]?.ids).toHaveLength(32);
  });

  test("of more, 32 around each that is shown", async () => {
    const world = await branchy(100);
    const childAt = (position: number) => `e${position + 2}` as EntryId;
    const { joined } = await joinedAs(world, "ann", {
      lines: [0, 50, 55, 99].map((position) => ({ candidates: [childAt(position)], walk: "stay" as const })),
    });
    expect(
      joined.alternatives.map(({ parentId, total, from, ids }) => [parentId, total, from, ids.length]),
    ).toEqual([
      ["e1", 100, 0, 32],
      ["e1", 100, 34, 32],
      ["e1", 100, 68, 32],
    ]);
    for (const { from, ids } of joined.alternatives)
      expect(ids).toEqual(Array.from({ length: 32 }, (_, index) => childAt(from + index)));
  });

  test("the rest by page, from any position", async () => {
    const world = await branchy(100);
    const { client, ch } = await joinedAs(world, "ann");
    const of = async (parentId: string | null, from: number, limit: number) => {
      const given = await client.ask({ type: "alternatives", ch, parentId, from, limit });
      const { total, from: start, ids, head } = expectType(given, "alternatives");
      return [total, start, ids.length, ids[0], head];
    };
    expect(await of("e1", 90, 1000)).toEqual([100, 90, 10, "e92", 101]);
    expect(await of("e1", 500, 10)).toEqual([100, 100, 0, undefined, 101]);
    expect(await of(null, 0, 10)).toEqual([1, 0, 1, "e1", 101]);
    expect(await of("e50", 0, 10)).toEqual([0, 0, 0, undefined, 101]);
    expect(await of("nowhere", 0, 10)).toEqual([0, 0, 0, undefined, 101]);
  });

  test("of a line on which every entry has some, each parent once", async () => {
    const world = await createWorld();
    const records: LogRecord[] = [];
    for (let depth = 0; depth < 50; depth += 1)
      for (let sibling = 0; sibling < 2; sibling += 1)
        records.push(
          message(records.length + 1, "", { parentId: depth === 0 ? null : (`e${depth * 2}` as EntryId) }),
        );
    await seed(world, ...records);
    const { joined } = await joinedAs(world, "ann", { lines: [{}, {}, { limit: 20 }] });
    expect(joined.alternatives).toHaveLength(50);
    expect(new Set(joined.alternatives.map(({ parentId }) => parentId)).size).toBe(50);
  });
});

test("[J1] pages: what is above an entry, along its ancestors, until there is nothing", async () => {
  const world = await createWorld();
  await seed(world, ...line(10), message(11, "x", { parentId: "e3" as EntryId }));
  const { client, ch, joined } = await joinedAs(world, "ann", { lines: [{ limit: 2 }] });
  const page = async (before: string, limit: number) =>
    expectType(await client.ask({ type: "page", ch, before, limit }), "window");
  const first = await page("e9", 4);
  expect(first).toMatchObject({ epoch: joined.epoch, head: 11, leaf: "e8" });
  expect(idsOf(first.entries)).toEqual(["e5", "e6", "e7", "e8"]);
  const second = await page("e5", 100);
  expect(idsOf(second.entries)).toEqual(["e1", "e2", "e3", "e4"]);
  expect(second.alternatives).toContainEqual({ parentId: "e3", total: 2, from: 0, ids: ["e4", "e11"] });
  expect(await page("e1", 5)).toMatchObject({ leaf: null, entries: [] });
  expect(await client.ask({ type: "page", ch, before: "nowhere", limit: 5 })).toMatchObject({
    error: { code: "not_found" },
  });
  expect(
    await client.ask({ type: "line", ch, candidates: ["nowhere"], walk: "stay", limit: 5 }),
  ).toMatchObject({
    error: { code: "not_found" },
  });
});

describe("[J2] which line", () => {
  const cases: [string, Partial<LineAsk>, string | null][] = [
    ["none asked for: the entry with the highest seq", {}, "e8"],
    ["unknown ones only: as if none", { candidates: ["x", "y"] as EntryId[] }, "e8"],
    ["the first that is known", { candidates: ["x", "e3", "e7"] as EntryId[], walk: "stay" }, "e3"],
    ["stay: it ends there", { candidates: ["e2"] as EntryId[], walk: "stay" }, "e2"],
    ["oldest: as a view would have grown", { candidates: ["e1"] as EntryId[], walk: "oldest" }, "e4"],
    ["newest: as one who picks a branch", { candidates: ["e1"] as EntryId[], walk: "newest" }, "e6"],
    ["null, stay: before the first entry", { candidates: [null], walk: "stay" }, null],
    ["null, oldest", { candidates: [null], walk: "oldest" }, "e4"],
    ["null, newest", { candidates: [null], walk: "newest" }, "e8"],
  ];
  test.each(cases)("%s", async (_name, ask, leaf) => {
    const world = await createWorld();
    const child = (seq: number, parent: number | null) =>
      message(seq, "", { parentId: parent === null ? null : (`e${parent}` as EntryId) });
    await seed(
      world,
      child(1, null), child(2, 1), child(3, 2), child(4, 3), child(5, 1), child(6, 5), child(7, null), child(8, 7),
    ); // biome-ignore format: one line
    const { joined } = await joinedAs(world, "ann", { lines: [ask] });
    expect(joined.lines).toEqual([{ leaf }]);
  });
});

describe("[J2] catching up", () => {
  const begin = async () => {
    const world = await createWorld();
    const { client, ch, joined } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, say("u")), follow("u", streaming("a"))));
    for (const [from, text] of [
      [0, "one"],
      [3, "two"],
      [6, "three"],
    ] as const) {
      // biome-ignore format: one line
      client.send(append(ch, "a", from, text));
      await world.settle();
    }
    return { world, client, ch, joined };
  };

  test("with a cursor: what came after, appends merged", async () => {
    const { world, joined } = await begin();
    const { joined: tail } = await joinedAs(world, "bob", { cursor: { epoch: joined.epoch, seq: 3 } });
    expect(tail).toMatchObject({ mode: "tail", head: 5, entries: [], lines: [] });
    expect(tail.records).toMatchObject([{ kind: "append", seq: 5, at: 3, deltas: [{ text: "twothree" }] }]);
    const { joined: whole } = await joinedAs(world, "bob", { cursor: { epoch: joined.epoch, seq: 0 } });
    expect(treeEntries(treeOf(whole, []))).toEqual(treeEntries(await world.fold("s")));
    const { joined: none } = await joinedAs(world, "bob", { cursor: { epoch: joined.epoch, seq: 5 } });
    expect(none).toMatchObject({ mode: "tail", records: [], head: 5 });
  });

  test("also over a restart of the server, where the epoch is the same", async () => {
    const { world, joined } = await begin();
    world.stopServer();
    await world.startServer();
    const { joined: tail } = await joinedAs(world, "bob", { cursor: { epoch: joined.epoch, seq: 2 } });
    expect(tail).toMatchObject({ mode: "tail", records: [{ at: 0, deltas: [{ text: "onetwothree" }] }] });
  });

  test.each([
    ["of another epoch", (epoch: string) => ({ epoch: `${epoch}x`, seq: 3 })],
    ["beyond the head, which no client can have seen", (epoch: string) => ({ epoch, seq: 99 })],
  ])("with a cursor %s: a fresh window, marked `reset`", async (_name, cursorOf) => {
    const { world, joined } = await begin();
    const { joined: reset } = await joinedAs(world, "bob", { cursor: cursorOf(joined.epoch) });
    expect(reset).toMatchObject({ mode: "reset", records: [], lines: [{ leaf: "a" }] });
    expect(idsOf(reset.entries)).toEqual(["u", "a"]);
  });

  test.each([
    ["records", 10_001, 10],
    ["bytes", 30, 50_000],
  ])(
    "case-J3 where the tail is too long in %s: a fresh window, marked `reset`",
    async (_name, count, length) => {
      const world = await createWorld();
      const { client, ch, joined } = await joinedAs(world, "ann");
      for (let index = 0; index < count; index += 1)
        client.post(publish(ch, at({ under: null }, say(`x${index}`, "x".repeat(length)))));
      await world.settle();
      const { epoch } = joined;
      const { joined: reset } = await joinedAs(world, "bob", { cursor: { epoch, seq: 0 } });
      expect(reset).toMatchObject({
        mode: "reset",
        head: count,
        lines: [{ leaf: `x${count - 1}` }],
        records: [],
      });
      const { joined: tail } = await joinedAs(world, "bob", { cursor: { epoch, seq: count - 5 } });
      expect(idsOf(tail.records as never)).toEqual([5, 4, 3, 2, 1].map((back) => `x${count - back}`));
    },
  );
});

describe("[J1] subscribe and read are one step", () => {
  const stream = (client: RawClient, ch: number, from: number, to: number): void => {
    for (let position = from; position < to; position += 1)
      client.send(append(ch, "a", position, `${position % 10}`));
  };

  test("joins among commands of one turn: the answer and what follows are the log's fold", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, streaming("a"))));
    const readers = await Promise.all(Array.from({ length: 6 }, (_, index) => hello(world, `r${index}`)));
    const joins: [RawClient, number][] = [];
    for (const [index, reader] of readers.entries()) {
      stream(client, ch, index * 5, index * 5 + 5);
      client.post(publish(ch, follow("a", say(`m${index}`))));
      joins.push([reader, reader.post(joinMessage({ lines: [{ limit: 1000 }] }))]);
      if (index % 2 === 1) await world.settle();
    }
    stream(client, ch, 30, 40);
    client.send(append(ch, "a", 40, "", { status: "complete" }));
    await world.settle();
    const log = treeEntries(await world.fold("s"));
    expect(log).toHaveLength(7);
    for (const [reader, n] of joins) {
      const joined = expectType(reader.answer(n) as never, "joined");
      const frames = reader.frames();
      expect(treeEntries(treeOf(joined, frames))).toEqual(log);
      // Nothing twice: no record that the answer had, and seqs that rise.
      const seqs = frames.flatMap(({ records }) => records.map(({ seq }) => seq));
      for (const seq of seqs) expect(seq).toBeGreaterThan(joined.head);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
      expect(frames.at(-1)?.upto ?? joined.head).toBe((await world.records("s")).at(-1)?.seq);
    }
  });

  test("[J7] answers stand in order among the frames", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const reader = await joinedAs(world, "bob");
    for (let index = 0; index < 5; index += 1) {
      client.post(publish(ch, follow(null, say(`m${index}`))));
      reader.client.post({ type: "line", ch, candidates: [], walk: "newest", limit: 10 });
      await world.settle();
    }
    let head = 0;
    for (const given of reader.client.received.slice(2)) {
      if (!("type" in given)) head = given.upto;
      else expect(given).toMatchObject({ type: "window", head });
    }
    expect(head).toBe(5);
  });

  test("joining again on one connection replaces the subscription without loss", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, streaming("a"))));
    const { client: reader, joined: first } = await joinedAs(world, "bob");
    const again: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      stream(client, ch, turn * 5, turn * 5 + 5);
      again.push(reader.post(joinMessage()));
      if (turn === 1) again.push(reader.post(joinMessage()));
      if (turn !== 2) await world.settle();
    }
    stream(client, ch, 20, 25);
    await world.settle();
    const last = expectType(reader.answer(again.at(-1) as number) as never, "joined");
    expect(last.ch).toBe(first.ch);
    const log = treeEntries(await world.fold("s"));
    expect(treeEntries(treeOf(first, reader.frames()))).toEqual(log);
    const frames = reader.frames();
    const since = frames.filter(({ upto }) => upto > last.head);
    expect(treeEntries(treeOf(last, since))).toEqual(log);
    // One subscription: no record comes twice.
    const seqs = frames.flatMap(({ records }) => records.map(({ seq }) => seq));
    expect(new Set(seqs).size).toBe(seqs.length);
  });

  test("who leaves hears nothing more, and writes nothing more", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const reader = await joinedAs(world, "bob");
    reader.client.send({ type: "leave", ch });
    reader.client.send({ type: "leave", ch: 999 });
    await world.settle();
    await client.ask(publish(ch, follow(null, say("a"))));
    expect(reader.client.frames()).toEqual([]);
    const numbered = [
      publish(ch, follow(null, say("b"))),
      register(ch, "title", "T"),
      { type: "claim", ch, id: "r" },
      { type: "end", ch, id: "r", status: "done" },
      { type: "page", ch, before: "a", limit: 1 },
      { type: "line", ch, candidates: [], walk: "stay", limit: 1 },
      { type: "alternatives", ch, parentId: null, from: 0, limit: 1 },
    ];
    for (const command of numbered)
      expect(await reader.client.ask(command)).toMatchObject({ error: { code: "not_joined" } });
    reader.client.send(append(ch, "a", 0, "x"));
    await world.settle();
    expect(reader.client.all("refused").at(-1)).toMatchObject({ ch, id: "a", error: { code: "not_joined" } });
    await join(reader.client);
    await client.ask(publish(ch, follow(null, say("c"))));
    expect(reader.client.frames().flatMap(({ records }) => idsOf(records as never))).toEqual(["c"]);
  });
});

test("[R1] a joiner sees runs as they are", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  await client.ask(
    publishWithRun(ch, { id: "r", place: { after: "p" }, options: { x: [1] } }, follow(null, say("p"))),
  );
  await client.ask({ type: "claim", ch, id: "r" });
  const { joined } = await joinedAs(world, "bob");
  expect(joined.runs).toMatchObject([
    {
      id: "r",
      seq: 2,
      rev: 3,
      status: "active",
      inputId: "p",
      options: { x: [1] },
      agent: "ann",
      writer: "ann",
    },
  ]);
});

test("[V2] where no line is asked for, `view:active` names it until something newer is written", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  await client.ask(
    publish(ch, at({ after: null }, say("p")), at({ under: "p" }, say("a")), at({ under: "p" }, say("b"))),
  );
  const fresh = async (name: string) => (await joinedAs(world, name)).joined.lines;
  expect(await fresh("one")).toEqual([{ leaf: "b" }]);
  await client.ask({ type: "register", ch, key: "view:active", value: "a" });
  expect(await fresh("two")).toEqual([{ leaf: "a" }]);
  await client.ask({ type: "register", ch, key: "view:active", value: "nowhere" });
  expect(await fresh("three")).toEqual([{ leaf: "b" }]);
  await client.ask({ type: "register", ch, key: "view:active", value: "a" });
  await client.ask(publish(ch, at({ under: "b" }, say("c"))));
  expect(await fresh("four")).toEqual([{ leaf: "c" }]);
});
