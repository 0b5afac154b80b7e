/** Who holds what is open, and what becomes of it when they are gone (S7). */
import type { EntryId, LogRecord, PrincipalId, RunId, SessionId, WriterId } from "@espalier/shared";
import { expect, test } from "vitest";
import {
  append,
  expectType,
  follow,
  join,
  joinedAs,
  publish,
  publishWithRun,
  say,
  streaming,
  textIn,
} from "../kit/raw.js";
import { createWorld, type World } from "../kit/world.js";
import { message, run } from "./store/records.js";

const GRACE_MS = 30_000;

/** `ann` is at work on run `r`, and has streamed half of entry `a`. */
const begin = async () => {
  const world = await createWorld({ graceMs: GRACE_MS });
  const { client, ch } = await joinedAs(world, "ann");
  await client.ask(publishWithRun(ch, { id: "r", place: { after: "p" } }, follow(null, say("p"))));
  await client.ask({ type: "claim", ch, id: "r" });
  await client.ask(publish(ch, { draft: streaming("a", { runId: "r" }) }));
  client.send(append(ch, "a", 0, "half of it"));
  await world.settle();
  return { world, client, ch };
};

const stateOf = async (world: World, session = "s") => {
  const tree = await world.fold(session);
  const runs = (await world.records(session)).filter(({ kind }) => kind === "run");
  const status = tree.get("a" as EntryId)?.entry.status;
  return { status, run: (runs.at(-1) as { status?: string } | undefined)?.status, text: textIn(tree, "a") };
};

const UNDER_WAY = { status: "streaming", run: "active", text: "half of it" };
const GIVEN_UP = { status: "aborted", run: "interrupted", text: "half of it" };

test("[S7] case-S6 the agent is killed in mid-reply: aborted and interrupted within the grace period, text kept", async () => {
  const { world, client } = await begin();
  const reader = await joinedAs(world, "bob");
  client.close();
  await world.advance(GRACE_MS - 1);
  expect(await stateOf(world)).toEqual(UNDER_WAY);
  await world.advance(1);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
  // Who is joined is told, in one frame.
  expect(reader.client.frames().at(-1)?.records).toMatchObject([
    { kind: "append", id: "a", status: "aborted", deltas: [] },
    { kind: "run", id: "r", status: "interrupted" },
  ]);
});

test("[S7] case-S7 the agent comes back within the grace period and goes on", async () => {
  const { world, client } = await begin();
  client.close();
  await world.advance(GRACE_MS - 1);
  const { client: again, ch } = await joinedAs(world, "ann");
  await world.advance(10 * GRACE_MS);
  expect(await stateOf(world)).toEqual(UNDER_WAY);
  again.send(append(ch, "a", 10, ", and the rest", { status: "complete" }));
  expectType(await again.ask({ type: "end", ch, id: "r", status: "done" }), "ack");
  expect(await stateOf(world)).toEqual({ status: "complete", run: "done", text: "half of it, and the rest" });
});

test("[S7] a grace period begins anew with each absence", async () => {
  const { world, client } = await begin();
  client.close();
  for (let times = 0; times < 3; times += 1) {
    await world.advance(GRACE_MS - 1);
    expect(await stateOf(world)).toEqual(UNDER_WAY);
    const { client: again } = await joinedAs(world, "ann");
    again.close();
  }
  await world.advance(GRACE_MS);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
});

test("[S7] a writer with two connections is gone when both are", async () => {
  const { world, client } = await begin();
  const second = await joinedAs(world, "ann");
  client.close();
  await world.advance(10 * GRACE_MS);
  expect(await stateOf(world)).toEqual(UNDER_WAY);
  second.client.close();
  await world.advance(GRACE_MS);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
});

test("[S7] joining twice on one connection is one lease; leaving ends it", async () => {
  const { world, client, ch } = await begin();
  await join(client);
  await join(client);
  await world.advance(10 * GRACE_MS);
  expect(await stateOf(world)).toEqual(UNDER_WAY);
  client.send({ type: "leave", ch });
  await world.advance(GRACE_MS);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
});

test("[S7] [R3] a reader's disconnect does nothing", async () => {
  const { world } = await begin();
  const reader = await joinedAs(world, "bob");
  reader.client.close();
  await world.advance(10 * GRACE_MS);
  expect(await stateOf(world)).toEqual(UNDER_WAY);
});

test("[S7] another principal that calls itself by the writer's name keeps nothing alive", async () => {
  const { world, client } = await begin();
  await joinedAs(world, "eve", { writer: "ann" });
  client.close();
  await world.advance(GRACE_MS);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
});

test("[S7] a restart of the server begins the grace of what was open, joined or not", async () => {
  const { world } = await begin();
  world.stopServer();
  await world.advance(10 * GRACE_MS);
  expect(await stateOf(world)).toEqual(UNDER_WAY);
  await world.startServer();
  await world.advance(GRACE_MS - 1);
  expect(await stateOf(world)).toEqual(UNDER_WAY);
  await world.advance(1);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
});

test("[S7] a writer that comes back in time after a restart goes on", async () => {
  const { world } = await begin();
  world.stopServer();
  await world.startServer();
  await world.advance(GRACE_MS - 1);
  const { client, ch } = await joinedAs(world, "ann");
  await world.advance(10 * GRACE_MS);
  client.send(append(ch, "a", 10, "!", { status: "complete" }));
  await world.settle();
  expect(await stateOf(world)).toEqual({ status: "complete", run: "active", text: "half of it!" });
});

test("[S7] restarts in the grace period put it off, and never for ever", async () => {
  const { world } = await begin();
  for (let times = 0; times < 3; times += 1) {
    world.stopServer();
    await world.startServer();
    await world.advance(GRACE_MS / 2);
  }
  await world.advance(GRACE_MS / 2);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
});

test("[S7] what is published after its writer left is given up too", async () => {
  const { world, client, ch } = await begin();
  client.send(publish(ch, { draft: streaming("b", { runId: "r" }) }));
  client.post(publish(ch, follow(null, streaming("c"))));
  client.send({ type: "leave", ch });
  await world.advance(GRACE_MS);
  const tree = await world.fold("s");
  for (const { entry } of tree.nodes()) expect(entry.status).not.toBe("streaming");
});

test("[S7] what nobody is known to hold is given up as well", async () => {
  const world = await createWorld({ graceMs: GRACE_MS });
  const records: LogRecord[] = [
    message(1, "x", { id: "a" as EntryId, status: "streaming" }),
    run(2, "r", "active"),
    { ...run(3, "q", "cancelling"), agent: "ann" as PrincipalId, writer: "gone" as WriterId },
    run(4, "waits", "requested"),
    run(5, "sleeps", "suspended"),
  ];
  await world.store.append("s" as SessionId, 0, records);
  world.stopServer();
  await world.startServer();
  await world.advance(GRACE_MS);
  expect((await world.fold("s")).get("a" as EntryId)?.entry.status).toBe("aborted");
  const { joined } = await joinedAs(world, "bob");
  expect(joined.runs.map(({ id, status }) => [id, status])).toEqual([
    ["waits", "requested"],
    ["sleeps", "suspended"],
  ]);
  expect((await world.records("s")).filter(({ kind }) => kind === "run").slice(4)).toMatchObject([
    { id: "r", status: "interrupted" },
    { id: "q", status: "cancelled" },
  ]);
});

test("[S7] an entry whose run another writer took over lives by that writer's lease", async () => {
  const world = await createWorld({ graceMs: GRACE_MS });
  const mine = (writer: string) => ({ agent: "ann" as PrincipalId, writer: writer as WriterId });
  await world.store.append("s" as SessionId, 0, [
    { ...run(1, "r", "active"), ...mine("w1") },
    message(2, "half of it", {
      id: "a" as EntryId,
      status: "streaming",
      runId: "r" as RunId,
      author: "ann" as PrincipalId,
      writer: "w1" as WriterId,
    }),
    { ...run(3, "r", "active"), ...mine("w2") },
  ]);
  const second = await joinedAs(world, "ann", { writer: "w2" });
  await world.advance(10 * GRACE_MS);
  expect(await stateOf(world)).toEqual(UNDER_WAY);
  second.client.close();
  await world.advance(GRACE_MS);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
});

test("[S7] each writer's lease is its own", async () => {
  const { world, client } = await begin();
  const other = await joinedAs(world, "bob");
  await other.client.ask(publish(other.ch, follow(null, streaming("b"))));
  client.close();
  await world.advance(GRACE_MS);
  expect(await stateOf(world)).toEqual(GIVEN_UP);
  expect((await world.fold("s")).get("b" as EntryId)?.entry.status).toBe("streaming");
});

test("[S7] a clock that is set back keeps nothing open, one that is set forward ends nothing", async () => {
  const { world, client } = await begin();
  world.clock.setWall(3_600_000);
  await world.advance(60_000);
  expect(client.closeCode).toBeNull();
  world.clock.setWall(-7_200_000);
  client.close();
  await world.advance(GRACE_MS + 1000);
  expect((await world.fold("s")).get("a" as EntryId)?.entry.status).toBe("aborted");
});
