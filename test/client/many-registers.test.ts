/** More registers than a join gives (G1), and a context longer than what is loaded (C2). */
import type { EntryId, PrincipalId, Session } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";
import { createEpochStore, type EpochStore } from "./epoch-store.js";

let world: World;
let store: EpochStore;
let a: Session;

beforeEach(async () => {
  store = createEpochStore();
  world = await createWorld({
    store,
    authenticate: ({ token }) => ({ id: token as PrincipalId, admin: true }),
  });
  a = (await open(world, world.client("ann"))).session;
  await say(world, a.view, "one");
});

const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const requests = (type: string): number =>
  world.network.log.filter(({ to, text }) => to === "server" && text.includes(`"type":"${type}"`)).length;

describe("[G1] more registers than a join gives", () => {
  const COUNT = 2500;
  const idAt = (index: number): EntryId => `p${index}` as EntryId;

  beforeEach(async () => {
    void a.setRegister("title", "Plans");
    for (let index = 0; index < COUNT; index += 1) void a.marks.pins.set(idAt(index), true);
    await world.settle();
  });

  test("all of them come, the rest page by page", async () => {
    const { session } = await open(world, world.client("bob"));
    expect(session.snapshot.title).toBe("Plans");
    expect(session.marks.pins.list()).toEqual(a.marks.pins.list());
    expect(session.marks.pins.list()).toHaveLength(COUNT);
    expect(requests("registers")).toBeGreaterThan(0);
  });

  test("what changes while they come stands, and a connection that drops is no harm", async () => {
    const session = world.client("bob").session("s");
    void session.view;
    await new Promise((resolve) => setImmediate(resolve));
    session.subscribe((change) => {
      if (change.type !== "status" || session.snapshot.status !== "live") return;
      void a.marks.pins.set(idAt(7), false);
      void a.marks.pins.set("fresh" as EntryId, true);
    });
    await world.settle();
    drop("bob");
    await world.advance(60_000);
    expect(session.marks.pins.has(idAt(7))).toBe(false);
    expect(new Set(session.marks.pins.list())).toEqual(new Set(a.marks.pins.list()));
  });

  test("[F8] a join knows of an earlier reset, however many came since", async () => {
    void a.reset();
    await world.settle();
    for (let index = 0; index < COUNT; index += 1) void a.marks.labels.set(idAt(index), "x");
    await say(world, a.view, "anew");
    const { session } = await open(world, world.client("bob"));
    expect(textsOf(session.view)).toEqual(["anew"]);
    expect(session.view.branchInfo(session.view.snapshot.leafId as EntryId)).toMatchObject({ total: 1 });
  });
}, 60_000);

describe("[C2] the context of a line that is not loaded", () => {
  test("comes from the server page by page, and equals what a whole replica makes of it", async () => {
    a.view.send({ type: "model-change", provider: "acme", modelId: "small" });
    for (let index = 0; index < 1500; index += 1) a.view.send(`m${index}`);
    await world.settle();
    const leafId = a.view.snapshot.leafId as EntryId;
    const { session, view } = await open(world, world.client("bob"));
    expect(view.snapshot.length).toBe(50);
    const [whole, asked, shown, settings] = [
      a.context(leafId),
      session.context(leafId),
      view.context(),
      session.settings(leafId),
    ];
    await world.settle();
    expect(await asked).toEqual(await whole);
    expect(await shown).toEqual(await whole);
    expect(await whole).toHaveLength(1501);
    expect(await settings).toMatchObject({ modelId: "small" });
    expect(view.snapshot.length).toBe(50);
    expect(requests("context")).toBeGreaterThan(1);
    const none = session.context("nowhere" as EntryId);
    await world.settle();
    expect(await none).toMatchObject({ code: "not_found" });
  });

  /** Lets what is under way arrive but for what one client says or hears, until a test holds. */
  const deliverUntil = async (isDone: () => boolean, without?: string): Promise<void> => {
    while (!isDone()) {
      for (const pair of [...world.network.pairs]) {
        if (pair.owner === without) continue;
        if (pair.toServer > 0) pair.deliverToServer();
        if (pair.toClient > 0 && !isDone()) pair.deliverToClient();
      }
      world.clock.runDeferred();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  /** Bob asks for a context of three pages, and something happens before the second is answered. */
  const readAround = async (happens: (ids: readonly EntryId[]) => Promise<unknown>) => {
    const ids = Array.from({ length: 2500 }, (_, index) => a.view.send(`m${index}`).id as EntryId);
    await world.settle();
    const { session } = await open(world, world.client("bob"));
    const leafId = ids.at(-1) as EntryId;
    const asked = session.context(leafId);
    const before = requests("context");
    await deliverUntil(() => requests("context") === before + 2);
    let hasHappened = false;
    void happens(ids).then(() => {
      hasHappened = true;
    });
    await deliverUntil(() => hasHappened, "bob");
    await world.advance(60_000);
    const whole = a.context(leafId);
    await world.settle();
    return { read: await asked, whole: await whole, asked: requests("context") - before };
  };

  test("[L2] what is erased while its pages come is not in it: they are asked for again", async () => {
    const { read, whole, asked } = await readAround((ids) => a.erase(ids[2400] as EntryId));
    expect(read).toEqual(whole);
    expect(whole).toHaveLength(2500);
    expect(asked).toBeGreaterThan(3);
  });

  test("[D2] pages of another epoch are not put to those of this one", async () => {
    const { read, whole, asked } = await readAround(async () => {
      world.stopServer();
      store.begin();
      await world.startServer();
    });
    expect(read).toEqual(whole);
    expect(asked).toBeGreaterThan(3);
  });
});
