/** What goes wrong beside the network: a disk, a peer, a size, another person at the same page. */
import { serveRuns } from "@espalier/client";
import { createMemoryStore } from "@espalier/server";
import type { EntryId, Epoch } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { createFaultStore, type FaultStore } from "../kit/fault-store.js";
import { createStorage } from "../kit/storage.js";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

const createFaulty = async (): Promise<{ world: World; store: FaultStore }> => {
  const store = createFaultStore(createMemoryStore({ newEpoch: () => "epoch" as Epoch }));
  return { store, world: await createWorld({ store }) };
};

const countOffline = (client: ReturnType<World["client"]>): (() => number) => {
  let times = 0;
  client.subscribe(() => {
    if (client.snapshot.status === "offline") times += 1;
  });
  return () => times;
};

describe("a message that is too large", () => {
  const big = "x".repeat(1_200_000);

  test("[L6] [O2] is refused here, and the connection lives", async () => {
    const world = await createWorld();
    const ann = world.client("ann");
    const { session, view } = await open(world, ann);
    const drops = countOffline(ann);
    const register = session.setRegister("note", big);
    const asked = view.send("asked", { run: { options: { prompt: big } } });
    const batch = session.publish(
      Array.from({ length: 1000 }, (_, index) => ({
        draft: { id: `b${index}` as EntryId, type: "custom", name: "n".repeat(990), data: null } as const,
        place: { after: null },
      })),
    );
    await world.advance(60_000);
    expect(await register).toMatchObject({ code: "too_large" });
    expect(await asked.settled).toMatchObject({ ok: false, error: { code: "too_large" } });
    expect(await batch).toMatchObject({ ok: false, error: { code: "too_large" } });
    expect(drops()).toBe(0);
    view.discard(asked.id);
    await say(world, view, "small");
    expect(textsOf(view)).toEqual(["small"]);
  });

  test("[R5] a handler that throws a long story ends its run with the beginning of it", async () => {
    const world = await createWorld();
    const { session, view } = await open(world, world.client("ann"));
    const agent = world.client("agent");
    const drops = countOffline(agent);
    serveRuns(agent, async () => {
      throw new Error(big);
    });
    const { runId } = view.send("hi", { run: true });
    await world.advance(60_000);
    expect(drops()).toBe(0);
    expect(runId === undefined ? undefined : session.run(runId)).toMatchObject({ status: "failed" });
  });
});

describe("a disk that fails for a moment", () => {
  test("[S9] case-S1: a stream goes on when an append was refused", async () => {
    const { world, store } = await createFaulty();
    const { session, view } = await open(world, world.client("ann"));
    const writer = session.stream({}, { after: null });
    await world.settle();
    for (let index = 0; index < 20; index += 1) {
      if (index === 7 || index === 13) store.faults.push("refused");
      writer.append(`w${index} `);
      await world.settle();
    }
    const ended = writer.end();
    await world.advance(20_000);
    expect(await ended).toMatchObject({ ok: true });
    expect(textsOf(view)).toEqual([Array.from({ length: 20 }, (_, index) => `w${index} `).join("")]);
    expect(view.at(0)?.entry.status).toBe("complete");
  });

  test("[S9] a stream begins when its publish was refused", async () => {
    const { world, store } = await createFaulty();
    const { session, view } = await open(world, world.client("ann"));
    store.faults.push("refused");
    const writer = session.stream({}, { after: null });
    writer.append("all");
    const ended = writer.end();
    await world.advance(20_000);
    expect(await ended).toMatchObject({ ok: true });
    expect(textsOf(view)).toEqual(["all"]);
  });

  test("[R1] a run is taken again when its claim was refused", async () => {
    const { world, store } = await createFaulty();
    const { view } = await open(world, world.client("ann"));
    view.send("question", { run: true });
    await world.settle();
    store.faults.push("refused", "refused");
    serveRuns(world.client("agent"), async (run) => {
      await run.publish({ type: "message", role: "assistant", parts: [{ type: "text", text: "answer" }] });
    });
    await world.advance(60_000);
    expect(textsOf(view)).toEqual(["question", "answer"]);
  });
});

test("[R5] [S9] a run whose stream failed ends as failed, and its agent hears why", async () => {
  const world = await createWorld();
  const { session, view } = await open(world, world.client("ann"));
  const heard: unknown[] = [];
  const answer = async (run: Parameters<Parameters<typeof serveRuns>[1]>[0]): Promise<void> => {
    const message = run.stream();
    message.append("half");
    message.set(7, { state: "done" });
    await message.end();
  };
  serveRuns(world.client("agent"), answer, { onError: (error) => heard.push(error) });
  const { runId } = view.send("question", { run: true });
  await world.advance(10_000);
  expect(heard).toEqual([expect.objectContaining({ code: "invalid" })]);
  expect(runId === undefined ? undefined : session.run(runId)).toMatchObject({
    status: "failed",
    error: { code: "invalid" },
  });
  expect(view.at(1)?.entry.status).toBe("failed");
});

test("[O3] what a listener sends goes after what it heard of", async () => {
  const world = await createWorld();
  const { view } = await open(world, world.client("ann"));
  let count = 0;
  view.subscribe(() => {
    if (count >= 3) return;
    count += 1;
    view.send(`in ${count}`);
  });
  view.send("out");
  await world.settle();
  expect(textsOf(view)).toEqual(["out", "in 1", "in 2", "in 3"]);
});

test("[O2] in a session that may not be, what was written is seen as failed, and goes out after a retry", async () => {
  const world = await createWorld();
  const session = world.client("ann").session("late");
  const { view } = session;
  const sent = view.send("early");
  const register = session.setRegister("title", "T");
  await world.settle();
  expect(await sent.settled).toMatchObject({ ok: false, error: { code: "not_found" } });
  expect(await register).toMatchObject({ code: "not_found" });
  expect(textsOf(view)).toEqual(["early (failed)"]);
  expect(view.send("too").id).toBeDefined();
  expect(textsOf(view)).toEqual(["early (failed)", "too (failed)"]);
  await say(world, (await open(world, world.client("bob"), "late")).view, "begun");
  session.retry();
  await world.settle();
  view.retry(sent.id);
  await world.settle();
  expect(textsOf(view)).toContain("early");
});

test("[O1] a closed session answers at once", async () => {
  const world = await createWorld();
  const { session, view } = await open(world, world.client("ann"));
  session.close();
  const shut = { code: "shut" };
  expect(await view.send("late").settled).toMatchObject({ ok: false, error: shut });
  const writer = session.stream({}, { after: null });
  writer.append("late");
  expect(await writer.end()).toMatchObject({ ok: false, error: shut });
  expect(await session.setRegister("title", "T")).toMatchObject(shut);
});

test("[O3] what one person wrote is not sent by the next one who signs in at the same page", async () => {
  const world = await createWorld();
  const storage = createStorage();
  const ann = world.client("ann", { storage });
  const { view } = await open(world, ann);
  await say(world, view, "known");
  world.network.isDown = true;
  for (const pair of [...world.network.pairs]) pair.break();
  const { id } = view.send("ann's own words");
  ann.close();
  world.network.isDown = false;
  const bob = await open(world, world.client("bob", { storage }));
  await world.advance(5000);
  expect(textsOf(bob.view)).toEqual(["known", "ann's own words (failed)"]);
  expect(bob.view.get(id as EntryId)?.error).toMatchObject({ code: "forbidden" });
  expect((await world.fold("s")).size).toBe(1);
});

test("an agent leaves the session open that a page of the same client shows", async () => {
  const world = await createWorld();
  const both = world.client("ann");
  const { session, view } = await open(world, both);
  serveRuns(both, async (run) => {
    await run.publish({ type: "message", role: "assistant", parts: [{ type: "text", text: "yes" }] });
  });
  await world.settle();
  view.send("hi", { run: true });
  await world.settle();
  await say(world, view, "again");
  expect(textsOf(view)).toEqual(["hi", "yes", "again"]);
  expect(both.session("s")).toBe(session);
});

describe("a peer that makes no sense", () => {
  test.each(["null", "5", '"x"', '{"records":null,"ch":1,"upto":1}', '{"type":"refused"}', "{}", "[]"])(
    "[J4] %s ends the connection and no more",
    async (text) => {
      const world = await createWorld();
      const ann = world.client("ann");
      const { view } = await open(world, ann);
      await say(world, view, "before");
      world.network.say("ann", text);
      await world.advance(31_000);
      await say(world, view, "after");
      expect(textsOf(view)).toEqual(["before", "after"]);
    },
  );

  test("[S9] a socket that throws is given up, and nothing is lost", async () => {
    const world = await createWorld();
    const { session, view } = await open(world, world.client("ann"));
    const writer = session.stream({}, { after: null });
    await world.settle();
    world.network.failSends("ann");
    expect(() => writer.append("kept")).not.toThrow();
    await world.advance(31_000);
    await world.settle();
    expect(textsOf(view)).toEqual(["kept"]);
  });
});

test("an address that is none is told at once", async () => {
  const { connect } = await import("@espalier/client");
  class Socket {}
  expect(() => connect({ url: "banana", WebSocket: Socket })).toThrow(/no ws: or wss: address/);
});
