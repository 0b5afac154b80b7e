/** One socket: who may speak, what is not understood, silence, slow readers, and bounds. */
import { PROTOCOL_VERSION, type PrincipalId, refusal } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  append,
  dial,
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
  textIn,
  treeOf,
} from "../kit/raw.js";
import { createWorld } from "../kit/world.js";

const HELLO = { type: "hello", protocol: PROTOCOL_VERSION, writer: "w1", token: "ann" };

describe("[J4] hello", () => {
  const saying = async (...texts: (object | string)[]): Promise<RawClient> => {
    const world = await createWorld();
    const client = await dial(world, "ann");
    for (const text of texts) client.sendText(typeof text === "string" ? text : JSON.stringify(text));
    await world.settle();
    return client;
  };

  test("comes first and is welcomed", async () => {
    const client = await saying(HELLO);
    expect(client.received).toEqual([
      { type: "welcome", protocol: PROTOCOL_VERSION, principal: "ann", graceMs: 30_000 },
    ]);
  });

  test("what is sent right behind it is answered once its sender is signed in", async () => {
    const client = await saying(
      HELLO,
      { ...joinMessage(), n: 1, create: true },
      { type: "list", n: 2, limit: 1 },
    );
    const types = client.received.map((message) => ("type" in message ? message.type : "records"));
    expect(types[0]).toBe("welcome");
    expect(types.slice(1).sort()).toEqual(["joined", "listed"]);
  });

  test("what goes wrong in `authenticate` is told to the server's owner, and nobody else", async () => {
    const heard: Error[] = [];
    const world = await createWorld({
      authenticate: () => {
        throw new Error("the database is at 10.1.2.3");
      },
      onTrouble: (error) => heard.push(error),
    });
    const client = await dial(world, "ann");
    client.sendText(JSON.stringify(HELLO));
    await world.settle();
    expect(client.all("refused").at(-1)?.error.message).not.toContain("10.1.2.3");
    expect(heard.map(({ cause }) => String(cause))).toEqual(["Error: the database is at 10.1.2.3"]);
  });

  test.each<[string, (object | string)[], number, string]>([
    ["a command before it", [joinMessage()], 1007, "invalid"],
    [
      "too much before its answer",
      [HELLO, ...Array.from({ length: 65 }, (_, n) => ({ ...joinMessage(), n }))],
      1013,
      "overloaded",
    ],
    ["twice in one turn", [HELLO, HELLO], 1007, "invalid"],
    ["another protocol", [{ ...HELLO, protocol: 99 }], 4400, "protocol"],
    ["another protocol, with fields of its own", [{ ...HELLO, protocol: 98, extra: {} }], 4400, "protocol"],
    ["no writer", [{ ...HELLO, writer: undefined }], 1007, "invalid"],
    ["a writer that is no id", [{ ...HELLO, writer: "a b" }], 1007, "invalid"],
    ["no JSON", ["hello"], 1007, "invalid"],
    ["a number", ["7"], 1007, "invalid"],
    ["an unknown type", [{ type: "shout" }], 1007, "invalid"],
  ])("%s ends the connection", async (_name, texts, code, error) => {
    const client = await saying(...texts);
    expect(client.closeCode).toBe(code);
    expect(client.all("refused").at(-1)).toEqual({
      type: "refused",
      error: expect.objectContaining({ code: error }),
    });
  });

  test("twice, after it was welcomed, ends the connection", async () => {
    const world = await createWorld();
    const client = await hello(world, "ann");
    client.send(HELLO);
    await world.settle();
    expect(client.closeCode).toBe(1007);
  });

  test("none within ten seconds ends the connection, pings or not", async () => {
    const world = await createWorld();
    const client = await dial(world, "ann");
    await world.advance(9_000);
    client.send({ type: "ping" });
    await world.settle();
    expect(client.all("pong")).toHaveLength(1);
    await world.advance(1_000);
    expect(client.closeCode).not.toBeNull();
    expect(client.all("refused")).toMatchObject([{ error: { code: "timeout" } }]);
    expect(world.clock.timers).toBe(0);
  });

  test("[J4] a refused token, a broken authenticate and a principal that is none", async () => {
    const world = await createWorld({
      authenticate: async ({ token }) => {
        if (token === "broken") throw new Error("the directory is down");
        if (token === "odd") return { id: "no principal!" as PrincipalId };
        return refusal("unauthorized", "unable to sign in; the token has expired");
      },
    });
    for (const [token, code] of [
      ["old", 4401],
      ["broken", 1011],
      ["odd", 1011],
    ] as const) {
      const client = await hello(world, "ann", { token });
      expect(client.closeCode).toBe(code);
    }
  });

  test("an authenticate that never answers ends by the same timer", async () => {
    const world = await createWorld({ authenticate: () => new Promise(() => {}) });
    const client = await hello(world, "ann");
    await world.advance(10_000);
    expect(client.all("refused")).toMatchObject([{ error: { code: "timeout" } }]);
  });
});

describe("what is not understood", () => {
  test.each<[string, object]>([
    ["an unknown field", { type: "list", n: 7, limit: 1, extra: 1 }],
    ["a limit out of bounds", { type: "page", n: 7, ch: 1, before: "a", limit: 1001 }],
    ["no limit", { type: "alternatives", n: 7, ch: 1, parentId: null, from: 0 }],
    ["too many lines", { type: "join", n: 7, session: "s", lines: Array.from({ length: 65 }, () => ({ candidates: [], walk: "stay", limit: 1 })) }], // biome-ignore format: one line
    ["too many items", { type: "publish", n: 7, ch: 1, items: Array.from({ length: 1001 }, () => follow(null, say("a"))) }], // biome-ignore format: one line
    ["an unknown type", { type: "shout", n: 7 }],
  ])("with a number, the command is refused: %s", async (_name, message) => {
    const world = await createWorld();
    const { client } = await joinedAs(world, "ann");
    client.send(message);
    await world.settle();
    expect(client.all("refused")).toMatchObject([{ n: 7, error: { code: "invalid" } }]);
    expect(client.closeCode).toBeNull();
  });

  test.each<[string, string]>([
    ["no JSON", "{"],
    ["a number that is none", '{"type":"list","n":-1,"limit":1}'],
    ["a number that is not finite", '{"type":"list","n":1e999,"limit":1}'],
    ["an append without an entry", '{"type":"append","ch":1,"at":0,"deltas":[]}'],
    ["null", "null"],
  ])("without one, the connection ends: %s", async (_name, text) => {
    const world = await createWorld();
    const { client } = await joinedAs(world, "ann");
    client.sendText(text);
    await world.settle();
    expect(client.closeCode).toBe(1007);
  });
});

describe("[J5] silence", () => {
  test("a dead peer is found within 35 s, whenever it died", async () => {
    for (const diedAt of [0, 1, 14_999, 15_000, 29_999]) {
      const world = await createWorld();
      const client = await hello(world, "ann");
      await world.advance(diedAt);
      client.pair?.silence();
      await world.advance(16_000);
      expect(client.pair?.isOpen).toBe(true);
      await world.advance(19_000);
      expect(client.pair).toBeUndefined();
      expect(world.clock.timers).toBe(0);
    }
  });

  test("one that answers pings lives on", async () => {
    const world = await createWorld();
    const client = await hello(world, "ann");
    await world.advance(3_600_000);
    expect(client.closeCode).toBeNull();
    client.send({ type: "ping" });
    await world.settle();
    expect(client.all("pong")).toHaveLength(1);
  });
});

describe("[J7] slow readers", () => {
  test("what waits is merged, in one frame, and the text is whole", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, streaming("a"))));
    const slow = await joinedAs(world, "bob");
    const pair = slow.client.pair;
    if (pair === undefined) throw new Error("not connected");
    pair.isHeld = true;
    const token = "x".repeat(1000);
    for (let index = 0; index < 1000; index += 1) {
      client.send(append(ch, "a", index * 1000, token));
      if (index % 10 === 0) await world.settle();
    }
    await world.settle();
    pair.isHeld = false;
    await world.settle();
    const frames = slow.client.frames();
    expect(frames.length).toBeLessThan(100);
    expect(frames.at(-1)?.records).toHaveLength(1);
    expect(textIn(treeOf(slow.joined, frames), "a")).toBe(token.repeat(1000));
  });

  test("past its bound it is closed with 1013 and catches up; nobody else notices", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const slow = await joinedAs(world, "bob");
    const quick = await joinedAs(world, "cid");
    if (slow.client.pair === undefined) throw new Error("not connected");
    slow.client.pair.isHeld = true;
    for (let index = 0; index < 60; index += 1) {
      const ack = await client.ask(publish(ch, follow(null, say(`m${index}`, "x".repeat(100_000)))));
      expectType(ack, "ack");
    }
    expect(slow.client.closeCode).toBe(1013);
    expect(slow.client.all("refused").at(-1)).toMatchObject({ error: { code: "overloaded" } });
    expect(quick.client.closeCode).toBeNull();
    expect(treeOf(quick.joined, quick.client.frames()).size).toBe(60);
    const cursor = { epoch: slow.joined.epoch, seq: slow.client.frames().at(-1)?.upto ?? 0 };
    const { joined } = await joinedAs(world, "bob", { cursor });
    expect(joined).toMatchObject({ mode: "reset", lines: [{ leaf: "m59" }] });
  });

  test("answers do not count: a large join is answered", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    for (let index = 0; index < 40; index += 1)
      await client.ask(
        publish(ch, { place: { under: null }, draft: say(`m${index}`, "x".repeat(200_000)) } as never),
      );
    const lines = Array.from({ length: 40 }, (_, index) => ({
      candidates: [`m${index}` as never],
      limit: 1,
    }));
    const { joined } = await joinedAs(world, "bob", { lines });
    expect(joined.entries).toHaveLength(40);
  });

  test("who asks and takes no answer is not answered for ever, and in the end closed", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    for (let index = 0; index < 5; index += 1)
      await client.ask(publish(ch, follow(null, say(`m${index}`, "x".repeat(50_000)))));
    const greedy = await joinedAs(world, "eve");
    const { pair } = greedy.client;
    if (pair === undefined) throw new Error("not connected");
    pair.isHeld = true;
    const ask = { type: "line", ch, candidates: [], walk: "newest", limit: 50 };
    const asked = Array.from({ length: 100 }, () => greedy.client.post(ask));
    await world.settle();
    pair.isHeld = false;
    await world.settle();
    // All are answered, once it takes them.
    for (const n of asked) expect(greedy.client.answer(n)?.type).toBe("window");
    pair.isHeld = true;
    for (let index = 0; index < 70_000; index += 1) greedy.client.post(ask);
    await world.settle();
    expect(greedy.client.closeCode).toBe(1013);
    expect(greedy.client.received.length).toBeLessThan(1000);
    expectType(await client.ask(publish(ch, follow(null, say("z")))), "ack");
  });

  test("a watcher of the list that takes nothing is told the latest of each session, once", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const watcher = await hello(world, "bob");
    await watcher.ask({ type: "list", limit: 10, watch: true });
    const { pair } = watcher;
    if (pair === undefined) throw new Error("not connected");
    pair.isHeld = true;
    for (let index = 0; index < 1000; index += 1)
      await client.ask(register(ch, "title", `${"T".repeat(100)}${index}`));
    pair.isHeld = false;
    await world.settle();
    const told = watcher.all("sessions").flatMap(({ sessions }) => sessions);
    expect(told.at(-1)?.title).toBe(`${"T".repeat(100)}999`);
    expect(told.length).toBeLessThan(500);
  });
});

describe("what is not finished is bounded, since every join names it", () => {
  test("streaming entries", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    const batch = (from: number, count: number) =>
      publish(
        ch,
        ...Array.from({ length: count }, (_, index) => follow(null, streaming(`e${from + index}`))),
      );
    expect(await client.ask(batch(0, 600))).toMatchObject({ type: "ack" });
    expect(await client.ask(batch(600, 401))).toMatchObject({ error: { code: "overloaded" } });
    expect(await client.ask(batch(600, 400))).toMatchObject({ type: "ack" });
    client.send(append(ch, "e7", 0, "", { status: "complete" }));
    expect(await client.ask(batch(1000, 1))).toMatchObject({ type: "ack" });
    // A repeat is none more.
    expect(await client.ask(batch(0, 1000))).toMatchObject({ type: "ack" });
  });

  test("runs", async () => {
    const world = await createWorld();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, say("p"))));
    const ask = (id: number) => client.post(publishWithRun(ch, { id: `r${id}`, place: { after: "p" } }));
    const asked = Array.from({ length: 10_000 }, (_, index) => ask(index));
    const over = ask(10_000);
    await world.settle();
    expect(asked.every((n) => n < over)).toBe(true);
    expect(client.answer(over)).toMatchObject({ error: { code: "overloaded" } });
    await client.ask({ type: "claim", ch, id: "r5" });
    await client.ask({ type: "end", ch, id: "r5", status: "done" });
    const again = ask(10_000);
    await world.settle();
    expect(client.answer(again)).toMatchObject({ run: { status: "requested" } });
  });
});

describe("rights", () => {
  const guarded = () =>
    createWorld({
      authenticate: ({ token }) => ({
        id: token as PrincipalId,
        may: (right, session) => {
          if (token === "ann") return true;
          if (session === "secret") return false;
          return right === "read" || (token === "writer" && right === "write");
        },
      }),
    });

  test("case-Y2 a read-only principal is refused every write, and nothing is broadcast", async () => {
    const world = await guarded();
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, streaming("a"))));
    const reader = await joinedAs(world, "reader");
    for (const command of [
      publish(ch, follow(null, say("b"))),
      register(ch, "title", "T"),
      { type: "claim", ch, id: "r" },
      { type: "end", ch, id: "r", status: "done" },
    ])
      expect(await reader.client.ask(command)).toMatchObject({ error: { code: "forbidden" } });
    reader.client.send(append(ch, "a", 0, "x"));
    await world.settle();
    expect(reader.client.all("refused").at(-1)).toMatchObject({ ch, id: "a", error: { code: "forbidden" } });
    expect(await world.records("s")).toHaveLength(1);
    expect(client.frames()).toHaveLength(1);
    expectType(
      await reader.client.ask({ type: "line", ch, candidates: [], walk: "stay", limit: 1 }),
      "window",
    );
  });

  test("without the right to read there is no join; without the one to create, nothing to create", async () => {
    const world = await guarded();
    const ann = await joinedAs(world, "ann", { session: "secret" });
    await ann.client.ask(publish(ann.ch, follow(null, say("a"))));
    const reader = await hello(world, "reader");
    expect(await reader.ask(joinMessage({ session: "secret" }))).toMatchObject({
      error: { code: "forbidden" },
    });
    const writer = await hello(world, "writer");
    expect(await writer.ask(joinMessage())).toMatchObject({ error: { code: "not_found" } });
    await joinedAs(world, "ann");
    expect(await writer.ask(joinMessage())).toMatchObject({ error: { code: "not_found" } });
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask(publish(ch, follow(null, say("a"))));
    const { ch: joined } = await join(writer);
    expectType(await writer.ask(publish(joined, follow(null, say("b")))), "ack");
  });

  test("a `may` that throws while joining ends nobody else's session", async () => {
    const world = await createWorld({
      authenticate: ({ token }) => ({
        id: token as PrincipalId,
        may: (right) => {
          if (token === "odd" && right === "write") throw new Error("no rules");
          return true;
        },
      }),
    });
    const { client, ch } = await joinedAs(world, "ann");
    const odd = await hello(world, "odd");
    expect(await odd.ask(joinMessage())).toMatchObject({ error: { code: "internal" } });
    expectType(await client.ask(publish(ch, follow(null, say("a")))), "ack");
    expect(client.all("left")).toEqual([]);
  });

  test("one connection joins so many sessions, and may join those again", async () => {
    const world = await createWorld();
    const client = await hello(world, "ann");
    const asked = Array.from({ length: 1001 }, (_, index) =>
      client.post(joinMessage({ session: `s${index}` })),
    );
    await world.settle();
    const refused = asked.filter((n) => client.answer(n)?.type !== "joined");
    expect(refused).toHaveLength(1);
    expect(client.answer(refused[0] as number)).toMatchObject({ error: { code: "overloaded" } });
    const { ch } = await join(client, { session: "s0" });
    client.send({ type: "leave", ch });
    await join(client, { session: "s1000" });
  });

  test("a `may` that throws refuses the command and nothing else", async () => {
    const world = await createWorld({
      authenticate: ({ token }) => ({
        id: token as PrincipalId,
        may: () => {
          if (token === "odd") throw new Error("no rules");
          return true;
        },
      }),
    });
    const odd = await hello(world, "odd");
    expect(await odd.ask(joinMessage())).toMatchObject({ error: { code: "internal" } });
    expect(await odd.ask({ type: "list", limit: 1, watch: true })).toMatchObject({ type: "listed" });
    const { client, ch } = await joinedAs(world, "ann");
    await client.ask({ type: "list", limit: 1, watch: true });
    expectType(await client.ask(publish(ch, follow(null, say("a")))), "ack");
    // Nor does it keep the change of the list from the others who watch.
    expect(client.all("sessions")).toHaveLength(1);
  });
});

test("commands to a channel that another connection joined are refused", async () => {
  const world = await createWorld();
  const { ch } = await joinedAs(world, "ann");
  const client = await hello(world, "bob");
  expect(await client.ask(publish(ch, follow(null, say("a"))))).toMatchObject({
    error: { code: "not_joined" },
  });
  expect(await world.records("s")).toEqual([]);
});
