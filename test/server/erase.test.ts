/** Erasing an entry: for admins, for good, wherever it is (L2). */
import { createMemoryStore } from "@espalier/server";
import type { EntryId, Epoch, PrincipalId, SessionId } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { createFaultStore, type FaultStore } from "../kit/fault-store.js";
import {
  append,
  at,
  expectType,
  follow,
  hello,
  join,
  joinedAs,
  publish,
  say,
  streaming,
  treeOf,
} from "../kit/raw.js";
import { begin, createForestWorld, eraseMessage, fork, grow, heldBy, lineOf, look } from "./forest.js";

const SECRET = "geheim";

const createStore = (): FaultStore =>
  createFaultStore(createMemoryStore({ newEpoch: () => "epoch1" as Epoch }));

/** A line whose entry `x` says what is to be erased, and somebody who has it all. */
const withSecret = async () => {
  const store = createStore();
  const { world, client, ch } = await begin(await createForestWorld({ store }), "root", ["a"]);
  const ann = await joinedAs(world, "ann");
  await ann.client.ask(publish(ann.ch, at({ under: "a" }, say("x", SECRET))));
  await grow(client, ch, "x", "b");
  return { store, world, client, ch, ann };
};

const erase = async (who: { client: Awaited<ReturnType<typeof hello>>; ch: number }, id = "x") =>
  expectType(await who.client.ask(eraseMessage(who.ch, id)), "ack");

describe("[L2] an admin erases an entry", () => {
  test("its content is gone from the log, from who is joined and from who comes, and its place stays", async () => {
    const { world, client, ch, ann } = await withSecret();
    await erase({ client, ch });
    expect(JSON.stringify(await world.records("s"))).not.toContain(SECRET);
    const shown = heldBy(ann.joined, ann.client).get("x" as EntryId)?.entry;
    expect(shown).toMatchObject({
      type: "erased",
      role: "user",
      parentId: "a",
      author: "ann",
      erasedBy: "root",
    });
    const joined = await look(world, "s");
    expect(joined.entries.find(({ id }) => id === "x")).toEqual(shown);
    expect(await lineOf(world, "s")).toEqual(["a", "[erased]", "b"]);
    expect((await world.fold("s")).get("x" as EntryId)?.entry).toEqual(shown);
  });

  test("only an admin, only what is there, and a repeat is acknowledged", async () => {
    const { world, client, ch, ann } = await withSecret();
    expect(await ann.client.ask(eraseMessage(ann.ch, "x"))).toMatchObject({ error: { code: "forbidden" } });
    expect(await client.ask(eraseMessage(ch, "nope"))).toMatchObject({ error: { code: "not_found" } });
    expect(await client.ask(eraseMessage(99, "x"))).toMatchObject({ error: { code: "not_joined" } });
    await erase({ client, ch });
    const { length } = await world.records("s");
    await erase({ client, ch });
    expect(await world.records("s")).toHaveLength(length);
  });

  test("an admin who may not write to the session erases nothing in it", async () => {
    const world = await createForestWorld({
      authenticate: ({ token }) => ({
        id: (token ?? "") as PrincipalId,
        admin: true,
        may: (right) => token === "root" || right !== "write",
      }),
    });
    await begin(world);
    const auditor = await joinedAs(world, "auditor");
    expect(await auditor.client.ask(eraseMessage(auditor.ch, "a"))).toMatchObject({
      error: { code: "forbidden" },
    });
  });

  test("[L4] its publish is acknowledged again to its author, whatever it says; its id stays used", async () => {
    const { world, client, ch, ann } = await withSecret();
    await erase({ client, ch });
    for (const text of [SECRET, "else"]) {
      const ack = expectType(
        await ann.client.ask(publish(ann.ch, at({ under: "a" }, say("x", text)))),
        "ack",
      );
      expect(ack.entries).toMatchObject([{ id: "x", parentId: "a" }]);
    }
    expect(await client.ask(publish(ch, at({ under: "a" }, say("x", SECRET))))).toMatchObject({
      error: { code: "conflict" },
    });
    expect(JSON.stringify(await world.records("s"))).not.toContain(SECRET);
  });

  test("one that streams is ended first; what comes after is closed", async () => {
    const { world, client, ch, ann } = await withSecret();
    await ann.client.ask(publish(ann.ch, at({ under: "b" }, streaming("st"))));
    ann.client.send(append(ann.ch, "st", 0, SECRET));
    await world.settle();
    await erase({ client, ch }, "st");
    expect(heldBy(ann.joined, ann.client).get("st" as EntryId)?.entry).toMatchObject({
      type: "erased",
      status: "aborted",
      size: 6,
    });
    const last = client
      .frames(ch)
      .flatMap(({ records }) => records)
      .slice(-2);
    expect(last).toMatchObject([{ kind: "append", status: "aborted" }, { kind: "erase" }]);
    for (const from of [0, 6]) ann.client.send(append(ann.ch, "st", from, SECRET));
    await world.settle();
    expect(ann.client.all("refused")).toMatchObject([
      { id: "st", error: { code: "closed" } },
      { error: { code: "closed" } },
    ]);
    expect(await world.store.unfinished()).toEqual([]);
    expect((await world.fold("s")).get("st" as EntryId)?.entry).toEqual(
      heldBy(ann.joined, ann.client).get("st" as EntryId)?.entry,
    );
    expect(JSON.stringify((await world.records("s")).slice(3))).not.toContain(SECRET);
  });

  test("[J2] who has not had it yet takes a window; who has had it is told", async () => {
    const { world, client, ch, ann } = await withSecret();
    const { epoch } = ann.joined;
    await erase({ client, ch });
    for (const restart of [false, true]) {
      if (restart) {
        world.stopServer();
        await world.startServer();
      }
      const late = await hello(world, "late");
      const before = await join(late, { cursor: { epoch, seq: 1 } });
      expect(before.mode).toBe("reset");
      const after = await join(late, { cursor: { epoch, seq: 2 } });
      expect(after).toMatchObject({ mode: "tail", records: [{ id: "b" }, { kind: "erase", id: "x" }] });
      expect(JSON.stringify(late.received)).not.toContain(SECRET);
    }
  });

  test("[D1] it is acknowledged when it is on disk, and in the order of what was sent", async () => {
    const { store, world, client, ch } = await withSecret();
    const publishing = client.post(publish(ch, at({ under: "b" }, say("y", SECRET))));
    const erasing = client.post(eraseMessage(ch, "y"));
    const following = client.post(publish(ch, at({ under: "y" }, say("z"))));
    await world.settle();
    for (const n of [publishing, erasing, following]) expect(client.answer(n)?.type).toBe("ack");
    expect(await lineOf(world, "s")).toEqual(["a", SECRET, "b", "[erased]", "z"]);
    expect(await store.unfinished()).toEqual([]);
  });

  test("[N1] where the head moved, it is decided again; where the store says no, nothing is kept", async () => {
    const { store, world, client, ch, ann } = await withSecret();
    const { erase: eraseInStore } = store;
    const outcomes = ["conflict", "refused"] as const;
    for (const type of outcomes) {
      store.erase = async () => {
        store.erase = eraseInStore;
        return type === "conflict" ? { type } : { type, error: { code: "unavailable", message: "no" } };
      };
      const answer = await client.ask(eraseMessage(ch, type === "conflict" ? "x" : "b"));
      expect(answer.type).toBe(type === "conflict" ? "ack" : "refused");
    }
    expect(await lineOf(world, "s")).toEqual(["a", "[erased]", "b"]);
    expect(heldBy(ann.joined, ann.client).get("b" as EntryId)?.entry.type).toBe("message");
  });
});

describe("[L2] [F2] an entry that is shared", () => {
  const forked = async () => {
    const begun = await withSecret();
    const { client } = begun;
    await fork(client, "t", { entry: "b" });
    await fork(client, "u", { session: "t", entry: "x" });
    await fork(client, "v", { session: "t", entry: "a" });
    return begun;
  };

  test.each(["s", "t", "u"])(
    "is erased where it is kept and for all that share it, asked for in %s",
    async (session) => {
      const { world, client, ch } = await forked();
      const readers = await Promise.all(["t", "u"].map((id) => joinedAs(world, `r${id}`, { session: id })));
      const asked = session === "s" ? { ch } : await join(client, { session });
      await erase({ client, ch: asked.ch });
      for (const id of ["s", "t", "u"]) {
        expect(JSON.stringify(await world.records(id))).not.toContain(SECRET);
        expect((await world.records(id)).filter(({ kind }) => kind === "erase")).toHaveLength(1);
        expect(await lineOf(world, id)).toContain("[erased]");
      }
      expect(await world.records("v")).toEqual([]);
      for (const reader of readers)
        expect(heldBy(reader.joined, reader.client).get("x" as EntryId)?.entry.type).toBe("erased");
      await erase({ client, ch: asked.ch });
      expect((await world.records("t")).filter(({ kind }) => kind === "erase")).toHaveLength(1);
    },
  );

  test.each([false, true])("[T1] looks the same live and loaded (at rest before: %s)", async (isAtRest) => {
    const { world, client, ch } = await forked();
    if (isAtRest) {
      world.stopServer();
      await world.startServer();
    }
    const admin = isAtRest ? await joinedAs(world, "root") : { client, ch };
    const reader = isAtRest ? undefined : await joinedAs(world, "r", { session: "u" });
    await erase(admin);
    const live = (await look(world, "u", { lines: [{ limit: 1000 }] })).entries;
    if (reader !== undefined)
      expect(
        [...treeOf(reader.joined, reader.client.frames(reader.ch)).nodes()].map(({ entry }) => entry),
      ).toEqual(live);
    world.stopServer();
    await world.startServer();
    expect((await look(world, "u", { lines: [{ limit: 1000 }] })).entries).toEqual(live);
  });

  test("what was cut short is told when the session that shares it is opened", async () => {
    const { store, world, client, ch } = await forked();
    const { sharing } = store;
    store.sharing = async () => [];
    await erase({ client, ch });
    store.sharing = sharing;
    expect(await world.records("t")).toEqual([]);
    world.stopServer();
    await world.startServer();
    const joined = await look(world, "t", { lines: [{ limit: 1000 }] });
    expect(await world.records("t")).toMatchObject([{ kind: "erase", id: "x", author: "root" }]);
    expect(joined.entries.find(({ id }) => id === "x")?.type).toBe("erased");
    expect(joined.head).toBe((await world.records("t")).at(-1)?.seq);
  });

  test("a session that shares it and cannot be opened keeps nobody from erasing", async () => {
    const { store, world, client, ch } = await forked();
    world.stopServer();
    await world.startServer();
    const { load } = store;
    store.load = async (id) =>
      id === "t" ? { type: "refused", error: { code: "damaged", message: "torn" } } : load(id);
    const admin = await joinedAs(world, "root");
    await erase(admin);
    store.load = load;
    expect(await lineOf(world, "t")).toContain("[erased]");
    expect(await lineOf(world, "u")).toContain("[erased]");
    expect([client.name, ch]).toEqual(["root", 1]);
  });

  test("of a fork, one erases its own entries like any", async () => {
    const { world, client } = await forked();
    const joined = await join(client, { session: "t" });
    await client.ask(publish(joined.ch, follow(null, say("own", SECRET))));
    await erase({ client, ch: joined.ch }, "own");
    expect(await lineOf(world, "t")).toEqual(["a", SECRET, "b", "[erased]"]);
    expect((await world.records("s")).some(({ kind }) => kind === "erase")).toBe(false);
    expect(await world.store.summary("t" as SessionId)).toMatchObject({ entries: 1 });
  });
});
