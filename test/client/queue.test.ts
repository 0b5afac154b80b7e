/** What is written and not acknowledged: its order, its chains, its storage, and what it costs. */
import type { EntryId, QueueStorage, Session, View } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createStorage } from "../kit/storage.js";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

let world: World;
let session: Session;
let view: View;

beforeEach(async () => {
  world = await createWorld();
  ({ session, view } = await open(world, world.client("ann")));
});

const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const goOffline = (owner = "ann"): void => {
  world.network.isDown = true;
  drop(owner);
};
const comeBack = async (): Promise<void> => {
  world.network.isDown = false;
  await world.advance(31_000);
};
const lost = { type: "branch-summary" as const, fromId: "nowhere" as EntryId, summary: "lost" };

describe("chains", () => {
  test("[O3] a write goes after the one that it was written after, also where the view looks elsewhere by then", async () => {
    const [, old] = await say(world, view, "start", "old");
    view.branch(view.at(0)?.id as EntryId);
    goOffline();
    const first = view.send("first");
    view.edit(old as EntryId, "other");
    view.branch(first.id as EntryId);
    const second = view.send("second");
    expect(textsOf(view)).toEqual(["start", "first (pending)", "second (pending)"]);
    view.branch(null);
    await comeBack();
    view.branch(second.id as EntryId);
    await world.settle();
    expect(textsOf(view)).toEqual(["start", "first", "second"]);
  });

  test("[O2] where a write in the middle is refused, those after it go where it would have gone, once it is discarded", async () => {
    await say(world, view, "start");
    goOffline();
    view.send("one");
    const middle = view.send(lost);
    const last = view.send("three");
    await comeBack();
    expect(textsOf(view)).toEqual(["start", "one", "[branch-summary] (failed)", "three (failed)"]);
    view.discard(middle.id);
    view.retry(last.id);
    await world.settle();
    expect(textsOf(view)).toEqual(["start", "one", "three"]);
  });

  test("[O2] a write in the middle that is discarded before it is sent gives its place to those after it", async () => {
    await say(world, view, "start");
    goOffline();
    view.send("one");
    const middle = view.send("two");
    view.send("three");
    view.discard(middle.id);
    expect(textsOf(view)).toEqual(["start", "one (pending)", "three (pending)"]);
    view.branch(null);
    await comeBack();
    view.follow();
    await world.settle();
    expect(textsOf(view)).toEqual(["start", "one", "three"]);
  });

  test("[P2] [O2] an edit of a refused write takes its place", async () => {
    await say(world, view, "start");
    const failed = view.send(lost);
    await world.settle();
    view.edit(failed.id as EntryId, "mended");
    expect(textsOf(view)).toEqual(["start", "mended (pending)"]);
    await world.settle();
    expect(textsOf(view)).toEqual(["start", "mended"]);
    expect(session.snapshot.writes.map(({ id }) => id)).toEqual([failed.id]);
  });

  test("[O2] retry and discard of what is pending, confirmed or unknown change nothing that is wrong", async () => {
    const sent = view.send("one");
    view.retry(sent.id);
    view.retry("nowhere");
    view.discard("nowhere");
    await world.settle();
    view.retry(sent.id);
    view.discard(sent.id);
    await world.settle();
    expect(textsOf(view)).toEqual(["one"]);
    expect((await world.fold("s")).size).toBe(1);
  });

  test("[O1] what cannot be written as JSON is refused here, and rejects nothing", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const sent = view.send("one", { run: { options: { cyclic: cyclic as never } } });
    expect(await sent.settled).toMatchObject({ ok: false, error: { code: "invalid" } });
    expect(await session.setRegister("k", cyclic as never)).toMatchObject({ code: "invalid" });
    view.discard(sent.id);
    await say(world, view, "two");
    expect(textsOf(view)).toEqual(["two"]);
  });
});

describe("storage", () => {
  const reload = (storage: QueueStorage, name = "ann"): { session: Session; view: View } => {
    const again = world.client(name, { storage }).session("s");
    return { session: again, view: again.view };
  };

  test("[O3] a reload shows the line that was written last, and sends every write to its place", async () => {
    const storage = createStorage();
    const page = await open(world, world.client("bob", { storage }));
    const [one] = await say(world, page.view, "one", "two");
    goOffline("bob");
    page.view.send("three");
    page.view.edit(one as EntryId, "one again");
    page.view.send("after it");
    const again = reload(storage, "bob");
    expect(textsOf(again.view)).toEqual(["one again (pending)", "after it (pending)"]);
    page.session.close();
    await comeBack();
    expect(textsOf(again.view)).toEqual(["one again", "after it"]);
    again.view.step(again.view.at(0)?.id as EntryId, -1);
    await world.settle();
    expect(textsOf(again.view)).toEqual(["one", "two", "three"]);
    expect(storage.keys).toEqual([]);
  });

  test("[O3] the default view takes what an earlier page left, and nothing that this one wrote elsewhere", async () => {
    const storage = createStorage();
    const page = await open(world, world.client("bob", { storage }));
    goOffline("bob");
    page.view.send("left");
    const again = world.client("bob", { storage }).session("s");
    const second = again.createView();
    second.send("from the second");
    void again.publish([
      {
        draft: { id: "direct" as EntryId, type: "message", role: "user", parts: [] },
        place: { under: null },
      },
    ]);
    expect(textsOf(again.view)).toEqual(["left (pending)"]);
    expect(textsOf(second)).toEqual(["from the second (pending)"]);
  });

  test("[S7] the beginning of a stream is not kept: no later page could end it", async () => {
    const storage = createStorage();
    const page = await open(world, world.client("bob", { storage }));
    goOffline("bob");
    page.session.stream({}, { after: null }).append("half");
    expect(storage.keys).toEqual([]);
    expect(reload(storage, "bob").session.snapshot.writes).toEqual([]);
  });

  test("[S7] the beginning of a stream that was refused ends as aborted where it is tried again", async () => {
    const writer = session.stream({}, { after: "nowhere" as EntryId });
    writer.append("lost");
    await world.settle();
    expect(writer.error).toMatchObject({ code: "unknown_parent" });
    view.retry(writer.id);
    await world.settle();
    expect(session.snapshot.writes).toEqual([]);
    expect(view.get(writer.id)?.entry).toMatchObject({ status: "aborted", parts: [] });
  });

  test("[O3] two clients that share a storage do not take each other's writes away", async () => {
    const storage = createStorage();
    const first = await open(world, world.client("ann", { storage }));
    const second = await open(world, world.client("ann", { storage }));
    goOffline();
    first.view.send("from the first");
    second.view.send("from the second");
    const texts = reload(storage).session.snapshot.writes.map(({ id }) => id);
    expect(texts).toEqual(
      [first, second].flatMap(({ session: { snapshot } }) => snapshot.writes.map(({ id }) => id)),
    );
  });

  test("[O3] a storage that throws, or holds what nobody wrote, is told of and costs no write", async () => {
    const broken: QueueStorage = {
      getItem: () => {
        throw new Error("no storage");
      },
      setItem: () => {
        throw new Error("no storage");
      },
      removeItem: () => {
        throw new Error("no storage");
      },
    };
    await say(world, view, "start");
    const page = reload(broken, "bob");
    page.view.send("one");
    await world.settle();
    expect(textsOf(page.view)).toEqual(["start", "one"]);
    expect(page.session.snapshot.error).toMatchObject({ code: "unavailable" });
    const odd = createStorage();
    odd.setItem("espalier:s", '{"from":0,"to":4}');
    odd.setItem("espalier:s/0", '{"id":"x","items":[null],"state":"pending","time":1}');
    odd.setItem("espalier:s/1", "not JSON");
    odd.setItem("espalier:s/3", '{"id":"y"}');
    expect(reload(odd, "cid").session.snapshot.writes).toEqual([]);
  });
});

describe("cost", () => {
  test("[O3] a change of the queue writes what changed to the storage, however long the queue is", async () => {
    let written = 0;
    const inner = createStorage();
    const storage: QueueStorage = {
      ...inner,
      setItem: (key, value) => {
        written += value.length;
        inner.setItem(key, value);
      },
    };
    const page = await open(world, world.client("bob", { storage }));
    goOffline("bob");
    const writtenBy = (count: number): number => {
      const before = written;
      for (let index = 0; index < count; index += 1) page.view.send("x".repeat(100));
      return written - before;
    };
    const first = writtenBy(10);
    writtenBy(500);
    expect(writtenBy(10)).toBeLessThan(first * 1.2);
  });

  test("[O3] 2,000 writes made offline are shown, sent and confirmed in their order", async () => {
    goOffline();
    const count = 2000;
    for (let index = 0; index < count; index += 1) view.send(`m${index}`);
    expect(view.snapshot.length).toBe(count);
    await comeBack();
    expect(textsOf(view)).toEqual(Array.from({ length: count }, (_, index) => `m${index}`));
    expect(session.snapshot.writes).toEqual([]);
  });
});
