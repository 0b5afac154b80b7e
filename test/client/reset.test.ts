/** A new logical session in the same place (F8), as views see it. */
import type { Client, EntryId, Session, View, ViewState } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { at, say as draft, joinedAs, publish, publishWithRun } from "../kit/raw.js";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

let world: World;
let ann: Client;
let a: Session;
let b: Session;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  a = (await open(world, ann)).session;
  b = (await open(world, world.client("bob"))).session;
  await say(world, a.view, "one", "two");
});

const settle = () => world.settle();
const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const reset = async (session = a): Promise<void> => {
  const done = session.reset();
  await settle();
  expect(await done).toBeNull();
};
const leafOf = (view: View): EntryId => view.snapshot.leafId as EntryId;

describe("[F8] a reset", () => {
  test("begins views that follow anew, on every client, and what is sent next begins a tree", async () => {
    const moves: unknown[] = [];
    const old = leafOf(b.view);
    b.view.subscribe((change) => void (change.type === "line" && moves.push([change.from, change.to])));
    await reset();
    for (const { view } of [a, b]) {
      expect(view.snapshot).toMatchObject({ length: 0, leafId: null, isHeld: false, hasOlder: false });
    }
    expect(moves).toEqual([[old, null]]);
    await say(world, b.view, "anew");
    for (const { view } of [a, b]) {
      expect(textsOf(view)).toEqual(["anew"]);
      expect(view.at(0)?.entry.parentId).toBeNull();
      // What was before is no alternative to it.
      expect(view.branchInfo(leafOf(view))).toMatchObject({ index: 0, total: 1 });
      view.step(leafOf(view), -1);
      expect(textsOf(view)).toEqual(["anew"]);
    }
  });

  test("leaves a held view where it is, and what was before can be branched to and gone on from", async () => {
    const old = leafOf(a.view);
    b.view.branch(b.view.at(0)?.id as EntryId);
    await reset();
    expect(textsOf(b.view)).toEqual(["one"]);
    a.view.branch(old);
    expect(textsOf(a.view)).toEqual(["one", "two"]);
    expect(a.view.branchInfo(a.view.at(0)?.id as EntryId)).toMatchObject({ index: 0, total: 1 });
    await say(world, a.view, "three");
    expect(textsOf(a.view)).toEqual(["one", "two", "three"]);
    a.view.branch(null);
    a.view.follow();
    await settle();
    expect(textsOf(a.view)).toEqual([]);
  });

  test("a view that was put on an earlier line stays there over a reconnect", async () => {
    await reset();
    b.view.branch(a.view.snapshot.leafId);
    const [one] = (await world.records("s")).filter(({ kind }) => kind === "entry");
    b.view.branch((one as { id: EntryId }).id);
    b.view.follow();
    await settle();
    expect(textsOf(b.view)).toEqual(["one", "two"]);
    drop("bob");
    await world.advance(60_000);
    expect(textsOf(b.view)).toEqual(["one", "two"]);
  });

  test.each(["tail", "reset"])(
    "one that was away hears of it by a %s",
    async (mode) => {
      world.network.isDown = true;
      drop("bob");
      await settle();
      world.network.isDown = false;
      await reset();
      await say(world, a.view, "anew");
      if (mode === "reset")
        for (let index = 0; index < 300; index += 1) a.view.send(`${index} ${"x".repeat(20_000)}`);
      await world.advance(60_000);
      expect(b.snapshot.status).toBe("live");
      expect(textsOf(b.view).at(-1)).toBe(textsOf(a.view).at(-1));
      expect(leafOf(b.view)).toBe(leafOf(a.view));
      const older = b.view.loadUntil(() => false);
      await settle();
      await older;
      expect(textsOf(b.view)[0]).toBe("anew");
    },
    60_000,
  );

  test("[V7] a state from before it begins anew, unless it was held", async () => {
    const following = JSON.parse(JSON.stringify(a.view.state())) as ViewState;
    a.view.branch(a.view.at(0)?.id as EntryId);
    const held = JSON.parse(JSON.stringify(a.view.state())) as ViewState;
    await reset();
    await say(world, b.view, "anew");
    const shown = async (state: ViewState): Promise<string[]> => {
      const { view } = world.client("cid").session("s", { view: { state } });
      await settle();
      return textsOf(view);
    };
    expect(await shown(following)).toEqual(["anew"]);
    expect(await shown(held)).toEqual(["one"]);
  });

  test("[V3] a view of the newest entry does not go back with a run that goes on writing", async () => {
    const view = a.createView({ follow: "newest" });
    await settle();
    const { client, ch } = await joinedAs(world, "agent", { session: "s" });
    await client.ask(publishWithRun(ch, { id: "run", place: { after: leafOf(view) } }));
    await client.ask({ type: "claim", ch, id: "run" });
    await reset();
    const late = (await open(world, world.client("cid"))).session.createView({ follow: "newest" });
    await settle();
    await say(world, a.view, "anew");
    for (const id of ["more", "still"]) {
      await client.ask(publish(ch, at(undefined, draft(id, id, { runId: "run" }))));
      await settle();
      for (const each of [view, late]) expect(textsOf(each)).toEqual(["anew"]);
    }
    await say(world, b.view, "next");
    for (const each of [view, late]) expect(textsOf(each)).toEqual(["anew", "next"]);
  });

  test("[V3] it goes to a line of now of which nothing is loaded, once it is known to be one", async () => {
    await reset();
    await say(world, a.view, ...Array.from({ length: 20 }, (_, index) => `m${index}`));
    b.view.branch(null);
    await say(world, b.view, "other", "line");
    const late = world.client("cid").session("s", { view: { limit: 1 } });
    const view = late.createView({ follow: "newest", limit: 1 });
    await settle();
    expect(textsOf(view)).toEqual(["line"]);
    await say(world, a.view, "here");
    expect(textsOf(view)).toEqual(["here"]);
    expect(view.snapshot).toMatchObject({ isLoading: false, hasOlder: true });
  });

  test("a client that comes later sees what came since, and nothing else", async () => {
    await reset();
    const { view: empty } = await open(world, world.client("cid"));
    expect(empty.snapshot).toMatchObject({ length: 0, isLoading: false });
    await say(world, a.view, "anew");
    expect(textsOf(empty)).toEqual(["anew"]);
    const { view } = await open(world, world.client("dan"));
    expect(textsOf(view)).toEqual(["anew"]);
    expect(view.branchInfo(leafOf(view))).toMatchObject({ total: 1 });
  });

  test("[O1] what is unsent goes to the new session, where it names no place of its own", async () => {
    world.network.isDown = true;
    drop("bob");
    await settle();
    b.view.send("written offline");
    world.network.isDown = false;
    await reset();
    await world.advance(60_000);
    expect(textsOf(b.view)).toEqual(["written offline"]);
    expect(textsOf(a.view)).toEqual(["written offline"]);
  });
});
