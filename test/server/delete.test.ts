/** Deleting a session: everything of it goes, who shares with it keeps what it has, and everybody is told (F8, F4). */
import { createMemoryStore } from "@espalier/server";
import { type EntryId, type Epoch, type PrincipalId, refusal, type SessionId } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { createFaultStore, type FaultStore } from "../kit/fault-store.js";
import {
  at,
  expectType,
  follow,
  hello,
  join,
  joinedAs,
  joinMessage,
  publish,
  say,
  streaming,
} from "../kit/raw.js";
import {
  begin,
  createForestWorld,
  deleteMessage,
  eraseMessage,
  fork,
  forkMessage,
  grow,
  headerOf,
  heldBy,
  lineOf,
  list,
} from "./forest.js";

const createStore = (): FaultStore =>
  createFaultStore(createMemoryStore({ newEpoch: () => "epoch1" as Epoch }));

const codeOf = (answer: object): string | undefined => (answer as { error?: { code: string } }).error?.code;

describe("[F8] a deleted session", () => {
  test("is gone for those who are joined, those who come, and the list; its id is not used again", async () => {
    const { world, client } = await begin(await createForestWorld());
    const ann = await joinedAs(world, "ann");
    await list(ann.client, { watch: true });
    expectType(await client.ask(deleteMessage("s")), "ack");
    expect(ann.client.all("left")).toMatchObject([{ ch: ann.ch, error: { code: "deleted" } }]);
    expect(ann.client.all("gone")).toEqual([{ type: "gone", sessions: ["s"] }]);
    expect(await list(client)).toEqual([]);
    for (const message of [joinMessage(), joinMessage({ create: false }), forkMessage("t", { entry: "a" })])
      expect(codeOf(await client.ask(message))).toBe("deleted");
    await begin(world, "root", ["x"], "other");
    expect(codeOf(await client.ask(forkMessage("s", { session: "other", entry: "x" })))).toBe("deleted");
  });

  test("was there, or there is nothing to delete; a repeat is acknowledged, also after a restart", async () => {
    const { world, client } = await begin(await createForestWorld());
    expect(codeOf(await client.ask(deleteMessage("nope")))).toBe("not_found");
    expectType(await client.ask(deleteMessage("s")), "ack");
    expectType(await client.ask(deleteMessage("s")), "ack");
    world.stopServer();
    await world.startServer();
    expectType(await (await hello(world, "root")).ask(deleteMessage("s")), "ack");
  });

  test("is deleted by those who may", async () => {
    const world = await createForestWorld({
      authenticate: ({ token }) => ({
        id: (token ?? "") as PrincipalId,
        may: (right) => token === "root" || right !== "delete",
      }),
    });
    await begin(world);
    const ann = await hello(world, "ann");
    expect(codeOf(await ann.ask(deleteMessage("s")))).toBe("forbidden");
    expect(await lineOf(world, "s")).toEqual(["a", "b", "c"]);
  });

  test("takes its sidechains with it, and one alone may go", async () => {
    const { world, client } = await begin(await createForestWorld());
    for (const id of ["s/one", "s/two", "s/three"]) await begin(world, "root", ["x"], id);
    const ann = await joinedAs(world, "ann", { session: "s/two" });
    await list(ann.client, { watch: true });
    expectType(await client.ask(deleteMessage("s/one")), "ack");
    expect(await list(client)).toMatchObject([{ id: "s", sidechains: 2 }]);
    expectType(await client.ask(deleteMessage("s")), "ack");
    expect(
      ann.client
        .all("gone")
        .flatMap(({ sessions }) => sessions)
        .sort(),
    ).toEqual(["s", "s/one", "s/three", "s/two"]);
    expect(ann.client.all("left")).toMatchObject([{ ch: ann.ch, error: { code: "deleted" } }]);
    expect(await list(client, { of: "s", archived: true })).toEqual([]);
    expect(codeOf(await client.ask(joinMessage({ session: "s/four" })))).toBe("not_found");
  });

  test("[F5] removes sidechains together, so that many take no longer than the disk needs", async () => {
    const store = createStore();
    const { world, client } = await begin(await createForestWorld({ store }));
    for (let index = 0; index < 5; index += 1) await begin(world, "root", ["x"], `s/n${index}`);
    const { remove } = store;
    let underWay = 0;
    let most = 0;
    store.remove = async (id) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      return remove(id);
    };
    expectType(await client.ask(deleteMessage("s")), "ack");
    expect(most).toBe(5);
    expect(await list(client, { of: "s" })).toEqual([]);
  });

  test("leaves no sidechain behind that is begun meanwhile", async () => {
    const { world, client } = await begin(await createForestWorld());
    const late = await joinedAs(world, "late", { session: "s/late" });
    const deleting = client.post(deleteMessage("s"));
    const writing = late.client.post(publish(late.ch, follow(null, say("x"))));
    await world.settle();
    expect(client.answer(deleting)?.type).toBe("ack");
    // It was written and then deleted, or not written.
    expect(late.client.answer(writing)).toBeDefined();
    expect(late.client.all("left")).toHaveLength(1);
    expect(await world.store.load("s/late" as SessionId)).not.toMatchObject({ type: "ok" });
  });

  test("with something open in it leaves nothing behind", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    await client.ask(publish(ch, at({ under: "c" }, streaming("d"))));
    expectType(await client.ask(deleteMessage("s")), "ack");
    await world.advance(60_000);
    expect(await world.store.unfinished()).toEqual([]);
    expect(world.clock.timers).toBeLessThan(5);
  });

  test("does not go where the store says no, and may be asked for again", async () => {
    const store = createStore();
    const { world, client, ch } = await begin(await createForestWorld({ store }));
    await begin(world, "root", ["x"], "s/one");
    const { remove } = store;
    store.remove = async (id) =>
      id === "s" ? { type: "refused", error: refusal("unavailable", "no") } : remove(id);
    expect(codeOf(await client.ask(deleteMessage("s")))).toBe("unavailable");
    expect(client.all("left")).toEqual([]);
    await client.ask(publish(ch, follow(null, say("d"))));
    expect(await lineOf(world, "s")).toEqual(["a", "b", "c", "d"]);
    store.remove = remove;
    expectType(await client.ask(deleteMessage("s")), "ack");
  });

  test("is not told of after it was told to be gone", async () => {
    const store = createStore();
    const { world, client, ch } = await begin(await createForestWorld({ store }));
    const ann = await hello(world, "ann");
    await list(ann, { watch: true });
    client.post(publish(ch, follow(null, say("d"))));
    client.post(deleteMessage("s"));
    await world.settle();
    const told = ann.received.filter(
      (each) => "type" in each && (each.type === "gone" || each.type === "sessions"),
    );
    expect(told.at(-1)).toEqual({ type: "gone", sessions: ["s"] });
  });
});

describe("[F4] who shares with a session that is deleted", () => {
  test.each([false, true])("is made whole first (open: %s), and goes on", async (isOpen) => {
    const { world, client } = await begin(await createForestWorld());
    await fork(client, "t", { entry: "b" });
    await fork(client, "u", { session: "t", entry: "b" });
    const before = (await join(await hello(world, "before"), { session: "t" })).entries;
    const ann = isOpen ? await joinedAs(world, "ann", { session: "t" }) : null;
    if (!isOpen) {
      world.stopServer();
      await world.startServer();
    }
    const admin = await hello(world, "root");
    expectType(await admin.ask(deleteMessage("s")), "ack");
    expect(await headerOf(world, "t")).toMatchObject({ origin: { session: "s", entry: "b" }, inherited: 3 });
    expect((await headerOf(world, "t")).origin?.isShared).toBeUndefined();
    if (ann !== null) {
      await ann.client.ask(publish(ann.ch, follow(null, say("mine"))));
      expect([...heldBy(ann.joined, ann.client).nodes()]).toHaveLength(3);
      expect(ann.client.all("left")).toEqual([]);
    }
    const rest = isOpen ? ["mine"] : [];
    for (const isRestarted of [false, true]) {
      if (isRestarted) {
        world.stopServer();
        await world.startServer();
      }
      expect(await lineOf(world, "t")).toEqual(["a", "b", ...rest]);
      expect(await lineOf(world, "u")).toEqual(["a", "b"]);
      expect((await join(await hello(world, "after"), { session: "t" })).entries.slice(0, 2)).toEqual(before);
    }
  });

  test("the others of a chain may go in any order", async () => {
    for (const order of [
      ["s", "t"],
      ["t", "s"],
    ]) {
      const { world, client } = await begin(await createForestWorld());
      await fork(client, "t", { entry: "b" });
      const joined = await join(client, { session: "t" });
      await grow(client, joined.ch, "b", "x");
      await fork(client, "u", { session: "t", entry: "x" });
      for (const id of order) expectType(await client.ask(deleteMessage(id)), "ack");
      expect(await lineOf(world, "u")).toEqual(["a", "b", "x"]);
      expect(await world.records("u")).toHaveLength(3);
    }
  });

  test("[L2] what was made whole is erased by itself", async () => {
    const { world, client } = await begin(await createForestWorld());
    await fork(client, "t", { entry: "b" });
    const { ch } = await join(client, { session: "t" });
    expectType(await client.ask(deleteMessage("s")), "ack");
    expectType(await client.ask(eraseMessage(ch, "a")), "ack");
    expect((await world.fold("t")).get("a" as EntryId)?.entry.type).toBe("erased");
    expect(await lineOf(world, "t")).toEqual(["[erased]", "b"]);
  });

  test("where one cannot be made whole, nothing goes", async () => {
    const store = createStore();
    const { world, client } = await begin(await createForestWorld({ store }));
    await fork(client, "t", { entry: "b" });
    const { load } = store;
    store.load = async (id) =>
      id === "t" ? { type: "refused", error: refusal("damaged", "torn") } : load(id);
    const answer = expectType(await client.ask(deleteMessage("s")), "refused");
    expect(answer.error).toMatchObject({ code: "damaged", message: expect.stringContaining("t") });
    store.load = load;
    expect(await lineOf(world, "s")).toEqual(["a", "b", "c"]);
  });

  test("forks and deletions at once leave no fork without what it shares", async () => {
    const { world, client } = await begin(await createForestWorld());
    const numbers = Array.from({ length: 6 }, (_, index) =>
      client.post(forkMessage(`t${index}`, { entry: "b" })),
    );
    const deleting = client.post(deleteMessage("s"));
    numbers.push(
      ...Array.from({ length: 6 }, (_, index) => client.post(forkMessage(`u${index}`, { entry: "b" }))),
    );
    await world.settle();
    expect(client.answer(deleting)?.type).toBe("ack");
    for (const n of numbers) {
      const answer = client.answer(n);
      if (answer?.type === "forked") expect(await lineOf(world, answer.session)).toEqual(["a", "b"]);
      else expect(codeOf(answer ?? {})).toMatch(/deleted|not_joined|unavailable/);
    }
  });
});
