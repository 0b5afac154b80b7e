/** A reset begins a new logical session in the same place (F8). */
import type { EntryId } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  append,
  at,
  expectType,
  follow,
  join,
  joinedAs,
  publish,
  publishWithRun,
  register,
  say,
  streaming,
} from "../kit/raw.js";
import { begin, createForestWorld, fork, grow, heldBy, lineOf, list, look, textsOf } from "./forest.js";

const reset = (ch: number, value: string) => register(ch, "reset", value);

const resetSession = async () => {
  const begun = await begin(await createForestWorld());
  expectType(await begun.client.ask(reset(begun.ch, "r1")), "ack");
  return begun;
};

describe("[F8] after a reset", () => {
  test("who joins begins with nothing", async () => {
    const { world } = await resetSession();
    const joined = await look(world, "s");
    expect(joined).toMatchObject({ lines: [{ leaf: null }], entries: [], alternatives: [], head: 4 });
    world.stopServer();
    await world.startServer();
    expect((await look(world, "s")).entries).toEqual([]);
  });

  test("[P1] what goes after nothing begins a new line, and the next one goes on from it", async () => {
    const { world, client, ch } = await resetSession();
    const first = expectType(
      await client.ask(publish(ch, follow(null, say("x")), follow(null, say("y")))),
      "ack",
    );
    expect(first.entries.map(({ parentId }) => parentId)).toEqual([null, "x"]);
    const next = expectType(await client.ask(publish(ch, follow(null, say("z")))), "ack");
    expect(next.entries).toMatchObject([{ parentId: "y" }]);
    expect(await lineOf(world, "s")).toEqual(["x", "y", "z"]);
  });

  test("[V9] the alternatives of the first entry are those since the reset", async () => {
    const { world, client, ch } = await resetSession();
    for (const id of ["x", "y"]) await client.ask(publish(ch, at({ under: null }, say(id))));
    const joined = await look(world, "s");
    expect(joined.alternatives).toEqual([{ parentId: null, total: 2, from: 0, ids: ["x", "y"] }]);
    expect(await client.ask({ type: "alternatives", ch, parentId: null, from: 0, limit: 10 })).toMatchObject({
      total: 2,
      ids: ["x", "y"],
    });
  });

  test("[J1] [V9] beside an old line the roots of now are named, also where there are none", async () => {
    const { world, client, ch } = await resetSession();
    const ask = { candidates: ["b" as EntryId], walk: "stay" as const, limit: 10 };
    const rootsBeside = async () => {
      const { joined } = await joinedAs(world, "ann", { lines: [ask] });
      expect(joined.entries[0]?.parentId).toBeNull();
      return joined.alternatives.filter(({ parentId }) => parentId === null);
    };
    expect(await rootsBeside()).toEqual([{ parentId: null, total: 0, from: 0, ids: [] }]);
    await client.ask(publish(ch, at({ under: null }, say("x"))));
    expect(await rootsBeside()).toEqual([{ parentId: null, total: 1, from: 0, ids: ["x"] }]);
  });

  test("[L3] ids stay used", async () => {
    const { client, ch } = await resetSession();
    expect(expectType(await client.ask(publish(ch, follow(null, say("a")))), "ack").entries).toMatchObject([
      { id: "a", seq: 1 },
    ]);
    expect(await client.ask(publish(ch, follow(null, say("a", "else"))))).toMatchObject({
      error: { code: "conflict" },
    });
  });

  test("what was before can be named, and gone on from", async () => {
    const { world, client, ch } = await resetSession();
    await client.ask(publish(ch, follow(null, say("x"))));
    const old = { candidates: ["c" as EntryId], walk: "newest" as const };
    expect(textsOf((await look(world, "s", { lines: [old] })).entries)).toEqual(["a", "b", "c"]);
    expect(await client.ask({ type: "page", ch, before: "c", limit: 10 })).toMatchObject({
      entries: [{ id: "a" }, { id: "b" }],
    });
    await grow(client, ch, "c", "d");
    expect(textsOf((await look(world, "s", { lines: [old] })).entries)).toEqual(["a", "b", "c", "d"]);
    // Nobody who did not ask for that line is brought there.
    expect(await lineOf(world, "s")).toEqual(["x"]);
    expect(await fork(client, "t", { entry: "d" })).toBe("d");
    expect(await lineOf(world, "t")).toEqual(["a", "b", "c", "d"]);
  });

  test("[R1] [S1] a run and a stream of before go on under their own entries, and show nobody the old line", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    await client.ask(publishWithRun(ch, { id: "run", place: { after: "c" } }));
    await client.ask({ type: "claim", ch, id: "run" });
    await client.ask(publish(ch, at(undefined, streaming("reply", { runId: "run" }))));
    await client.ask(reset(ch, "r1"));
    client.send(append(ch, "reply", 0, "on and on", { status: "complete" }));
    await world.settle();
    const next = expectType(
      await client.ask(publish(ch, at(undefined, say("more", "more", { runId: "run" })))),
      "ack",
    );
    expect(next.entries).toMatchObject([{ parentId: "reply" }]);
    expect((await world.fold("s")).get("reply" as EntryId)?.entry).toMatchObject({
      status: "complete",
      size: 9,
    });
    expect(await lineOf(world, "s")).toEqual([]);
    await client.ask(publish(ch, follow(null, say("x"))));
    expectType(await client.ask({ type: "end", ch, id: "run", status: "done" }), "ack");
    expect(await lineOf(world, "s")).toEqual(["x"]);
  });

  test("an open stream of before is named to who joins, without its text", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    await client.ask(publish(ch, at({ under: "c" }, streaming("reply"))));
    await client.ask(reset(ch, "r1"));
    expect(await look(world, "s")).toMatchObject({
      entries: [],
      open: [{ id: "reply", parentId: "c", size: 0 }],
    });
  });

  test("[V2] a line that was made active before is not shown; one that is made active after is", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    await client.ask(register(ch, "view:active", "b"));
    await client.ask(reset(ch, "r1"));
    expect(await lineOf(world, "s")).toEqual([]);
    await client.ask(publish(ch, follow(null, say("x"))));
    await client.ask(register(ch, "view:active", "a"));
    expect(await lineOf(world, "s")).toEqual(["a"]);
  });

  test("[J2] who was away is told by the tail, and who held a line may name it", async () => {
    const { client, ch, joined, world } = await begin(await createForestWorld());
    await client.ask(reset(ch, "r1"));
    const late = await joinedAs(world, "late", { cursor: { epoch: joined.epoch, seq: 3 } });
    expect(late.joined).toMatchObject({
      mode: "tail",
      records: [{ kind: "register", key: "reset", value: "r1" }],
    });
  });

  test("[T1] who was joined all the time has the same tree", async () => {
    const { world, client, ch, joined } = await begin(await createForestWorld());
    const reader = await joinedAs(world, "reader");
    await client.ask(reset(ch, "r1"));
    await client.ask(publish(ch, follow(null, say("x"))));
    await grow(client, ch, "c", "d");
    const held = heldBy(reader.joined, reader.client);
    const fold = await world.fold("s");
    expect(held.roots.map(({ entry }) => entry.id)).toEqual(fold.roots.map(({ entry }) => entry.id));
    expect([held.newest?.entry.id, fold.newest?.entry.id, held.resetSeq]).toEqual(["x", "x", fold.resetSeq]);
    expect(joined.head).toBe(0);
  });

  test("[F4] the list goes on counting all entries: nothing is gone", async () => {
    const { client, ch } = await resetSession();
    const [before] = await list(client);
    expect(before?.entries).toBeGreaterThan(0);
    await client.ask(publish(ch, follow(null, say("x"))));
    expect(await list(client)).toMatchObject([{ id: "s", entries: (before?.entries ?? 0) + 1 }]);
  });
});

describe("[F8] an alternative to the first entry of before", () => {
  test.each([{ forkOf: "a" }, { regenerate: "a" }, { regenerate: "b" }])(
    "is refused, since it would begin a line of now: %o",
    async (place) => {
      const { world, client, ch } = await joined();
      const items = "forkOf" in place ? [at(place, say("x"))] : [];
      const answers = [
        await client.ask(publishWithRun(ch, { id: "run", place })),
        ...(items.length === 0 ? [] : [await client.ask(publish(ch, ...items))]),
      ];
      for (const answer of answers)
        expect(answer).toMatchObject({
          error: { code: "unknown_parent", message: expect.stringContaining("before the session was reset") },
        });
      expect(await lineOf(world, "s")).toEqual([]);
    },
  );

  test("to a later one goes on under its parent", async () => {
    const { world, client, ch } = await joined();
    expectType(await client.ask(publish(ch, at({ forkOf: "b" }, say("x")))), "ack");
    expect((await world.fold("s")).get("x" as EntryId)?.entry.parentId).toBe("a");
    expect(await lineOf(world, "s")).toEqual([]);
  });

  /** A line that no prompt begins, reset. */
  const joined = async () => {
    const begun = await begin(await createForestWorld(), "root", []);
    const { client, ch } = begun;
    await client.ask(publish(ch, follow(null, say("a", "a", { role: "assistant" }))));
    await client.ask(publish(ch, follow("a", say("b", "b", { role: "assistant" }))));
    expectType(await client.ask(reset(ch, "r1")), "ack");
    return begun;
  };
});

describe("[F8] a reset's value", () => {
  test("is an id of its own; its repeat does nothing, and no earlier one is used again", async () => {
    const { world, client, ch } = await resetSession();
    for (const value of [null, 1, true, "", "not an id", "x".repeat(65)])
      expect(await client.ask(register(ch, "reset", value))).toMatchObject({ error: { code: "invalid" } });
    await client.ask(publish(ch, follow(null, say("x"))));
    expectType(await client.ask(reset(ch, "r1")), "ack");
    expect(await lineOf(world, "s")).toEqual(["x"]);
    expectType(await client.ask(reset(ch, "r2")), "ack");
    expect(await lineOf(world, "s")).toEqual([]);
    expect(await client.ask(reset(ch, "r1"))).toMatchObject({ error: { code: "conflict" } });
    world.stopServer();
    await world.startServer();
    const again = await joinedAs(world, "root");
    expect(await again.client.ask(reset(again.ch, "r1"))).toMatchObject({ error: { code: "conflict" } });
    expectType(await again.client.ask(reset(again.ch, "r2")), "ack");
  });

  test("[F2] a fork after it takes the new line, and a reset in a fork leaves its origin alone", async () => {
    const { world, client, ch } = await resetSession();
    await grow(client, ch, null, "x", "y");
    await fork(client, "t", { entry: "y" });
    const joined = await join(client, { session: "t" });
    expectType(await client.ask(reset(joined.ch, "r1")), "ack");
    expect(await lineOf(world, "t")).toEqual([]);
    expect(await lineOf(world, "s")).toEqual(["x", "y"]);
  });
});
