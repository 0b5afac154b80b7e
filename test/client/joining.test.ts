/** Joining, paging and coming back, as a client sees it. */
import type { Client, Entry, EntryId, PrincipalId, SessionId, View, ViewState } from "@espalier/client";
import { createMemoryStore } from "@espalier/server";
import { type Epoch, refusal, type Seq } from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
import { createFaultStore } from "../kit/fault-store.js";
import { createStorage } from "../kit/storage.js";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

let world: World;
let ann: Client;
let a: View;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  a = (await open(world, ann)).view;
});

const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const fill = async (view: View, count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) view.send(`m${index}`);
  await world.settle();
};
const messageEntry = (index: number): Entry => ({
  kind: "entry",
  id: `e${index}` as EntryId,
  parentId: index === 0 ? null : (`e${index - 1}` as EntryId),
  seq: (index + 1) as Seq,
  rev: (index + 1) as Seq,
  time: 1_700_000_000_000 + index,
  author: "ann" as PrincipalId,
  status: "complete",
  size: 0,
  type: "message",
  role: "user",
  parts: [{ type: "text", text: `message ${index}` }],
});
const requests = (type: string): number =>
  world.network.log.filter(({ to, text }) => to === "server" && text.includes(`"type":"${type}"`)).length;

describe("windows", () => {
  test("[V8] a join shows the newest entries, and says that there are older ones", async () => {
    await fill(a, 120);
    const { view } = await open(world, world.client("bob"));
    expect(view.snapshot).toMatchObject({ length: 50, hasOlder: true, isLoading: false });
    expect(textsOf(view)[0]).toBe("m70");
    const loaded = view.loadOlder(30);
    await world.settle();
    expect(await loaded).toBe(30);
    expect(textsOf(view)[0]).toBe("m40");
    const rest = view.loadOlder(1000);
    await world.settle();
    expect(await rest).toBe(40);
    expect(view.snapshot).toMatchObject({ length: 120, hasOlder: false });
    expect(textsOf(view)).toEqual(textsOf(a));
  });

  test("[V8] [J1] joining 100,000 entries sends less than 1 % of what the log weighs", async () => {
    const records = Array.from({ length: 100_000 }, (_, index) => messageEntry(index));
    await world.store.append("long" as SessionId, 0, records);
    const logBytes = records.reduce((bytes, record) => bytes + JSON.stringify(record).length + 1, 0);
    const before = world.network.log.length;
    const { view } = await open(world, world.client("bob"), "long");
    const sentBytes = world.network.log
      .slice(before)
      .reduce((bytes, { to, text }) => bytes + (to === "client" ? text.length : 0), 0);
    expect(textsOf(view).at(-1)).toBe("message 99999");
    expect(sentBytes).toBeLessThan(logBytes / 100);
  });

  test("[V8] case-J1: two who ask for older entries at once share one request", async () => {
    await fill(a, 120);
    const session = world.client("bob").session("s");
    const { view } = session;
    const second = session.createView();
    await world.settle();
    const before = requests("page");
    void view.loadOlder();
    void view.loadOlder();
    void second.loadOlder();
    await world.settle();
    expect(requests("page") - before).toBe(1);
    expect(view.snapshot.length).toBe(100);
    expect(new Set(view.snapshot.ids).size).toBe(100);
    expect(textsOf(second)).toEqual(textsOf(view));
  });

  test("[V8] loadUntil goes on until an entry is found, or there is no more", async () => {
    await fill(a, 500);
    const { view } = await open(world, world.client("bob"));
    const wanted = a.at(3)?.id as EntryId;
    const found = view.loadUntil(({ id }) => id === wanted);
    await world.settle();
    expect((await found)?.id).toBe(wanted);
    const none = view.loadUntil(() => false);
    await world.settle();
    expect(await none).toBeUndefined();
    expect(view.snapshot.hasOlder).toBe(false);
  });

  test("[V9] of 100 alternatives a window brings the ids around the shown one; `step` loads further ones", async () => {
    await fill(a, 1);
    for (let index = 1; index < 100; index += 1) a.edit(a.at(0)?.id as EntryId, `edit ${index}`);
    await world.settle();
    const { view } = await open(world, world.client("bob"));
    const seen: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      view.step(view.at(0)?.id as EntryId, -1);
      await world.settle();
      const info = view.branchInfo(view.at(0)?.id as EntryId);
      seen.push(`${textsOf(view)[0]} ${info.index + 1}/${info.total}`);
    }
    expect(seen.at(0)).toBe("edit 98 99/100");
    expect(seen.at(-1)).toBe("edit 39 40/100");
    expect(new Set(seen).size).toBe(60);
  });

  test("[T4] an edit at the window's first entry, whose parent is not loaded, goes to the right place", async () => {
    await fill(a, 60);
    const { view } = await open(world, world.client("bob"));
    const top = view.at(0);
    view.edit(top?.id as EntryId, "edited");
    expect(textsOf(view)).toEqual(["edited (pending)"]);
    expect(view.snapshot.hasOlder).toBe(true);
    await world.settle();
    expect(view.at(0)?.entry.parentId).toBe(top?.entry.parentId);
    const older = view.loadOlder(100);
    await world.settle();
    expect(await older).toBe(10);
    expect(textsOf(view).slice(-2)).toEqual(["m9", "edited"]);
    expect(view.branchInfo(view.at(10)?.id as EntryId)).toMatchObject({ index: 1, total: 2 });
  });

  test.each([0, -1, 1.5, 5000, Number.NaN, Number.POSITIVE_INFINITY])(
    "[V8] a view that begins with %d entries joins, loads and selects",
    async (limit) => {
      await fill(a, 3);
      a.edit(a.at(2)?.id as EntryId, "other");
      await world.settle();
      const session = world.client("bob").session("s", { view: { limit } });
      const { view } = session;
      await world.settle();
      expect(session.snapshot).toMatchObject({ status: "live", error: null });
      expect(textsOf(view)).toEqual(limit < 2 ? ["other"] : ["m0", "m1", "other"]);
      view.step(view.snapshot.leafId as EntryId, -1);
      await world.settle();
      expect(textsOf(view).at(-1)).toBe("m2");
      expect(view.snapshot.error).toBeNull();
    },
  );

  test("[V8] `loadOlder` takes any number: past a thousand it asks again, and part of one is none", async () => {
    await world.store.append(
      "long" as SessionId,
      0,
      Array.from({ length: 3000 }, (_, index) => messageEntry(index)),
    );
    const loaded = async (count: number): Promise<[number, number]> => {
      const { view } = await open(world, world.client("bob"), "long");
      const more = view.loadOlder(count);
      await world.settle();
      expect(view.snapshot.error).toBeNull();
      return [await more, view.snapshot.length];
    };
    expect(await loaded(1.5)).toEqual([1, 51]);
    expect(await loaded(2100)).toEqual([2100, 2150]);
    expect(await loaded(5000)).toEqual([2950, 3000]);
    expect(await loaded(Number.POSITIVE_INFINITY)).toEqual([2950, 3000]);
    expect(await loaded(Number.NaN)).toEqual([50, 100]);
    for (const none of [0, 0.5, -5]) expect(await loaded(none)).toEqual([0, 50]);
  });

  test("[V7] a state that is not whole is taken for none", async () => {
    await fill(a, 3);
    const leafId = a.at(0)?.id;
    const whole = { leafId, isHeld: true, selections: [] };
    const broken: unknown[] = [
      null,
      "state",
      {},
      { ...whole, leafId: "no id!" },
      { ...whole, isHeld: "yes" },
      { ...whole, selections: {} },
      { ...whole, selections: [[leafId, "no id!"]] },
      { ...whole, selections: [[undefined, leafId]] },
      { ...whole, selections: [leafId] },
    ];
    for (const state of broken) {
      const session = world.client("bob").session("s", { view: { state: state as ViewState } });
      const { view } = session;
      await world.settle();
      expect(session.snapshot.status).toBe("live");
      expect(textsOf(view)).toEqual(["m0", "m1", "m2"]);
    }
    const { view } = world.client("bob").session("s", { view: { state: whole as unknown as ViewState } });
    await world.settle();
    expect(textsOf(view)).toEqual(["m0"]);
  });

  test("[L8] a leaf that is no id is refused where it is named, and the session lives on", async () => {
    await fill(a, 1);
    const session = ann.session("s");
    for (const leafId of ["", "no id!", "x".repeat(65), 5])
      expect(() => session.createView({ leafId: leafId as EntryId })).toThrow(
        expect.objectContaining({ code: "invalid_id" }),
      );
    drop("ann");
    await world.advance(31_000);
    expect(session.snapshot).toMatchObject({ status: "live", error: null });
  });

  test("[V3] a later act of the view cancels a selection that is still loading", async () => {
    await fill(a, 3);
    a.edit(a.at(0)?.id as EntryId, "other");
    await world.settle();
    const { view } = await open(world, world.client("bob"));
    view.step(view.at(0)?.id as EntryId, -1);
    expect(view.snapshot.isLoading).toBe(true);
    view.branch(null);
    await world.settle();
    expect(textsOf(view)).toEqual([]);
    expect(view.snapshot).toMatchObject({ isLoading: false, isHeld: true });
  });

  test("[V5] branching to an entry that does not exist is told, and moves nothing", async () => {
    await fill(a, 3);
    a.branch("nowhere" as EntryId);
    await world.settle();
    expect(textsOf(a)).toEqual(["m0", "m1", "m2"]);
    expect(a.snapshot.error).toMatchObject({ code: "not_found" });
  });
});

describe("coming and going", () => {
  test("[J4] case-J4: a session whose first join fails recovers when the server is there", async () => {
    world = await createWorld();
    world.stopServer();
    const client = world.client("ann");
    const session = client.session("s", { create: true });
    const { view } = session;
    view.send("early");
    await world.advance(5_000);
    expect(textsOf(view)).toEqual(["early (pending)"]);
    await world.startServer();
    await world.advance(31_000);
    expect(textsOf(view)).toEqual(["early"]);
    expect(session.snapshot.status).toBe("live");
  });

  test("[J4] a join that is refused for a passing reason is tried again by itself", async () => {
    const store = createFaultStore(createMemoryStore({ newEpoch: () => "epoch" as Epoch }));
    world = await createWorld({ store });
    store.loadError = refusal("unavailable", "unable to read; the disk is busy");
    const session = world.client("ann").session("s", { create: true });
    session.view.send("early");
    await world.advance(60_000);
    expect(session.snapshot).toMatchObject({ status: "joining", error: { code: "unavailable" } });
    expect(requests("join")).toBeGreaterThan(2);
    store.loadError = null;
    await world.advance(31_000);
    expect(session.snapshot).toMatchObject({ status: "live", error: null });
    expect(textsOf(session.view)).toEqual(["early"]);
  });

  /** Away for so long that a fresh window is given. */
  const beAwayLong = async (owner: string): Promise<void> => {
    const head = (await world.records("s")).length;
    world.network.isDown = true;
    drop(owner);
    const longAgo = a.at(0)?.id as EntryId;
    const records = Array.from({ length: 11_000 }, (_, index) => ({
      ...messageEntry(head + index),
      parentId: longAgo,
    }));
    world.stopServer();
    await world.store.append("s" as SessionId, head, records);
    await world.startServer();
    world.network.isDown = false;
    await world.advance(31_000);
    const modes = world.network.log.filter(
      ({ to, text }) => to === "client" && text.includes('"mode":"reset"'),
    );
    expect(modes.map((message) => message.owner)).toContain(owner);
  };

  test("[V3] [J2] a fresh window shows a reader who scrolled up as much as before", async () => {
    await fill(a, 300);
    const { view } = world.client("bob").session("s");
    await world.settle();
    void view.loadOlder(150);
    await world.settle();
    const { ids } = view.snapshot;
    expect(ids).toHaveLength(200);
    await beAwayLong("bob");
    expect(view.snapshot.ids).toEqual(ids);
  });

  test("[J2] [V8] more views than a join may ask for come back, each where it was", async () => {
    await fill(a, 120);
    const session = world.client("bob").session("s");
    const views = Array.from({ length: 100 }, (_, index) => {
      const at = a.at(index)?.id as EntryId;
      return session.createView(index % 2 === 0 ? { leafId: at, limit: 3 } : { limit: 1 + index });
    });
    await world.settle();
    const idsOf = () => views.map(({ snapshot }) => [snapshot.ids, snapshot.isHeld, snapshot.isLoading]);
    const before = idsOf();
    expect(views[98]?.snapshot).toMatchObject({ length: 3, leafId: a.at(98)?.id });
    expect(views[99]?.snapshot).toMatchObject({ length: 100, leafId: a.at(119)?.id });
    drop("bob");
    await world.advance(31_000);
    expect(session.snapshot).toMatchObject({ status: "live", error: null });
    expect(idsOf()).toEqual(before);
    await beAwayLong("bob");
    expect(session.snapshot).toMatchObject({ status: "live", error: null });
    expect(idsOf()).toEqual(before);
    await say(world, a, "grown");
    expect(views.map((view) => textsOf(view).at(-1) === "grown")).toEqual(
      views.map((_, index) => index % 2 === 1),
    );
  });

  test("[F7] an unknown session is not found unless it is to be created, and `retry` asks again", async () => {
    const session = world.client("bob").session("other");
    await world.settle();
    expect(session.snapshot).toMatchObject({ status: "failed", error: { code: "not_found" } });
    await say(world, (await open(world, ann, "other")).view, "now it is there");
    const { view } = session;
    session.retry();
    await world.settle();
    expect(session.snapshot.status).toBe("live");
    expect(textsOf(view)).toEqual(["now it is there"]);
  });

  test("case-J6: subscribing and unsubscribing fast, then sending", async () => {
    const session = world.client("bob").session("s", { create: true });
    for (let index = 0; index < 20; index += 1) session.view.subscribe(() => {})();
    session.createView().close();
    session.view.send("hello");
    await world.settle();
    expect(textsOf(session.view)).toEqual(["hello"]);
    expect(textsOf(a)).toEqual(["hello"]);
  });

  test("case-J7: a listener that joins another session and sends from inside its own call", async () => {
    const bob = world.client("bob");
    const other = await open(world, bob, "other");
    const heard: string[] = [];
    let isDone = false;
    a.subscribe((change) => {
      heard.push(change.type);
      if (isDone) return;
      isDone = true;
      const nested = ann.session("other", { create: true });
      nested.view.send("from inside");
      a.send("again from inside");
    });
    await say(world, (await open(world, bob)).view, "first");
    expect(textsOf(other.view)).toEqual(["from inside"]);
    expect(textsOf(a)).toEqual(["first", "again from inside"]);
    expect((await world.records("s")).filter(({ kind }) => kind === "entry")).toHaveLength(2);
  });

  test("closing a session and opening it again at once", async () => {
    await say(world, a, "kept");
    for (let index = 0; index < 5; index += 1) {
      ann.session("s").close();
      const { view } = ann.session("s");
      if (index % 2 === 0) await world.settle();
      if (index === 4) {
        await world.settle();
        expect(textsOf(view)).toEqual(["kept"]);
      }
    }
  });

  test("case-J6: closed before its join is answered, and opened again at once, it still sends", async () => {
    await say(world, a, "kept");
    const bob = world.client("bob");
    await world.settle();
    bob.session("s").view.subscribe(() => {});
    world.clock.runDeferred();
    bob.session("s").close();
    const again = bob.session("s");
    again.view.send("sent");
    await world.settle();
    expect(textsOf(again.view)).toEqual(["kept", "sent"]);
    await say(world, a, "live");
    expect(textsOf(again.view)).toEqual(["kept", "sent", "live"]);
  });

  test("[J4] case-J8: a refused token is reported as such and not retried; a new one is asked for at each connect", async () => {
    let token = "good";
    let asked = 0;
    world = await createWorld({
      authenticate: ({ token: given }) =>
        given === "good"
          ? { id: "ann" as never }
          : refusal("unauthorized", "unable to sign in; the token has expired"),
    });
    const client = world.client("ann", {
      token: () => {
        asked += 1;
        return token;
      },
    });
    const { view } = await open(world, client);
    expect(asked).toBe(1);
    token = "expired";
    drop("ann");
    await world.advance(60_000);
    expect(client.snapshot).toMatchObject({ status: "refused", error: { code: "unauthorized" } });
    const askedByThen = asked;
    await world.advance(600_000);
    expect(asked).toBe(askedByThen);
    view.send("kept");
    token = "good";
    client.retry();
    await world.settle();
    expect(client.snapshot.status).toBe("connected");
    expect(textsOf(view)).toEqual(["kept"]);
  });

  test("[J5] a peer that went silent is found within 35 s at both ends", async () => {
    await say(world, a, "one");
    world.network.pairs.find(({ owner }) => owner === "ann")?.silence();
    a.send("two");
    await world.advance(36_000);
    expect(ann.snapshot.status).not.toBe("closed");
    await world.advance(5_000);
    expect(textsOf(a)).toEqual(["one", "two"]);
  });
});

describe("offline writes", () => {
  test("[O3] what is written offline is kept in order, shown as pending, and sent when the link is back", async () => {
    await say(world, a, "before");
    world.network.isDown = true;
    drop("ann");
    a.send("first");
    a.send("second");
    a.edit(a.at(0)?.id as EntryId, "edited");
    expect(textsOf(a)).toEqual(["edited (pending)"]);
    await world.advance(10_000);
    world.network.isDown = false;
    await world.advance(31_000);
    expect(textsOf(a)).toEqual(["edited"]);
    a.step(a.at(0)?.id as EntryId, -1);
    await world.settle();
    expect(textsOf(a)).toEqual(["before", "first", "second"]);
  });

  test("[O3] the queue outlives a reload where a storage is given", async () => {
    const storage = createStorage();
    const page = world.client("ann", { storage });
    const { view } = await open(world, page);
    await say(world, view, "before");
    world.network.isDown = true;
    drop("ann");
    view.send("unsent one");
    view.send("unsent two");
    // The page is gone without a word; nothing of it runs on.
    const again = world.client("ann", { storage });
    const reloaded = again.session("s").view;
    expect(textsOf(reloaded)).toEqual(["unsent one (pending)", "unsent two (pending)"]);
    page.close();
    world.network.isDown = false;
    await world.advance(31_000);
    expect(textsOf(reloaded)).toEqual(["before", "unsent one", "unsent two"]);
    expect(storage.keys).toEqual([]);
  });

  test("[L4] [O1] an acknowledgement that was lost does not double the write", async () => {
    await say(world, a, "one");
    a.send("two");
    for (const pair of world.network.pairs) while (pair.toServer > 0) pair.deliverToServer();
    // The server has it and has answered; the answer is lost on the way.
    for (let turns = 0; turns < 5; turns += 1) {
      world.clock.runDeferred();
      await new Promise((resolve) => setImmediate(resolve));
    }
    drop("ann");
    await world.advance(31_000);
    expect(textsOf(a)).toEqual(["one", "two"]);
    expect((await world.fold("s")).size).toBe(2);
  });

  test("[G1] a title that is set offline arrives, and is seen by others", async () => {
    const bob = await open(world, world.client("bob"));
    world.network.isDown = true;
    drop("ann");
    const set = ann.session("s").setRegister("title", "Plans");
    await world.advance(2_000);
    world.network.isDown = false;
    await world.advance(31_000);
    expect(await set).toBeNull();
    expect(bob.session.snapshot.title).toBe("Plans");
  });
});
