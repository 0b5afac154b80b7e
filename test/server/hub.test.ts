/** The sessions of one process: opened once, shared, closed at rest; and the list of them. */
import { createMemoryStore } from "@espalier/server";
import { type Epoch, type PrincipalId, refusal, type SessionId } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { createFaultStore, type FaultStore } from "../kit/fault-store.js";
import {
  append,
  expectType,
  follow,
  hello,
  join,
  joinedAs,
  joinMessage,
  publish,
  register,
  say,
  streaming,
} from "../kit/raw.js";
import { createWorld } from "../kit/world.js";
import { message } from "./store/records.js";

const GRACE_MS = 30_000;

const begin = async (options: Parameters<typeof createWorld>[0] = {}) => {
  const store: FaultStore = createFaultStore(createMemoryStore({ newEpoch: () => "epoch1" as Epoch }));
  const world = await createWorld({ graceMs: GRACE_MS, ...options, store });
  return { world, store };
};

const seed = (store: FaultStore, id = "s") => store.append(id as SessionId, 0, [message(1)]);

describe("opening", () => {
  test("[N1] two who join at once share one load and one session", async () => {
    const { world, store } = await begin();
    await seed(store);
    const clients = await Promise.all(["ann", "bob", "cid"].map((name) => hello(world, name)));
    store.isLoadHeld = true;
    const numbers = clients.map((client) => client.post(joinMessage()));
    await world.settle();
    expect(store.loads).toBe(1);
    store.isLoadHeld = false;
    store.goOn();
    await world.settle();
    const chs = clients.map(
      (client, index) => expectType(client.answer(numbers[index] as number) as never, "joined").ch,
    );
    expect(new Set(chs).size).toBe(1);
    const [ann, bob] = clients;
    await ann?.ask(publish(chs[0] as number, follow(null, say("a"))));
    expect(bob?.frames()).toHaveLength(1);
  });

  test("[F7] one asks for what is not there while another creates it", async () => {
    for (const order of [
      [false, true],
      [true, false],
      [false, true, false],
    ]) {
      const { world, store } = await begin();
      const clients = await Promise.all(order.map((_create, index) => hello(world, `c${index}`)));
      store.isLoadHeld = true;
      const numbers = clients.map((client, index) =>
        client.post(joinMessage({ create: order[index] as boolean })),
      );
      await world.settle();
      store.isLoadHeld = false;
      store.goOn();
      await world.settle();
      for (const [index, client] of clients.entries()) {
        const answer = client.answer(numbers[index] as number);
        expect(answer?.type).toBe(order[index] === true ? "joined" : "refused");
        if (answer?.type === "joined")
          expectType(await client.ask(publish(answer.ch, follow(null, say("a")))), "ack");
      }
    }
  });

  test("who is gone before the load is done leaves nothing open", async () => {
    const { world, store } = await begin();
    await seed(store);
    const client = await hello(world, "ann");
    store.isLoadHeld = true;
    client.post(joinMessage());
    await world.settle();
    client.close();
    store.isLoadHeld = false;
    store.goOn();
    await world.settle();
    await joinedAs(world, "bob");
    expect(store.loads).toBe(2);
  });

  test("a load that is refused, or that throws, is told, and tried again when asked again", async () => {
    const { world, store } = await begin();
    await seed(store);
    const client = await hello(world, "ann");
    store.loadError = refusal("damaged", "line 7 is bad");
    expect(await client.ask(joinMessage())).toMatchObject({
      error: { code: "damaged", message: "line 7 is bad" },
    });
    store.loadError = null;
    await join(client);
  });

  test("a session that is slow to load holds up no other", async () => {
    const { world, store } = await begin();
    await seed(store, "slow");
    const { client, ch } = await joinedAs(world, "ann", { session: "quick" });
    store.isLoadHeld = true;
    const slow = client.post(joinMessage({ session: "slow" }));
    await world.settle();
    expectType(await client.ask(publish(ch, follow(null, say("a")))), "ack");
    expectType(await client.ask({ type: "line", ch, candidates: [], walk: "stay", limit: 1 }), "window");
    expect(client.answer(slow)).toBeUndefined();
    store.isLoadHeld = false;
    store.goOn();
    await world.settle();
    expect(client.answer(slow)?.type).toBe("joined");
  });
});

describe("closing at rest", () => {
  test("some time after the last reader left, and loaded again for the next", async () => {
    const { world, store } = await begin();
    await seed(store);
    const { client } = await joinedAs(world, "ann");
    client.close();
    await world.advance(GRACE_MS - 1);
    (await joinedAs(world, "bob")).client.close();
    expect(store.loads).toBe(1);
    await world.advance(GRACE_MS);
    const { joined, ch } = await joinedAs(world, "cid");
    expect(store.loads).toBe(2);
    expect(joined).toMatchObject({ head: 1, entries: [{ id: "e1" }] });
    expect(ch).toBeGreaterThan(0);
  });

  test("a session at rest keeps no timer", async () => {
    const { world, store } = await begin();
    await seed(store);
    for (const name of ["ann", "bob"]) (await joinedAs(world, name)).client.close();
    await world.advance(GRACE_MS);
    expect(world.clock.timers).toBe(0);
  });

  test("not while something is open in it", async () => {
    const { world, store } = await begin();
    const { client, ch } = await joinedAs(world, "ann");
    const reader = await joinedAs(world, "bob");
    await client.ask(publish(ch, follow(null, streaming("a"))));
    reader.client.close();
    await world.advance(10 * GRACE_MS);
    client.send(append(ch, "a", 0, "x", { status: "complete" }));
    await world.settle();
    expect(client.all("appended")).toMatchObject([{ size: 1, status: "complete" }]);
    expect(store.loads).toBe(1);
  });

  test("joining in the very turn in which it would close", async () => {
    const { world, store } = await begin();
    await seed(store);
    const { client } = await joinedAs(world, "ann");
    const late = await hello(world, "bob");
    client.close();
    const until = world.clock.now + GRACE_MS;
    while (world.clock.runTimer(until)) {
      late.post(joinMessage());
      late.pair?.deliverToServer();
    }
    world.clock.moveTo(until);
    await world.settle();
    const joins = late.all("joined");
    expect(joins.length).toBeGreaterThan(0);
    expect(late.all("refused")).toEqual([]);
    expectType(await late.ask(publish(joins.at(-1)?.ch as number, follow(null, say("a")))), "ack");
  });
});

describe("[F4] the list", () => {
  test("newest change first, in pages", async () => {
    const { world } = await begin();
    const client = await hello(world, "ann");
    for (const session of ["a", "b", "c"]) {
      const { ch } = await join(client, { session });
      await client.ask(register(ch, "title", `title of ${session}`));
      await world.advance(1);
    }
    const list = async (more: object) =>
      expectType(await client.ask({ type: "list", limit: 2, ...more }), "listed");
    const first = await list({});
    expect(first).toMatchObject({ sessions: [{ id: "c", title: "title of c" }, { id: "b" }], more: true });
    expect(await list({ after: "b" })).toMatchObject({ sessions: [{ id: "a" }], more: false });
  });

  test("only of what one may read, with full pages and the truth about more", async () => {
    const { world, store } = await begin({
      authenticate: ({ token }) => ({
        id: token as PrincipalId,
        may: (_right, session) => token === "root" || Number(session.slice(1)) % 3 === 0,
      }),
    });
    for (let index = 0; index < 30; index += 1)
      await store.append(`s${index}` as SessionId, 0, [{ ...message(1), time: 1000 - index }]);
    const client = await hello(world, "ann");
    const seen: string[] = [];
    let lists = 0;
    for (let after: string | undefined, more = true; more; lists += 1) {
      const page = { type: "list", limit: 4, ...(after === undefined ? {} : { after }) };
      const listed = expectType(await client.ask(page), "listed");
      seen.push(...listed.sessions.map(({ id }) => id));
      after = seen.at(-1);
      ({ more } = listed);
    }
    expect(seen).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27].map((index) => `s${index}`));
    expect(lists).toBe(3);
  });

  test("a list of few among many asks the store seldom", async () => {
    const { world, store } = await begin({
      authenticate: ({ token }) => ({
        id: token as PrincipalId,
        may: (_right, session) => session === "s1999",
      }),
    });
    for (let index = 0; index < 2000; index += 1)
      await store.append(`s${index}` as SessionId, 0, [{ ...message(1), time: 10_000 - index }]);
    let asked = 0;
    const { list } = store;
    store.list = (page) => {
      asked += 1;
      return list(page);
    };
    const client = await hello(world, "ann");
    const listed = expectType(await client.ask({ type: "list", limit: 1 }), "listed");
    expect(listed.sessions.map(({ id }) => id)).toEqual(["s1999"]);
    expect(asked).toBeLessThan(5);
  });

  test("with `watch`, sessions that are new or changed are told to those who may read them", async () => {
    const { world } = await begin({
      authenticate: ({ token }) => ({
        id: token as PrincipalId,
        may: (_right, session) => token === "ann" || session !== "secret",
      }),
    });
    const watcher = await hello(world, "bob");
    const idle = await hello(world, "cid");
    await watcher.ask({ type: "list", limit: 10, watch: true });
    await watcher.ask({ type: "list", limit: 10, watch: true });
    await idle.ask({ type: "list", limit: 10 });
    const ann = await hello(world, "ann");
    for (const session of ["s", "secret"]) {
      const { ch } = await join(ann, { session });
      await ann.ask(publish(ch, follow(null, streaming("a"))));
      ann.send(append(ch, "a", 0, "token"));
      await world.settle();
    }
    expect(watcher.all("sessions")).toMatchObject([{ sessions: [{ id: "s", entries: 1 }] }]);
    expect(idle.all("sessions")).toEqual([]);
    watcher.close();
    await world.settle();
    const { ch } = await join(ann, { session: "s" });
    expectType(await ann.ask(register(ch, "title", "T")), "ack");
  });
});
