/** What comes in an unusual order: several messages in one go, answers after a fresh window, acts in between. */
import type { Client, EntryId, View } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";
import { createEpochStore, type EpochStore } from "./epoch-store.js";

let store: EpochStore;
let world: World;
let ann: Client;
let bob: Client;
let a: View;
let b: View;

beforeEach(async () => {
  store = createEpochStore();
  world = await createWorld({ store });
  ann = world.client("ann");
  bob = world.client("bob");
  a = (await open(world, ann)).view;
  b = (await open(world, bob)).view;
});

const pairOf = (owner: string) => world.network.pairs.find((pair) => pair.owner === owner);
/** The server stops, and comes back with a new epoch. */
const stop = (): void => {
  world.stopServer();
  store.begin();
};
const comeBack = async (): Promise<void> => {
  await world.startServer();
  await world.advance(31_000);
};

describe("several messages in one go", () => {
  test("[J1] [J3] a record that comes in one go with the answer to the join is not lost", async () => {
    await say(world, a, "one");
    const late = world.client("late");
    await world.settle();
    const { view } = late.session("s");
    const pair = pairOf("late");
    if (pair === undefined) throw new Error("not connected");
    pair.isHeld = true;
    await world.settle();
    a.send("two");
    await world.settle();
    pair.isHeld = false;
    await world.settle();
    expect(textsOf(view)).toEqual(["one", "two"]);
  });

  test("[V9] an alternative that comes in one go with the page before it is counted", async () => {
    const [one] = await say(world, a, "one", "two", "three");
    const { view } = world.client("late").session("s", { view: { limit: 1 } });
    await world.settle();
    const pair = pairOf("late");
    if (pair === undefined) throw new Error("not connected");
    const loaded = view.loadOlder(10);
    pair.isHeld = true;
    await world.settle();
    b.edit(one as EntryId, "one again");
    await world.settle();
    pair.isHeld = false;
    await world.settle();
    expect(await loaded).toBe(2);
    expect(view.branchInfo(one as EntryId)).toMatchObject({ index: 0, total: 2 });
  });

  test.each(["branch", "select", "newest"] as const)(
    "[V9] an alternative that came while its parent was not loaded is counted, by %s",
    async (how) => {
      const ids = await say(world, a, ...Array.from({ length: 20 }, (_, index) => `m${index}`));
      const follow = how === "newest" ? { follow: "newest" as const } : {};
      const { view } = world.client("late").session("s", { view: { limit: 5, ...follow } });
      await world.settle();
      b.edit(ids[3] as EntryId, "m3 again");
      b.send("below it");
      await world.settle();
      const fork = b.at(3)?.id as EntryId;
      if (how === "branch") view.branch(b.at(4)?.id as EntryId);
      if (how === "select") view.select(fork);
      await world.settle();
      expect(textsOf(view)).toEqual(["m0", "m1", "m2", "m3 again", "below it"]);
      expect(view.branchInfo(fork)).toMatchObject({ index: 1, total: 2, previousId: ids[3] });
      expect(view.snapshot).toMatchObject({ isLoading: false, error: null });
      await say(world, b, "grown");
      expect(textsOf(view).at(-1)).toBe("grown");
    },
  );

  test("[V9] an alternative to the first entry of a window, whose parent is not loaded, is counted", async () => {
    await say(world, a, "one", "two", "three");
    const { view } = world.client("late").session("s", { view: { limit: 1 } });
    await world.settle();
    const third = view.at(0)?.id as EntryId;
    let told = 0;
    view.subscribeEntry(third, () => {
      told += 1;
    });
    b.edit(third, "three again");
    await world.settle();
    expect(view.branchInfo(third)).toMatchObject({ index: 0, total: 2, nextId: b.at(2)?.id });
    expect(told).toBe(1);
  });

  test("[V4] what comes at the tip in one go with the line that was asked for is shown", async () => {
    const ids = await say(world, a, "one", "two", "three");
    a.edit(ids[1] as EntryId, "two again");
    await world.settle();
    const { view } = world.client("late").session("s");
    await world.settle();
    const pair = pairOf("late");
    if (pair === undefined) throw new Error("not connected");
    view.step(view.at(1)?.id as EntryId, -1);
    pair.isHeld = true;
    await world.settle();
    b.select(ids[1] as EntryId);
    await world.settle();
    await say(world, b, "four", "five");
    pair.isHeld = false;
    await world.settle();
    expect(textsOf(view)).toEqual(["one", "two", "three", "four", "five"]);
  });

  test("[V9] who shows an entry is told when its neighbours become known through another view", async () => {
    await say(world, a, "one");
    for (let index = 1; index < 100; index += 1) a.edit(a.at(0)?.id as EntryId, `edit ${index}`);
    await world.settle();
    const late = world.client("late").session("s");
    await world.settle();
    const second = late.createView();
    await world.settle();
    for (let index = 0; index < 16; index += 1) {
      second.step(second.at(0)?.id as EntryId, -1);
      await world.settle();
    }
    const shownId = second.at(0)?.id as EntryId;
    const first = late.createView({ leafId: shownId });
    await world.settle();
    const infos = [first.branchInfo(shownId)];
    let told = 0;
    first.subscribeEntry(shownId, () => {
      told += 1;
      infos.push(first.branchInfo(shownId));
    });
    for (let index = 0; index < 40; index += 1) {
      const before = first.branchInfo(shownId);
      const toldBefore = told;
      second.step(second.at(0)?.id as EntryId, -1);
      await world.settle();
      expect(first.branchInfo(shownId) === before).toBe(told === toldBefore);
    }
  });
});

describe("acts while a join is under way", () => {
  test("[V3] [V5] `branch` before the first join holds when it is answered", async () => {
    const [one] = await say(world, a, "one", "two");
    const { view } = world.client("late").session("s");
    view.branch(one as EntryId);
    await world.settle();
    expect(textsOf(view)).toEqual(["one"]);
    expect(view.snapshot).toMatchObject({ isHeld: true, isLoading: false });
  });

  test("[V3] a reader who moves while a fresh window is on its way stays where they went", async () => {
    const [one] = await say(world, b, "one", "two", "three");
    const session = bob.session("s");
    session.subscribe(() => {
      // The join is sent in this turn, and answered in a later one.
      if (session.snapshot.status === "joining") queueMicrotask(() => b.branch(one as EntryId));
    });
    stop();
    await comeBack();
    expect(textsOf(b)).toEqual(["one"]);
    expect(b.snapshot).toMatchObject({ isHeld: true, isLoading: false });
  });

  test("[V3] a selection that was loading when a fresh window came is still made", async () => {
    await say(world, a, "one", "two");
    a.edit(a.at(0)?.id as EntryId, "one again");
    await world.settle();
    const { view } = world.client("late").session("s");
    await world.settle();
    stop();
    view.step(view.at(0)?.id as EntryId, -1);
    await comeBack();
    expect(textsOf(view)).toEqual(["one", "two"]);
    expect(view.snapshot.isLoading).toBe(false);
  });
});

describe("fresh windows with writes under way", () => {
  test("[O1] [O2] an edit that was refused stays at its place after a fresh window", async () => {
    const [one] = await say(world, a, "one", "two", "three");
    const edit = a.edit(one as EntryId, { id: one as EntryId, type: "message", role: "user", parts: [] });
    const other = a.edit(a.state().leafId as EntryId, "x");
    a.discard(other.id);
    await world.settle();
    expect(await edit.settled).toMatchObject({ ok: false });
    b.branch(one as EntryId);
    const failed = b.send({ type: "branch-summary", fromId: "nowhere" as EntryId, summary: "lost" });
    await world.settle();
    expect(textsOf(b)).toEqual(["one", "[branch-summary] (failed)"]);
    stop();
    await comeBack();
    expect(textsOf(b)).toEqual(["one", "[branch-summary] (failed)"]);
    b.discard(failed.id);
    b.follow();
    await world.settle();
    expect(textsOf(b)).toEqual(["one", "two", "three"]);
  });

  test("[O1] [S9] writes and a stream that were not acknowledged survive a new epoch", async () => {
    await say(world, b, "one");
    const writer = bob.session("s").stream({}, { after: b.snapshot.leafId });
    writer.append("half ");
    await world.settle();
    stop();
    b.edit(b.at(0)?.id as EntryId, "one again");
    b.send("two");
    writer.append("and whole");
    const ended = writer.end();
    await comeBack();
    expect(await ended).toMatchObject({ ok: true });
    expect(textsOf(b)).toEqual(["one again", "two"]);
    b.step(b.at(0)?.id as EntryId, -1);
    await world.settle();
    expect(textsOf(b)).toEqual(["one", "half and whole"]);
  });

  test("[V3] [V9] a run that was asked for, and writes where nothing is loaded, is shown whole", async () => {
    for (let index = 0; index < 5; index += 1) await say(world, a, `step ${index}`);
    const prompt = a.at(0)?.id as EntryId;
    const { session, view } = await (async () => {
      const late = world.client("late").session("s", { view: { limit: 2 } });
      await world.settle();
      return { session: late, view: late.view };
    })();
    const newest = session.createView({ limit: 2, follow: "newest" });
    await world.settle();
    b.edit(prompt, "step 0 again");
    await world.settle();
    b.edit(b.at(0)?.id as EntryId, "and again");
    await world.settle();
    a.branch(a.at(1)?.id as EntryId);
    a.send("deep alternative");
    await world.settle();
    expect(textsOf(newest)).toEqual(["step 1", "deep alternative"]);
    const { index, total } = newest.branchInfo(newest.at(1)?.id as EntryId);
    expect({ index, total }).toEqual({ index: 1, total: 2 });
    expect(textsOf(view)).toEqual(["step 3", "step 4"]);
  });
});
