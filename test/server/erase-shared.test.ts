/** Erasing an entry that several sessions share (L2, F2): what stands in between, and what must not wait for it. */
import { createMemoryStore } from "@espalier/server";
import { type EntryId, type Epoch, type PrincipalId, refusal, type SessionId } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { originFault } from "../../server/src/origin-fault.js";
import { createFaultStore, type FaultStore } from "../kit/fault-store.js";
import { expectType, hello, join, joinedAs } from "../kit/raw.js";
import type { World } from "../kit/world.js";
import {
  begin,
  createForestWorld,
  deleteMessage,
  eraseMessage,
  fork,
  forkMessage,
  grow,
  heldBy,
  lineOf,
  list,
} from "./forest.js";

const createStore = (): FaultStore =>
  createFaultStore(createMemoryStore({ newEpoch: () => "epoch1" as Epoch }));

const restart = async (world: World): Promise<void> => {
  world.stopServer();
  await world.startServer();
};

const erasesIn = async (world: World, session: string): Promise<number> =>
  (await world.records(session)).filter(({ kind }) => kind === "erase").length;

/** `u` shares with `t`, which shares with `s`. */
const chain = async () => {
  const store = createStore();
  const begun = await begin(await createForestWorld({ store }), "root", ["a", "x"]);
  await fork(begun.client, "t", { entry: "x" });
  await fork(begun.client, "u", { session: "t", entry: "x" });
  return { store, ...begun };
};

describe("[L2] an erase", () => {
  test("[L3] leaves alone what a fork wrote itself under the same id, and all that shares that", async () => {
    const { world, client, ch } = await begin(await createForestWorld(), "root", ["a", "x"]);
    await fork(client, "t", { entry: "a" });
    const { client: other, ch: own } = await joinedAs(world, "ann", { session: "t" });
    await grow(other, own, "a", "x");
    await fork(other, "u", { session: "t", entry: "x" });
    await fork(client, "v", { entry: "x" });
    expectType(await client.ask(eraseMessage(ch, "x")), "ack");
    expect(await lineOf(world, "s")).toEqual(["a", "[erased]"]);
    expect(await lineOf(world, "v")).toEqual(["a", "[erased]"]);
    expect(await lineOf(world, "t")).toEqual(["a", "x"]);
    expect(await lineOf(world, "u")).toEqual(["a", "x"]);
    await restart(world);
    expect(await lineOf(world, "t")).toEqual(["a", "x"]);
    // And the other way round: the origin keeps what is its own.
    const admin = await joinedAs(world, "root", { session: "u" });
    expectType(await admin.client.ask(eraseMessage(admin.ch, "x")), "ack");
    expect(await lineOf(world, "t")).toEqual(["a", "[erased]"]);
    expect(await erasesIn(world, "s")).toBe(1);
  });

  test("reaches a session that is open, also where the one between cannot be opened", async () => {
    const { store, world } = await chain();
    await restart(world);
    const reader = await joinedAs(world, "reader", { session: "u" });
    const { load } = store;
    store.load = async (id) =>
      id === "t" ? { type: "refused", error: refusal("damaged", "torn") } : load(id);
    const admin = await joinedAs(world, "root");
    expectType(await admin.client.ask(eraseMessage(admin.ch, "x")), "ack");
    expect(heldBy(reader.joined, reader.client).get("x" as EntryId)?.entry.type).toBe("erased");
    expect(await lineOf(world, "u")).toEqual(["a", "[erased]"]);
  });

  test.each([
    ["from memory", false],
    ["from the store", true],
  ])(
    "that was cut short is missed by each numbering of its own; the one between is read %s",
    async (_, isAtRest) => {
      const store = createStore();
      const { world, client, ch } = await begin(await createForestWorld({ store }), "root", ["a", "x"]);
      await fork(client, "t", { entry: "x" });
      const middle = await join(client, { session: "t" });
      // Its head is far above that of the session that keeps the entry.
      await grow(client, middle.ch, "x", "t1", "t2", "t3", "t4", "t5");
      await fork(client, "u", { session: "t", entry: "t5" });
      const { sharing } = store;
      store.sharing = async () => [];
      expectType(await client.ask(eraseMessage(ch, "x")), "ack");
      store.sharing = sharing;
      await restart(world);
      if (!isAtRest) await joinedAs(world, "reader", { session: "t" });
      expect(await lineOf(world, "u")).toEqual(["a", "[erased]", "t1", "t2", "t3", "t4", "t5"]);
      expect(await erasesIn(world, "u")).toBe(1);
    },
  );

  test("that was told before the fork is not told again when that is opened", async () => {
    const store = createStore();
    const { world, client, ch } = await begin(await createForestWorld({ store }), "root", ["a", "x"]);
    await fork(client, "t", { entry: "x" });
    await grow(client, ch, "x", "s1", "s2", "s3");
    expectType(await client.ask(eraseMessage(ch, "x")), "ack");
    expect(await erasesIn(world, "t")).toBe(1);
    await fork(client, "u", { session: "t", entry: "x" });
    await restart(world);
    expect(await lineOf(world, "u")).toEqual(["a", "[erased]"]);
    expect(await world.records("u")).toEqual([]);
  });

  test("asked for through a fork needs the right to write to the session that keeps the entry", async () => {
    const world = await createForestWorld({
      authenticate: ({ token }) => ({
        id: (token ?? "") as PrincipalId,
        admin: true,
        may: (right, session) => token === "root" || right !== "write" || session === "t",
      }),
    });
    const { client } = await begin(world, "root", ["a", "x"]);
    await fork(client, "t", { entry: "x" });
    const { client: auditor, ch } = await joinedAs(world, "auditor", { session: "t" });
    await grow(auditor, ch, "x", "own");
    expect(await auditor.ask(eraseMessage(ch, "x"))).toMatchObject({ error: { code: "forbidden" } });
    expectType(await auditor.ask(eraseMessage(ch, "own")), "ack");
    expect(await lineOf(world, "s")).toEqual(["a", "x"]);
    expect(await lineOf(world, "t")).toEqual(["a", "x", "[erased]"]);
  });

  test("that a disk does not take keeps no other from being erased, deleted or shared", async () => {
    const { store, world, client, ch } = await chain();
    const other = await begin(world, "root", ["oa", "ob"], "o");
    const { erase } = store;
    store.erase = async (id, head, record) => {
      const outcome = await erase(id, head, record);
      return id === "s" && outcome.type === "ok" ? { ...outcome, durable: new Promise(() => {}) } : outcome;
    };
    const stuck = client.post(eraseMessage(ch, "x"));
    await world.settle();
    expect(client.answer(stuck)).toBeUndefined();
    // It is told all the same.
    expect(await lineOf(world, "u")).toEqual(["a", "[erased]"]);
    expect(await fork(other.client, "f", { session: "o", entry: "ob" })).toBe("ob");
    expectType(await other.client.ask(eraseMessage(other.ch, "oa")), "ack");
    expectType(await other.client.ask(deleteMessage("o")), "ack");
    expect(client.answer(stuck)).toBeUndefined();
  });

  test("that is not on disk yet is acknowledged when its session is deleted meanwhile", async () => {
    const { store, world, client, ch } = await chain();
    store.isSyncHeld = true;
    const erasing = client.post(eraseMessage(ch, "x"));
    const deleting = client.post(deleteMessage("s"));
    await world.settle();
    store.sync();
    await world.settle();
    for (const n of [erasing, deleting]) expect(client.answer(n)?.type).toBe("ack");
    for (const id of ["t", "u"]) expect(await lineOf(world, id)).toEqual(["a", "[erased]"]);
  });

  test("that is owed is not tried at each read while the store refuses it", async () => {
    const { store, world, client, ch } = await chain();
    const { sharing, erase } = store;
    store.sharing = async () => [];
    expectType(await client.ask(eraseMessage(ch, "x")), "ack");
    store.sharing = sharing;
    store.erase = async () => ({ type: "refused", error: refusal("unavailable", "no") });
    await restart(world);
    const reader = await joinedAs(world, "reader", { session: "t" });
    const { loads } = store;
    for (let times = 0; times < 10; times += 1) await reader.client.ask({ type: "usage", ch: reader.ch });
    expect(store.loads - loads).toBe(0);
    store.erase = erase;
    await world.advance(10_000);
    expect(await erasesIn(world, "t")).toBe(1);
  });
});

describe("[F4] an origin that the reader may not read", () => {
  const SECRET = "secret-plans";

  const masked = async () => {
    const store = createStore();
    const troubles: string[] = [];
    const world = await createForestWorld({
      store,
      onTrouble: ({ message }) => troubles.push(message),
      authenticate: ({ token }) => ({
        id: (token ?? "") as PrincipalId,
        admin: token === "root",
        may: (_, session) => token === "root" || token === "ann" || session !== SECRET,
      }),
    });
    const { client } = await begin(world, "root", ["a", "x"], SECRET);
    await fork(client, "t", { session: SECRET, entry: "x" });
    await fork(client, "u", { session: "t", entry: "x" });
    await restart(world);
    const { load } = store;
    store.load = async (id) =>
      id === SECRET ? { type: "refused", error: refusal("damaged", `line 7 of ${SECRET}.jsonl`) } : load(id);
    return { store, world, troubles };
  };

  test.each(["t", "u"])("is not named by the error of %s, but to who may read it", async (session) => {
    const { world, troubles } = await masked();
    const ask = async (name: string) =>
      (await hello(world, name)).ask({
        type: "join",
        session,
        lines: [{ candidates: [], walk: "newest", limit: 9 }],
      });
    const answer = expectType(await ask("bob"), "refused");
    expect(answer.error.code).toBe("damaged");
    expect(JSON.stringify(answer)).not.toContain(SECRET);
    for (const name of ["ann", "root"])
      expect(JSON.stringify(await ask(name))).toContain(`line 7 of ${SECRET}`);
    expect(troubles[0]).toContain(SECRET);
  });

  test("nor by lists, forks or the refusal to delete what is shared", async () => {
    const { store, world } = await masked();
    const { list: listAll } = store;
    const error = originFault("damaged", "unable to open t", SECRET as SessionId, `${SECRET} is torn`);
    store.list = async (ask) => {
      const { sessions, more } = await listAll(ask);
      return { sessions: sessions.map((each) => ({ ...each, error })), more };
    };
    const bob = await hello(world, "bob");
    expect(await list(bob)).toMatchObject([{ error: { message: "unable to open t" } }, {}]);
    expect(JSON.stringify(await list(bob))).not.toContain(SECRET);
    expect(JSON.stringify(await list(await hello(world, "ann")))).toContain("is torn");
    for (const message of [forkMessage("v", { session: "t", entry: "x" }), deleteMessage("t")]) {
      const answer = expectType(await bob.ask(message), "refused");
      expect(answer.error.code).toBe("damaged");
      expect(JSON.stringify(answer)).not.toContain(SECRET);
    }
  });
});
