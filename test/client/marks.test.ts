/** Names, labels, pins and what else people set beside the entries, as several clients see them. */
import type { Client, EntryId, PrincipalId, Session, View } from "@espalier/client";
import { createMemoryStore } from "@espalier/server";
import type { Epoch } from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
import { createFaultStore } from "../kit/fault-store.js";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

let world: World;
let ann: Client;
let a: Session;
let b: Session;
let ids: EntryId[];

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  a = (await open(world, ann)).session;
  b = (await open(world, world.client("bob"))).session;
  ids = (await say(world, a.view, "one", "two", "three")) as EntryId[];
});

const settle = () => world.settle();
const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const at = (index: number): EntryId => ids[index] as EntryId;
const requests = (type: string): number =>
  world.network.log.filter(({ to, text }) => to === "server" && text.includes(`"type":"${type}"`)).length;
const idOf = (view: View, text: string): EntryId => view.at(textsOf(view).indexOf(text))?.id as EntryId;

describe("[G1] a mark shows at once", () => {
  test("and to others when the log has it", async () => {
    const set = a.marks.pins.toggle(at(1));
    expect(a.marks.pins.has(at(1))).toBe(true);
    expect(b.marks.pins.has(at(1))).toBe(false);
    await settle();
    expect(await set).toBeNull();
    expect(b.marks.pins.list()).toEqual([at(1)]);
  });

  test("it is told once, and not again when it is confirmed", async () => {
    const heard: (string | null)[] = [];
    a.subscribe((change) => {
      if (change.type === "register") heard.push(a.marks.labels.get(at(0)));
    });
    void a.marks.labels.set(at(0), "begin");
    await settle();
    expect(heard).toEqual(["begin"]);
    expect(b.marks.labels.list()).toEqual([{ id: at(0), text: "begin" }]);
  });

  test("one that is refused goes back to what the log says", async () => {
    void a.marks.meta.set({ project: "garden" });
    await settle();
    const set = a.marks.meta.set({ project: "x".repeat(100_000) });
    expect(a.marks.meta.get()).toEqual({ project: "x".repeat(100_000) });
    await settle();
    expect(await set).toMatchObject({ code: "too_large" });
    expect(a.marks.meta.get()).toEqual({ project: "garden" });
  });

  test("while there is no connection, and what was set last is sent when there is one", async () => {
    world.network.isDown = true;
    drop("ann");
    const sets = [a, a, a].map((session) => session.marks.pins.toggle(at(2)));
    void a.marks.labels.set(at(2), "first");
    void a.marks.labels.set(at(2), "last");
    expect([a.marks.pins.has(at(2)), a.marks.labels.get(at(2))]).toEqual([true, "last"]);
    world.network.isDown = false;
    const before = requests("register");
    await world.advance(60_000);
    expect(await Promise.all(sets)).toEqual([null, null, null]);
    expect([b.marks.pins.has(at(2)), b.marks.labels.get(at(2))]).toEqual([true, "last"]);
    expect(requests("register") - before).toBeLessThanOrEqual(4);
  });

  test("a list is told in the log's order, also where another's came after one's own before the answer", async () => {
    const store = createFaultStore(createMemoryStore({ newEpoch: () => "epoch" as Epoch }));
    world = await createWorld({ store });
    a = (await open(world, world.client("ann"))).session;
    b = (await open(world, world.client("bob"))).session;
    await say(world, a.view, "one");
    store.isSyncHeld = true;
    void a.marks.pins.set(at(0), true);
    await settle();
    void b.marks.pins.set(at(1), true);
    await settle();
    let told = a.marks.pins.list();
    a.subscribe(() => {
      told = a.marks.pins.list();
    });
    store.isSyncHeld = false;
    store.sync();
    await settle();
    expect(a.marks.pins.list()).toEqual([at(0), at(1)]);
    expect(told).toBe(a.marks.pins.list());
    expect(b.marks.pins.list()).toEqual([at(0), at(1)]);
  });

  test("a name that is on its way to another place has no time yet", async () => {
    void a.marks.branches.set("here", at(0));
    await settle();
    const time = a.marks.branches.timeOf("here");
    expect(time).toEqual(expect.any(Number));
    await world.advance(1000);
    void a.marks.branches.set("here", at(1));
    expect(a.marks.branches.timeOf("here")).toBeNull();
    await settle();
    expect(a.marks.branches.timeOf("here")).toBeGreaterThan(time as number);
  });

  test("somebody else's that came later stands, though one's own shows until it is answered", async () => {
    void a.marks.labels.set(at(0), "ann's");
    void b.marks.labels.set(at(0), "bob's");
    expect([a.marks.labels.get(at(0)), b.marks.labels.get(at(0))]).toEqual(["ann's", "bob's"]);
    await settle();
    expect(a.marks.labels.get(at(0))).toBe(b.marks.labels.get(at(0)));
  });
});

describe("[G1] pins", () => {
  test("those of a path stand in its order, whatever was pinned first", async () => {
    for (const index of [2, 0]) void a.marks.pins.toggle(at(index));
    await settle();
    expect(b.marks.pins.list()).toEqual([at(2), at(0)]);
    expect(b.marks.pins.on(b.view.getMessages())).toEqual([at(0), at(2)]);
    b.view.branch(at(1));
    expect(b.marks.pins.on(b.view.getMessages())).toEqual([at(0)]);
  });

  test("pinning what does not exist is harmless, and a pin outlives the choice of another branch", async () => {
    const pinned = a.marks.pins.set("nowhere" as EntryId, true);
    void a.marks.pins.set(at(2), true);
    await settle();
    expect(await pinned).toBeNull();
    expect(b.marks.pins.on(b.view.getMessages())).toEqual([at(2)]);
    a.view.edit(at(1), "other");
    await settle();
    expect(a.marks.pins.on(a.view.getMessages())).toEqual([]);
    a.view.select(at(1));
    expect(a.marks.pins.on(a.view.getMessages())).toEqual([at(2)]);
  });

  test("a list is the same object until something of it changes", async () => {
    void a.marks.pins.toggle(at(0));
    await settle();
    const list = a.marks.pins.list();
    void a.marks.labels.set(at(0), "x");
    await say(world, a.view, "four");
    expect(a.marks.pins.list()).toBe(list);
    void a.marks.pins.toggle(at(1));
    expect(a.marks.pins.list()).not.toBe(list);
  });
});

describe("[G1] what one principal has collapsed", () => {
  test("quick toggles add up, and show on its other devices and to nobody else", async () => {
    const other = (await open(world, world.client("ann"))).session;
    for (const index of [0, 1, 2, 1]) void a.marks.collapsed.toggle(at(index), "thinking");
    const seen = (session: Session) => ids.map((id) => session.marks.collapsed.has(id, "thinking"));
    expect(seen(a)).toEqual([true, false, true]);
    await settle();
    expect(seen(a)).toEqual([true, false, true]);
    expect(seen(other)).toEqual([true, false, true]);
    expect(seen(b)).toEqual([false, false, false]);
  });

  test("all of a kind is set in one step, for what comes later too", async () => {
    void a.marks.collapsed.toggle(at(0), "thinking");
    await settle();
    const before = requests("register");
    void a.marks.collapsed.setAll("thinking", true);
    await settle();
    expect(requests("register") - before).toBe(1);
    expect(a.marks.collapsed.has("later" as EntryId, "thinking")).toBe(true);
    expect(a.marks.collapsed.has(at(0))).toBe(false);
    void a.marks.collapsed.toggle(at(0), "thinking");
    await settle();
    expect(ids.map((id) => a.marks.collapsed.has(id, "thinking"))).toEqual([false, true, true]);
  });

  test("before the server has said who this is, nothing is set", async () => {
    const early = world.client("early").session("s");
    expect(await early.marks.collapsed.toggle(at(0))).toMatchObject({ code: "offline" });
    expect(early.marks.collapsed.has(at(0))).toBe(false);
  });
});

describe("[G1] read markers", () => {
  test("each principal has one, which does not go back", async () => {
    void a.marks.reads.mark(at(1));
    void b.marks.reads.mark(at(2));
    await settle();
    void b.marks.reads.mark(at(0));
    await settle();
    expect(a.marks.reads.get()).toMatchObject({ leafId: at(1) });
    expect(a.marks.reads.get("bob" as PrincipalId)).toMatchObject({ leafId: at(2) });
    expect(a.marks.reads.list().map(({ principal, leafId }) => [principal, leafId])).toEqual([
      ["ann", at(1)],
      ["bob", at(2)],
    ]);
    void b.marks.reads.clear();
    await settle();
    expect(a.marks.reads.list()).toHaveLength(1);
  });

  test("what is not loaded cannot be marked", async () => {
    expect(await a.marks.reads.mark("nowhere" as EntryId)).toMatchObject({ code: "not_found" });
  });
});

describe("[G1] [V7] a saved view", () => {
  test("shows the same line on another device of its principal", async () => {
    a.view.edit(at(1), "other");
    await say(world, a.view, "below other");
    a.view.branch(idOf(a.view, "other"));
    void a.marks.savedView.save(a.view);
    await say(world, b.view, "somewhere else");
    const other = (await open(world, world.client("ann"))).session;
    const state = other.marks.savedView.get();
    const view = other.createView(state === null ? {} : { state });
    await settle();
    expect(textsOf(view)).toEqual(["one", "other"]);
    expect(view.snapshot.isHeld).toBe(true);
    expect(b.marks.savedView.get()).toBeNull();
  });

  test("what is no state is none", async () => {
    void a.setRegister("saved-view:ann", { leafId: 7 });
    expect(a.marks.savedView.get()).toBeNull();
  });
});

describe("[G1] named branches", () => {
  test("a name stands on a leaf; one switches there as with `branch`", async () => {
    const { view } = a;
    const saved = view.saveBranch("first try");
    await settle();
    expect(await saved).toBeNull();
    view.branch(at(0));
    await say(world, view, "another");
    expect(textsOf(view)).toEqual(["one", "another"]);
    expect(b.view.switchTo("first try")).toBeNull();
    expect(view.switchTo("first try")).toBeNull();
    expect(textsOf(view)).toEqual(["one", "two", "three"]);
    expect(view.snapshot.isHeld).toBe(false);
    await say(world, view, "four");
    expect(a.marks.branches.list()).toEqual([{ name: "first try", leafId: at(2) }]);
    view.switchTo("first try");
    expect(textsOf(view)).toEqual(["one", "two", "three"]);
    // Its line has grown on meanwhile: what is sent from here is an alternative.
    expect(view.snapshot.isHeld).toBe(true);
  });

  test("a leaf that is pending is named when it is confirmed", async () => {
    world.network.isDown = true;
    drop("ann");
    const { id } = a.view.send("offline");
    const saved = a.view.saveBranch("later");
    await settle();
    expect(a.marks.branches.get("later")).toBeNull();
    world.network.isDown = false;
    await world.advance(60_000);
    expect(await saved).toBeNull();
    expect(b.marks.branches.get("later")).toBe(id);
  });

  test("one that is refused is not named, nor is the place before the first entry", async () => {
    const bad = a.view.send({ type: "branch-summary", fromId: "nowhere" as EntryId, summary: "lost" });
    const saved = a.view.saveBranch("bad");
    await settle();
    expect(await bad.settled).toMatchObject({ ok: false });
    expect(await saved).toMatchObject({ code: expect.any(String) });
    a.view.discard(bad.id);
    a.view.branch(null);
    expect(await a.view.saveBranch("nothing")).toMatchObject({ code: "invalid" });
    expect(a.marks.branches.list()).toEqual([]);
  });

  test("there is no switching to what is not there, and a bad name costs no connection", async () => {
    expect(a.view.switchTo("nowhere")).toMatchObject({ code: "not_found" });
    const set = a.marks.branches.set("line\nbreak", at(0));
    await settle();
    expect(await set).toMatchObject({ code: "invalid" });
    expect(a.marks.branches.list()).toEqual([]);
    expect(ann.snapshot.status).toBe("connected");
    void a.marks.branches.set("good", at(0));
    await settle();
    void b.marks.branches.remove("good");
    await settle();
    expect(a.marks.branches.get("good")).toBeNull();
  });
});

test("[G1] [F7] metadata is replaced as a whole, by set and by merge", async () => {
  void a.marks.meta.set({ project: "garden", draft: 1 });
  void a.marks.meta.merge({ draft: null, stage: 2 });
  expect(a.marks.meta.get()).toEqual({ project: "garden", stage: 2 });
  await settle();
  expect(b.marks.meta.get()).toEqual({ project: "garden", stage: 2 });
  void b.marks.meta.set({});
  await settle();
  expect(a.register("meta")).toBeNull();
  expect(a.marks.meta.get()).toEqual({});
});

test("[G1] a register that was cleared while one was away is told of, also by a fresh window", async () => {
  const told: string[] = [];
  void a.marks.pins.toggle(at(0));
  await settle();
  b.subscribe((change) => {
    if (change.type === "register") told.push(change.key);
  });
  world.network.isDown = true;
  drop("bob");
  await settle();
  void a.marks.pins.toggle(at(0));
  for (let index = 0; index < 300; index += 1) a.view.send(`${index} ${"x".repeat(20_000)}`);
  await settle();
  world.network.isDown = false;
  await world.advance(60_000);
  expect(b.marks.pins.list()).toEqual([]);
  expect(told).toContain(`pin:${at(0)}`);
}, 60_000);
