/** How a message grows at the server: positions, repeats, who may, and what is merged. */
import type {
  Append,
  EntryId,
  LogRecord,
  MessageEntry,
  PrincipalId,
  RunId,
  SessionId,
  WriterId,
} from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  append,
  expectType,
  follow,
  joinedAs,
  publish,
  publishWithRun,
  type RawClient,
  register,
  say,
  streaming,
  textIn,
  treeOf,
} from "../kit/raw.js";
import { createWorld, type World } from "../kit/world.js";
import { message, run } from "./store/records.js";

/** A streaming entry `a` of `ann`, and what its writer and a reader hear of it. */
const begin = async (more: object = {}) => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  const reader = await joinedAs(world, "bob");
  await client.ask(publish(ch, follow(null, streaming("a", more))));
  /** Sends one append and tells what it was answered with. */
  const grow = async (from: number, text: string, rest: object = {}, by: RawClient = client) => {
    const heard = by.received.length;
    by.send(append(ch, "a", from, text, rest));
    await world.settle();
    const answers = by.received
      .slice(heard)
      .filter((given) => "type" in given && (given.type === "appended" || given.type === "refused"));
    expect(answers).toHaveLength(1);
    return answers[0];
  };
  const text = async () => textIn(await world.fold("s"), "a");
  const entry = async () => (await world.fold("s")).get("a" as EntryId)?.entry as MessageEntry;
  const heardText = () => textIn(treeOf(reader.joined, reader.client.frames()), "a");
  return { world, client, ch, grow, text, entry, heardText };
};

const refusedWith = (code: string, more: object = {}) => ({
  type: "refused",
  id: "a",
  error: { code, ...more },
});
const acknowledged = (size: number, status = "streaming") => ({ type: "appended", id: "a", size, status });

test("[S1] a message grows until an append carries another status", async () => {
  const { grow, entry } = await begin();
  expect(await grow(0, "one")).toEqual({ ...acknowledged(3), ch: expect.any(Number) });
  expect((await entry()).status).toBe("streaming");
  expect(await grow(3, " two", { status: "failed" })).toMatchObject(acknowledged(7, "failed"));
  expect(await entry()).toMatchObject({
    status: "failed",
    size: 7,
    parts: [{ type: "text", text: "one two" }],
  });
});

test("[S1] only a message may begin as streaming", async () => {
  const { client, ch } = await begin();
  const draft = { id: "c", type: "custom", name: "n", data: 1, status: "streaming" };
  expect(await client.ask(publish(ch, follow(null, draft)))).toMatchObject({ error: { code: "invalid" } });
});

test("[S1] an append cannot bring the status streaming", async () => {
  const { client, ch, world } = await begin();
  client.send(append(ch, "a", 0, "x", { status: "streaming" }));
  await world.settle();
  expect(client.all("refused")).toMatchObject([{ error: { code: "invalid" } }]);
});

test("[S2] the size counts UTF-16 code units of text, and one for each push and set", async () => {
  const { client, ch, world, entry, grow } = await begin();
  await grow(0, "é😀");
  client.send({
    type: "append",
    ch,
    id: "a",
    at: 3,
    deltas: [
      { push: { type: "tool-call", callId: "c", name: "n", input: "", state: "input" } },
      { text: "{}" },
      { set: { state: "ready" }, part: 1 },
      { text: "!", part: 0 },
    ],
  });
  await world.settle();
  expect(client.all("appended").at(-1)).toMatchObject({ size: 8 });
  expect(await entry()).toMatchObject({
    size: 8,
    parts: [
      { type: "text", text: "é😀!" },
      { type: "tool-call", input: "{}", state: "ready" },
    ],
  });
});

test("[S2] deltas of one append build on each other", async () => {
  const { client, ch, world, entry } = await begin();
  client.send({
    type: "append",
    ch,
    id: "a",
    at: 0,
    deltas: [{ text: "x" }, { set: { text: "y" }, part: 0 }],
  });
  await world.settle();
  expect(client.all("appended")).toMatchObject([{ size: 2 }]);
  expect((await entry()).parts).toEqual([{ type: "text", text: "y" }]);
});

test.each([
  ["text for a part that takes none", [{ push: { type: "data", name: "d", data: 1 } }, { text: "x" }]],
  ["text for a part that is not there", [{ text: "x", part: 3 }]],
  ["a set of a part that is not there", [{ set: { text: "x" }, part: 0 }]],
  [
    "a set of a part that comes later",
    [{ set: { text: "x" }, part: 0 }, { push: { type: "text", text: "" } }],
  ],
  ["another type", [{ push: { type: "text", text: "" } }, { set: { type: "data" }, part: 0 }]],
  ["no part any more", [{ push: { type: "text", text: "" } }, { set: { text: 7 }, part: 0 }]],
  ["a field that no part has", [{ push: { type: "text", text: "" } }, { set: { __proto: 1 }, part: 0 }]],
])("[S2] deltas that cannot be folded are refused: %s", async (_name, deltas) => {
  const { client, ch, world, entry } = await begin();
  client.send({ type: "append", ch, id: "a", at: 0, deltas });
  await world.settle();
  expect(client.all("refused")).toMatchObject([{ id: "a", error: { code: "invalid" } }]);
  expect(await entry()).toMatchObject({ size: 0, parts: [] });
});

describe("[S3] positions", () => {
  test("one that ends at or below the size and brings no status is a repeat", async () => {
    const { grow, text, world } = await begin();
    await grow(0, "hello world");
    const head = (await world.records("s")).length;
    for (const [
      from,
      repeated,
    ] of [[0, "hello"], [0, "hello world"], [6, "world"], [3, ""], [11, ""], [0, "other"]] as const) // biome-ignore format: one line
      expect(await grow(from, repeated)).toMatchObject(acknowledged(11));
    expect(await text()).toBe("hello world");
    expect(await world.records("s")).toHaveLength(head);
  });

  test("one that overlaps is trimmed to its new tail", async () => {
    const { grow, text, heardText, world } = await begin();
    await grow(0, "hello");
    expect(await grow(2, "llo wor")).toMatchObject(acknowledged(9));
    expect(await grow(0, "hello world")).toMatchObject(acknowledged(11));
    expect(await text()).toBe("hello world");
    expect(heardText()).toBe("hello world");
    const appends = (await world.records("s")).filter((record): record is Append => record.kind === "append");
    expect(appends.map(({ at, deltas }) => [at, deltas])).toEqual([
      [0, [{ text: "hello" }]],
      [5, [{ text: " wor" }]],
      [9, [{ text: "ld" }]],
    ]);
  });

  test("one whose overlap differs is refused with `conflict`", async () => {
    const { grow, text } = await begin();
    await grow(0, "hello");
    for (const [from, other] of [[0, "jello world"], [4, "x world"], [0, "help! world"]] as const) // biome-ignore format: one line
      expect(await grow(from, other)).toMatchObject(refusedWith("conflict"));
    expect(await grow(0, "jello", { status: "complete" })).toMatchObject(refusedWith("conflict"));
    expect(await text()).toBe("hello");
  });

  test("an overlap is compared part by part, across pushes and sets", async () => {
    const { client, ch, world, entry } = await begin();
    const push = { push: { type: "text", text: "" } };
    const send = async (from: number, deltas: object[]) => {
      const heard = client.received.length;
      client.send({ type: "append", ch, id: "a", at: from, deltas });
      await world.settle();
      return client.received.slice(heard).find((given) => "type" in given);
    };
    await send(0, [{ text: "ab" }, push, { text: "cd" }, { set: { text: "CD" }, part: 1 }]);
    expect(await send(1, [{ text: "b" }, push, { text: "cd" }, { set: { text: "CD" }, part: 1 }, { text: "e" }])).toMatchObject(acknowledged(7)); // biome-ignore format: one line
    expect(await send(2, [{ push: { type: "thinking", text: "" } }, { text: "cd" }, { set: { text: "CD" }, part: 1 }, { text: "ef" }])).toMatchObject(refusedWith("conflict")); // biome-ignore format: one line
    expect(await send(5, [{ set: { text: "XX" }, part: 1 }, { text: "ef" }])).toMatchObject(refusedWith("conflict")); // biome-ignore format: one line
    expect(await send(4, [{ text: "d", part: 1 }, { set: { text: "CD" }, part: 1 }, { text: "ef" }])).toMatchObject(refusedWith("conflict")); // biome-ignore format: one line
    expect((await entry()).parts).toEqual([
      { type: "text", text: "ab" },
      { type: "text", text: "CDe" },
    ]);
  });

  test("an overlap is found in a long text that came in small pieces, wherever it lies", async () => {
    const { grow, text } = await begin();
    const whole = Array.from({ length: 12_000 }, (_, index) => `${index} `).join("");
    for (let from = 0; from < whole.length - 1000; from += 1000)
      await grow(from, whole.slice(from, from + 1000));
    const size = (await text())?.length as number;
    for (const back of [1, 999, 16_000, 40_000]) {
      const other = `${whole.slice(size - back, size - 1)}x${whole.slice(size)}`;
      expect(await grow(size - back, other)).toMatchObject(refusedWith("conflict"));
    }
    expect(await grow(size - 40_000, whole.slice(size - 40_000))).toMatchObject(acknowledged(whole.length));
    expect(await text()).toBe(whole);
  });

  test("one that starts beyond the size is refused with `gap` and the size", async () => {
    const { grow, text } = await begin();
    await grow(0, "hello");
    expect(await grow(6, "world")).toMatchObject(refusedWith("gap", { size: 5 }));
    expect(await grow(6, "")).toMatchObject(refusedWith("gap", { size: 5 }));
    expect(await grow(6, "", { status: "complete" })).toMatchObject(refusedWith("gap", { size: 5 }));
    expect(await text()).toBe("hello");
  });

  test("one with a status that ends at the size folds the status; below it, it is a gap", async () => {
    const { grow, entry } = await begin();
    await grow(0, "hello");
    expect(await grow(0, "hell", { status: "complete" })).toMatchObject(refusedWith("gap", { size: 5 }));
    expect(await grow(4, "", { status: "complete" })).toMatchObject(refusedWith("gap", { size: 5 }));
    expect((await entry()).status).toBe("streaming");
    expect(await grow(2, "llo", { status: "complete" })).toMatchObject(acknowledged(5, "complete"));
    expect(await entry()).toMatchObject({ status: "complete", size: 5 });
  });

  test("a status alone, at the size", async () => {
    const { grow, entry } = await begin();
    await grow(0, "hello");
    const usage = { input: 3, output: 4 };
    expect(await grow(5, "", { status: "complete", usage })).toMatchObject(acknowledged(5, "complete"));
    expect(await entry()).toMatchObject({ status: "complete", usage });
  });

  test("a repeat does not bring back a usage that was replaced since", async () => {
    const { grow, entry } = await begin();
    await grow(0, "ab", { usage: { input: 1, output: 2 } });
    await grow(2, "cd", { usage: { input: 1, output: 4 } });
    expect(await grow(0, "ab", { usage: { input: 1, output: 2 } })).toMatchObject(acknowledged(4));
    await grow(4, "", { usage: { input: 1, output: 5 } });
    expect(await grow(2, "cd", { usage: { input: 1, output: 4 } })).toMatchObject(acknowledged(4));
    expect((await entry()).usage).toEqual({ input: 1, output: 5 });
  });

  test("case-S5 tokens 2, 1, 3 arrive in that order", async () => {
    const { client, ch, world, text, heardText } = await begin();
    const tokens = [append(ch, "a", 3, "two"), append(ch, "a", 0, "one"), append(ch, "a", 6, "three")];
    for (const token of tokens) client.send(token);
    await world.settle();
    expect(client.all("refused")).toMatchObject([
      refusedWith("gap", { size: 0 }),
      refusedWith("gap", { size: 3 }),
    ]);
    for (const token of tokens.slice(0, 1).concat(tokens.slice(2))) client.send(token);
    await world.settle();
    expect(await text()).toBe("onetwothree");
    expect(heardText()).toBe("onetwothree");
  });

  test("case-S1 twenty tokens, one refused in the middle and sent again", async () => {
    const { grow, text, heardText, world } = await begin();
    const tokens = Array.from({ length: 20 }, (_, index) => `t${index} `);
    let size = 0;
    for (const [index, token] of tokens.entries()) {
      if (index === 9) expect(await grow(size + 1, token)).toMatchObject(refusedWith("gap", { size }));
      await grow(size, token);
      size += token.length;
    }
    const { joined } = await joinedAs(world, "cid");
    for (const given of [await text(), heardText(), textIn(treeOf(joined, []), "a")])
      expect(given).toBe(tokens.join(""));
  });

  test("an append to an entry that is not there", async () => {
    const { client, ch, world } = await begin();
    client.send(append(ch, "nowhere", 0, "x"));
    await world.settle();
    expect(client.all("refused")).toMatchObject([{ ch, id: "nowhere", error: { code: "not_found" } }]);
  });
});

describe("[S5] who may append", () => {
  const authenticated = () =>
    createWorld({
      authenticate: ({ token }) => ({ id: token as PrincipalId, admin: token === "root" }),
    });
  const attempt = async (world: World, name: string, writer: string) => {
    const { client, ch } = await joinedAs(world, name, { writer });
    client.send(append(ch, "a", 0, "x"));
    await world.settle();
    return client.all("refused").at(-1)?.error.code ?? client.all("appended").at(-1)?.type;
  };

  test("its writer and an admin; no other writer, of whichever principal, whatever it calls itself", async () => {
    const world = await authenticated();
    const { client, ch } = await joinedAs(world, "ann", { writer: "w1" });
    await client.ask(publish(ch, follow(null, streaming("a"))));
    expect(await attempt(world, "ann", "w2")).toBe("forbidden");
    expect(await attempt(world, "bob", "w3")).toBe("forbidden");
    expect(await attempt(world, "bob", "w1")).toBe("forbidden");
    expect(textIn(await world.fold("s"), "a")).toBe("");
    expect(await attempt(world, "root", "w4")).toBe("appended");
  });

  test("a writer of the same principal that took over its run, and then no other", async () => {
    const world = await authenticated();
    const held = { agent: "ann" as PrincipalId, id: "r" as RunId };
    const records: LogRecord[] = [
      { ...run(1, "r", "active"), ...held, writer: "w1" as WriterId },
      message(2, "", {
        id: "a" as EntryId,
        status: "streaming",
        parts: [],
        runId: "r" as RunId,
        author: "ann" as PrincipalId,
        writer: "w1" as WriterId,
      }),
      { ...run(3, "r", "active"), ...held, writer: "w2" as WriterId },
    ];
    await world.store.append("s" as SessionId, 0, records);
    expect(await attempt(world, "ann", "w3")).toBe("forbidden");
    expect(await attempt(world, "bob", "w2")).toBe("forbidden");
    expect(await attempt(world, "ann", "w2")).toBe("appended");
  });

  test("case-S9 after the end repeats are acknowledged, and anything else is `closed`", async () => {
    const { grow, entry, world, ch } = await begin();
    await grow(0, "hello");
    await grow(5, "", { status: "complete" });
    const before = await entry();
    for (const [from, text, more] of [
      [0, "hello", {}],
      [0, "hel", {}],
      [2, "llo", { status: "complete" }],
      [5, "", { status: "complete" }],
      [5, "", {}],
    ] as const)
      expect(await grow(from, text, more)).toMatchObject(acknowledged(5, "complete"));
    for (const [from, text, more] of [
      [5, "!", {}],
      [0, "hello!", {}],
      [9, "x", {}],
      [5, "", { status: "failed" }],
      [0, "hel", { status: "complete" }],
      [5, "!", { status: "complete" }],
    ] as const)
      expect(await grow(from, text, more)).toMatchObject(refusedWith("closed"));
    expect(await entry()).toEqual(before);
    expect(await world.records("s")).toHaveLength(3);
    expect(ch).toBeGreaterThan(0);
  });

  test("nothing is appended to an entry that was published whole", async () => {
    const { client, ch, world } = await begin();
    await client.ask(publish(ch, follow(null, say("b"))));
    client.send(append(ch, "b", 0, "x"));
    client.send(append(ch, "b", 0, ""));
    await world.settle();
    expect(client.all("refused")).toMatchObject([{ id: "b", error: { code: "closed" } }]);
    expect(client.all("appended")).toMatchObject([{ id: "b", size: 0, status: "complete" }]);
  });
});

describe("[S6] merging", () => {
  const appendsOf = async (world: World) =>
    (await world.records("s"))
      .filter((record): record is Append => record.kind === "append")
      .map(({ id, at, deltas, status }) => [id, at, deltas.map((delta) => ("text" in delta ? delta.text : delta)).join("|"), status]); // biome-ignore format: one line

  test("appends of one turn become one record, and one acknowledgement", async () => {
    const { client, ch, world, heardText } = await begin();
    for (const [index, letter] of [..."hello"].entries()) client.send(append(ch, "a", index, letter));
    client.send(append(ch, "a", 5, "", { status: "complete" }));
    await world.settle();
    expect(await appendsOf(world)).toEqual([["a", 0, "hello", "complete"]]);
    expect(client.all("appended")).toMatchObject([acknowledged(5, "complete")]);
    expect(heardText()).toBe("hello");
    // A seq for what is written, none for what was merged away.
    expect((await world.records("s")).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test("also where appends to two entries come in turns", async () => {
    const { client, ch, world } = await begin();
    await client.ask(publish(ch, follow("a", streaming("b"))));
    for (const [index, letter] of [..."xyz"].entries())
      for (const id of ["a", "b"]) client.send(append(ch, id, index, `${letter}`));
    await world.settle();
    expect(await appendsOf(world)).toEqual([
      ["a", 0, "xyz", undefined],
      ["b", 0, "xyz", undefined],
    ]);
  });

  test("but not over anything else, nor over an end", async () => {
    const { client, ch, world } = await begin();
    client.send(append(ch, "a", 0, "x"));
    client.post(register(ch, "title", "T"));
    client.send(append(ch, "a", 1, "y"));
    client.post(publish(ch, follow("a", say("b"))));
    client.send(append(ch, "a", 2, "z", { status: "complete" }));
    client.send(append(ch, "a", 3, "!"));
    await world.settle();
    expect((await world.records("s")).map(({ kind }) => kind)).toEqual([
      "entry", "append", "register", "append", "entry", "append",
    ]); // biome-ignore format: one line
    expect(client.all("refused")).toMatchObject([refusedWith("closed")]);
    expect(textIn(await world.fold("s"), "a")).toBe("xyz");
  });

  test("a refused part does not take the others of its turn with it", async () => {
    const { client, ch, world } = await begin();
    client.send(append(ch, "a", 0, "good"));
    client.send({ type: "append", ch, id: "a", at: 4, deltas: [{ set: { text: 7 }, part: 0 }] });
    await world.settle();
    expect(client.all("appended")).toMatchObject([acknowledged(4)]);
    expect(client.all("refused")).toMatchObject([refusedWith("invalid")]);
    expect(textIn(await world.fold("s"), "a")).toBe("good");
  });

  test("a repeat that differs is acknowledged or not, whether or not it shares its turn", async () => {
    const outcomes = await Promise.all(
      [true, false].map(async (isOneTurn) => {
        const { client, ch, world, grow } = await begin();
        await grow(0, "hello");
        client.send(append(ch, "a", 0, "jello"));
        if (!isOneTurn) await world.settle();
        client.send(append(ch, "a", 5, " world"));
        await world.settle();
        return [
          client.all("refused").length,
          client.all("appended").at(-1),
          textIn(await world.fold("s"), "a"),
        ];
      }),
    );
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]?.[2]).toBe("hello world");
  });
});

test("[R5] ending a run ends its open entries, and nothing more is written for it", async () => {
  const world = await createWorld();
  const { client, ch } = await joinedAs(world, "ann");
  await client.ask(publishWithRun(ch, { id: "r", place: { after: "p" } }, follow(null, say("p"))));
  await client.ask({ type: "claim", ch, id: "r" });
  const drafts = [streaming("a", { runId: "r" }), streaming("b", { runId: "r" })];
  await client.ask(publish(ch, ...drafts.map((draft) => ({ draft }))));
  await client.ask(publish(ch, follow("b", streaming("free"))));
  client.send(append(ch, "a", 0, "partial"));
  const ended = expectType(await client.ask({ type: "end", ch, id: "r", status: "failed" }), "ack");
  expect(ended.run?.status).toBe("failed");
  const tree = await world.fold("s");
  const statuses = ["a", "b", "free"].map((id) => tree.get(id as EntryId)?.entry.status);
  expect(statuses).toEqual(["failed", "failed", "streaming"]);
  for (const item of [{ draft: say("c", "c", { runId: "r" }) }, follow("b", say("c", "c", { runId: "r" }))])
    expect(await client.ask(publish(ch, item))).toMatchObject({ error: { code: "closed" } });
  client.send(append(ch, "a", 7, "more"));
  await world.settle();
  expect(client.all("refused").at(-1)).toMatchObject(refusedWith("closed"));
});
