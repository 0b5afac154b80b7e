/** Listeners that throw, act, or close what they listen to. */
import { connect, type EntryId, type View, type ViewChange } from "@espalier/client";
import type { Runtime } from "@espalier/shared";
import { expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

/** A runtime that catches what is thrown in what it was told to do later. */
const catching = (runtime: Runtime, caught: unknown[]): Runtime => ({
  ...runtime,
  defer: (callback) =>
    runtime.defer(() => {
      try {
        callback();
      } catch (cause) {
        caught.push(cause);
      }
    }),
});

const connectCatching = (world: World, caught: unknown[]) =>
  connect({
    url: "ws://world",
    token: "ann",
    WebSocket: world.network.socketFor("ann"),
    runtime: catching(world.clock.runtime(77), caught),
  });

test("[J3] [V10] a listener that throws stops no other and breaks nothing; what it threw is thrown by itself", async () => {
  const world = await createWorld();
  const caught: unknown[] = [];
  const client = connectCatching(world, caught);
  const session = client.session("s", { create: true });
  const { view } = session;
  const heard: string[] = [];
  client.subscribe(() => {
    throw "client";
  });
  session.subscribe(() => {
    throw "session";
  });
  session.subscribe(({ type }) => heard.push(type));
  view.subscribe(() => {
    throw "view";
  });
  view.subscribe(({ type }) => heard.push(type));
  await world.settle();
  const { id } = view.send("one");
  let entryHeard = 0;
  view.subscribeEntry(id as EntryId, () => {
    throw "entry";
  });
  view.subscribeEntry(id as EntryId, () => {
    entryHeard += 1;
  });
  await world.settle();
  expect(textsOf(view)).toEqual(["one"]);
  expect(entryHeard).toBeGreaterThan(0);
  expect(heard).toContain("line");
  expect(heard).toContain("writes");
  for (const name of ["client", "session", "view", "entry"]) expect(caught).toContain(name);
  for (const pair of [...world.network.pairs]) pair.break();
  view.send("two");
  await world.advance(31_000);
  expect(textsOf(view)).toEqual(["one", "two"]);
});

test("[V5] what a listener brings about is told after what brought it there, to all in one order", async () => {
  const world = await createWorld();
  const { view } = await open(world, world.client("ann"));
  const [one, two] = await say(world, view, "one", "two", "three");
  const heard: ViewChange[] = [];
  const leaf = view.snapshot.leafId;
  view.subscribe((change) => {
    if (change.type === "line" && change.to === two) view.branch(one as EntryId);
  });
  view.subscribe((change) => heard.push(change));
  view.branch(two as EntryId);
  expect(heard).toEqual([
    { type: "line", from: leaf, to: two },
    { type: "line", from: two, to: one },
  ]);
});

test("[J1] a session that is closed when it becomes live is left, and nothing more is sent for it", async () => {
  const world = await createWorld();
  const ann = await open(world, world.client("ann"));
  await say(world, ann.view, "zero");
  const bob = world.client("bob");
  const session = bob.session("s");
  session.subscribe(() => {
    if (session.snapshot.status === "live") session.close();
  });
  await world.settle();
  const before = world.network.log.length;
  await say(world, ann.view, "one");
  const sent = world.network.log.slice(before).filter(({ to, owner }) => to === "client" && owner === "bob");
  expect(sent).toEqual([]);
});

test("[V10] reading older entries where there are none tells nothing", async () => {
  const world = await createWorld();
  const { view } = await open(world, world.client("ann"));
  await say(world, view, "one");
  const heard: unknown[] = [];
  view.subscribe((change) => heard.push(change));
  expect(await view.loadOlder()).toBe(0);
  expect(heard).toEqual([]);
});

test("[V8] what is read by position and by the snapshot is the same while older entries load", async () => {
  const world = await createWorld();
  const ann = await open(world, world.client("ann"));
  await say(world, ann.view, ...Array.from({ length: 12 }, (_, index) => `m${index}`));
  const session = world.client("bob").session("s", { view: { limit: 2 } });
  await world.settle();
  const wide = session.createView({ limit: 6 });
  await world.settle();
  const { view } = session;
  const agree = (of: View): void =>
    expect(of.snapshot.ids).toEqual(
      Array.from({ length: of.snapshot.length }, (_, index) => of.at(index)?.id),
    );
  await world.settle();
  agree(view);
  const loaded = view.loadOlder(8);
  agree(view);
  await world.settle();
  agree(view);
  expect(await loaded).toBe(8);
  expect(textsOf(wide)).toEqual(["m6", "m7", "m8", "m9", "m10", "m11"]);
});

test("[V8] what is asked of a view before it has joined is answered when it has", async () => {
  const world = await createWorld();
  const ann = await open(world, world.client("ann"));
  const [one] = await say(world, ann.view, "one", "two", "three");
  const { view } = world.client("bob").session("s", { view: { limit: 1 } });
  const found = view.loadUntil(({ id }) => id === one);
  const older = world
    .client("cid")
    .session("s", { view: { limit: 1 } })
    .view.loadOlder(5);
  await world.settle();
  expect((await found)?.id).toBe(one);
  expect(await older).toBe(2);
});

test("[J4] a client that was closed stays closed, and leaves no timer", async () => {
  const world = await createWorld();
  const before = world.clock.timers;
  const client = world.client("ann");
  const session = client.session("s", { create: true });
  const waiting = [session.setRegister("title", "x"), session.loadPath("e" as EntryId), client.list()];
  const sent = session.view.send("unsent");
  client.close();
  client.retry();
  await world.settle();
  expect(client.snapshot.status).toBe("closed");
  expect(world.network.pairs).toHaveLength(0);
  expect(world.clock.timers).toBe(before);
  expect(await sent.settled).toMatchObject({ ok: false, error: { code: "shut" } });
  expect(await Promise.all(waiting)).toMatchObject([{ code: "shut" }, { code: "shut" }, { code: "offline" }]);
});
