/** Sessions that are hidden, and sessions that are gone (F8). */
import type { Client, EntryId, Session, SessionId, SessionSummary } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createStorage } from "../kit/storage.js";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

let world: World;
let ann: Client;
let a: Session;
let b: Session;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  a = (await open(world, ann)).session;
  b = (await open(world, world.client("bob", { storage: createStorage() }))).session;
  await say(world, a.view, "one");
});

const S = "s" as SessionId;
const settle = () => world.settle();
const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const done = async <T>(work: Promise<T>): Promise<T> => {
  await settle();
  return work;
};
/** Lets arrive what one client says and is told, and nobody else's. */
const withOnly = async <T>(owner: string, work: Promise<T>): Promise<T> => {
  let isDone = false;
  void work.then(() => {
    isDone = true;
  });
  const pair = world.network.pairs.find((candidate) => candidate.owner === owner);
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    world.clock.runDeferred();
    while ((pair?.toServer ?? 0) > 0) pair?.deliverToServer();
    while ((pair?.toClient ?? 0) > 0) pair?.deliverToClient();
  }
  return work;
};
const listed = async (client: Client, ask = {}): Promise<readonly string[]> => {
  const page = await done(client.list(ask));
  return "code" in page ? [page.code] : page.sessions.map(({ id }) => id);
};
const watched = async (client: Client) => {
  const byId = new Map<string, SessionSummary>();
  client.watch((sessions, gone) => {
    for (const summary of sessions) byId.set(summary.id, summary);
    for (const id of gone) byId.delete(id);
  });
  await settle();
  return byId;
};

describe("[F8] archived", () => {
  test("it is hidden from lists that do not ask for it, and comes back", async () => {
    expect(await done(a.archive())).toBeNull();
    expect(await listed(ann)).toEqual([]);
    expect(await listed(ann, { archived: true })).toEqual(["s"]);
    expect(await done(ann.archive(S, false))).toBeNull();
    expect(await listed(ann)).toEqual(["s"]);
  });

  test("by a client that has not joined it, which has it closed again", async () => {
    const cid = world.client("cid");
    const byId = await watched(cid);
    expect(await done(cid.archive(S))).toBeNull();
    expect(byId.get("s")).toMatchObject({ isArchived: true });
    expect(await done(cid.archive("none" as SessionId))).toMatchObject({ code: "not_found" });
  });
});

describe("[F8] deleted", () => {
  test("whoever has joined it is told, and its unsent writes are given up visibly", async () => {
    const byId = await watched(world.client("cid"));
    expect([...byId.keys()]).toEqual(["s"]);
    const sent = b.view.send("too late");
    void b.marks.pins.toggle(b.view.at(0)?.id as EntryId);
    // Bob's words are on their way when the session goes.
    expect(await withOnly("ann", ann.delete(S))).toBeNull();
    await settle();
    for (const session of [a, b]) {
      expect(session.snapshot).toMatchObject({ status: "failed", error: { code: "deleted" } });
    }
    expect(await sent.settled).toMatchObject({ ok: false, error: { code: "deleted" } });
    expect(textsOf(b.view)).toEqual(["one", "too late (failed)"]);
    expect(b.snapshot.writes).toMatchObject([{ id: sent.id, state: "failed", error: { code: "deleted" } }]);
    expect(b.marks.pins.list()).toEqual([]);
    expect([...byId.keys()]).toEqual([]);
    expect(await listed(ann, { archived: true })).toEqual([]);
  });

  test("it does not come back: not by what was to begin it, not over a reconnect, and once more is harmless", async () => {
    expect(await done(ann.delete(S))).toBeNull();
    expect(await done(ann.delete(S))).toBeNull();
    const statuses: string[] = [];
    b.subscribe(() => statuses.push(b.snapshot.status));
    drop("bob");
    await world.advance(60_000);
    expect(b.snapshot).toMatchObject({ status: "failed", error: { code: "deleted" } });
    expect(new Set(statuses)).not.toContain("joining");
    const { session } = await open(world, world.client("dan"));
    expect(session.snapshot).toMatchObject({ status: "failed", error: { code: "deleted" } });
  });

  test("one that was away hears of it when it is back, as does who watches the list", async () => {
    await open(world, ann, "other").then(({ view }) => say(world, view, "x"));
    const cid = world.client("cid");
    const byId = await watched(cid);
    expect([...byId.keys()].sort()).toEqual(["other", "s"]);
    world.network.isDown = true;
    drop("bob");
    drop("cid");
    await settle();
    world.network.isDown = false;
    const sent = b.view.send("offline");
    expect(await done(ann.delete(S))).toBeNull();
    await world.advance(60_000);
    expect(b.snapshot).toMatchObject({ status: "failed", error: { code: "deleted" } });
    expect(await sent.settled).toMatchObject({ ok: false, error: { code: "deleted" } });
    expect([...byId.keys()]).toEqual(["other"]);
  });

  test("asked for without a connection it waits for one, and a closed client says so", async () => {
    world.network.isDown = true;
    drop("ann");
    await settle();
    const gone = ann.delete(S);
    world.network.isDown = false;
    await world.advance(60_000);
    expect(await gone).toBeNull();
    world.network.isDown = true;
    drop("ann");
    await settle();
    const never = ann.delete("other" as SessionId);
    ann.close();
    expect(await never).toMatchObject({ code: "shut" });
  });
});
