/** A line as a session of its own: by sharing its entries, or by copying them (F1–F4). */
import type { Client, EntryId, Forked, Session, SessionId, View } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  ({ session, view } = await open(world, ann));
  await say(world, view, "one", "two", "three");
});

const settle = () => world.settle();
const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const done = async <T>(work: Promise<T>): Promise<T> => {
  await settle();
  return work;
};
const forked = async (work: ReturnType<View["fork"]>): Promise<Forked> => {
  const answer = await done(work);
  if ("code" in answer) throw new Error(answer.message);
  return answer;
};
const shown = async (id: SessionId, client = ann): Promise<{ child: Session; texts: string[] }> => {
  const child = client.session(id);
  const { view: childView } = child;
  await settle();
  return { child, texts: textsOf(childView) };
};
const leafOf = (of: View): EntryId => of.snapshot.leafId as EntryId;

describe("a fork", () => {
  test("[F2] by sharing holds the line with the same entries, and goes on for itself", async () => {
    const { session: id, entry, isCutBack } = await forked(view.fork());
    expect([entry, isCutBack]).toEqual([leafOf(view), false]);
    const { child, texts } = await shown(id);
    expect(texts).toEqual(["one", "two", "three"]);
    expect(child.view.snapshot.ids).toEqual(view.snapshot.ids);
    expect(child.origin).toMatchObject({ session: "s", entry: leafOf(view), isShared: true });
    expect(child.inheritedSeq).toBeGreaterThan(0);
    await say(world, child.view, "in the fork");
    await say(world, view, "in the first");
    expect(textsOf(child.view)).toEqual(["one", "two", "three", "in the fork"]);
    expect(textsOf(view)).toEqual(["one", "two", "three", "in the first"]);
    expect(child.view.at(3)?.entry.seq).toBeGreaterThan(child.inheritedSeq);
  });

  test("[F1] by copy has entries of its own, with the same times and authors", async () => {
    const { session: id } = await forked(view.fork({ mode: "copy" }));
    const { child, texts } = await shown(id);
    expect(texts).toEqual(["one", "two", "three"]);
    expect(child.view.snapshot.ids).not.toContain(leafOf(view));
    expect(child.view.getMessages().map(({ entry }) => [entry.author, entry.time])).toEqual(
      view.getMessages().map(({ entry }) => [entry.author, entry.time]),
    );
    expect(child.origin).toMatchObject({ session: "s", entry: leafOf(view) });
    expect(child.origin?.isShared).toBeUndefined();
  });

  test("takes what is shown, not the other branches, and an edit in it is its own", async () => {
    const two = view.at(1)?.id as EntryId;
    view.edit(two, "other");
    await settle();
    const { session: id } = await forked(view.fork());
    const { child, texts } = await shown(id, world.client("bob"));
    expect(texts).toEqual(["one", "other"]);
    expect(child.view.branchInfo(child.view.at(1)?.id as EntryId)).toMatchObject({ index: 0, total: 1 });
    child.view.edit(child.view.at(1)?.id as EntryId, "edited there");
    await settle();
    expect(textsOf(child.view)).toEqual(["one", "edited there"]);
    expect(view.branchInfo(leafOf(view))).toMatchObject({ index: 1, total: 2 });
  });

  test("[F1] asked for again under the same name is the same one, also over a lost answer", async () => {
    const ask = { from: { session: "s" as SessionId, entry: leafOf(view) }, session: "twice" as SessionId };
    const first = ann.fork(ask);
    await Promise.resolve();
    const pair = world.network.pairs.find(({ owner }) => owner === "ann");
    while ((pair?.toServer ?? 0) > 0) pair?.deliverToServer();
    drop("ann");
    await world.advance(60_000);
    expect(await first).toEqual({ session: "twice", entry: leafOf(view), isCutBack: false });
    expect(await done(ann.fork(ask))).toEqual(await first);
    const list = await done(ann.list());
    expect("code" in list ? [] : list.sessions.map(({ id }) => id).sort()).toEqual(["s", "twice"]);
  });

  test("of a pending leaf waits until that is confirmed", async () => {
    world.network.isDown = true;
    drop("ann");
    await settle();
    view.send("offline");
    const work = view.fork();
    world.network.isDown = false;
    await world.advance(60_000);
    const { session: id } = await forked(work);
    expect((await shown(id)).texts).toEqual(["one", "two", "three", "offline"]);
  });

  test("of a leaf that is refused is refused as it was", async () => {
    view.send({ type: "branch-summary", fromId: "nowhere" as EntryId, summary: "lost" });
    const answer = await done(view.fork());
    expect(answer).toMatchObject({ code: expect.any(String) });
    expect(await done(ann.fork({ from: { session: "none" as SessionId, entry: null } }))).toMatchObject({
      code: "not_found",
    });
  });

  test("[F3] inside a streaming message is cut back to before it, and says so", async () => {
    const before = leafOf(view);
    const writer = session.stream({}, { after: before });
    writer.append("so far");
    await settle();
    const { session: id, entry, isCutBack } = await forked(view.fork());
    expect([entry, isCutBack]).toEqual([before, true]);
    expect((await shown(id)).texts).toEqual(["one", "two", "three"]);
  });

  test("[C9] counts what it inherited in its path, and not as its own", async () => {
    const usage = { input: 10, output: 5, model: "m" };
    const draft = {
      type: "message",
      role: "assistant",
      parts: [{ type: "text", text: "a" }],
      usage,
    } as const;
    view.send(draft);
    await settle();
    const { session: id } = await forked(view.fork());
    const { child } = await shown(id);
    child.view.send(draft);
    await settle();
    const own = await done(child.usage());
    const path = await done(child.usage({ leaf: leafOf(child.view) }));
    expect([own, path]).toMatchObject([
      { input: 10, output: 5 },
      { input: 20, output: 10, byModel: { m: { input: 20 } } },
    ]);
    expect(await done(session.usage())).toMatchObject({ input: 10 });
  });

  test("[F4] a list shows which came from which, and is told of it", async () => {
    const origins = new Map<string, unknown>();
    world.client("bob").watch((sessions) => {
      for (const { id, origin } of sessions) origins.set(id, origin?.session);
    });
    await settle();
    const { session: id } = await forked(view.fork());
    await settle();
    expect([origins.get("s"), origins.get(id)]).toEqual([undefined, "s"]);
  });
});
