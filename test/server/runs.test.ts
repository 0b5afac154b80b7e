/** Runs as far as one writer and the server settle them: claimed once, placed, ended. */
import type { PrincipalId, SessionId, WriterId } from "@espalier/shared";
import { expect, test } from "vitest";
import { at, expectType, follow, joinedAs, publish, publishWithRun, say, streaming } from "../kit/raw.js";
import { createWorld } from "../kit/world.js";
import { run } from "./store/records.js";

const request = { id: "r", place: { after: "p" } };

const begin = async () => {
  const world = await createWorld({
    authenticate: ({ token }) => ({ id: token as PrincipalId, admin: token === "root" }),
  });
  const ann = await joinedAs(world, "ann");
  await ann.client.ask(publishWithRun(ann.ch, request, follow(null, say("p"))));
  return { world, ...ann };
};

test("[R1] case-R5 two workers claim one run in one turn: one gets it", async () => {
  const { world, ch } = await begin();
  const one = await joinedAs(world, "one");
  const two = await joinedAs(world, "two");
  const n = [
    one.client.post({ type: "claim", ch, id: "r" }),
    two.client.post({ type: "claim", ch, id: "r" }),
  ];
  await world.settle();
  expect(one.client.answer(n[0] as number)).toMatchObject({
    run: { status: "active", agent: "one", writer: "one" },
  });
  expect(two.client.answer(n[1] as number)).toMatchObject({ error: { code: "conflict" } });
});

test("[R1] a claim is of a principal and its writer; the name of another's writer is no claim", async () => {
  const { world, client, ch } = await begin();
  await client.ask({ type: "claim", ch, id: "r" });
  const eve = await joinedAs(world, "eve", { writer: "ann" });
  expect(await eve.client.ask({ type: "claim", ch, id: "r" })).toMatchObject({ error: { code: "conflict" } });
  expect(await eve.client.ask({ type: "end", ch, id: "r", status: "done" })).toMatchObject({
    error: { code: "forbidden" },
  });
  const draft = say("x", "x", { runId: "r" });
  for (const item of [{ draft }, follow("p", draft)])
    expect(await eve.client.ask(publish(ch, item))).toMatchObject({ error: { code: "forbidden" } });
  expectType(await client.ask({ type: "end", ch, id: "r", status: "done" }), "ack");
});

test("[R1] a run's first entry goes where the run says, each next one after its last", async () => {
  const { client, ch, world } = await begin();
  await client.ask(publish(ch, at({ under: "p" }, say("other"))));
  await client.ask({ type: "claim", ch, id: "r" });
  const place = async (...ids: string[]) =>
    expectType(
      await client.ask(publish(ch, ...ids.map((id) => ({ draft: say(id, id, { runId: "r" }) })))),
      "ack",
    ).entries.map(({ parentId }) => parentId);
  expect(await place("a", "b")).toEqual(["other", "a"]);
  await client.ask(publish(ch, at({ under: "p" }, say("newer"))));
  expect(await place("c")).toEqual(["b"]);
  world.stopServer();
  await world.startServer();
  const again = await joinedAs(world, "ann");
  const ack = await again.client.ask(publish(again.ch, { draft: say("d", "d", { runId: "r" }) }));
  expect(ack).toMatchObject({ entries: [{ parentId: "c" }] });
});

test("[R1] nothing is written for a run that nobody holds, or that is not there", async () => {
  const { client, ch } = await begin();
  for (const [runId, code] of [
    ["r", "forbidden"],
    ["nowhere", "not_found"],
  ])
    for (const item of [{ draft: streaming("a", { runId }) }, follow("p", streaming("a", { runId }))])
      expect(await client.ask(publish(ch, item))).toMatchObject({ error: { code } });
});

test("[R1] a run asks for a place and an input that are there", async () => {
  const { client, ch } = await begin();
  for (const wrong of [
    { id: "q", place: { after: "nowhere" } },
    { id: "q", place: { under: "nowhere" } },
    { id: "q", place: { forkOf: "nowhere" } },
    { id: "q", place: { regenerate: "nowhere" } },
    { id: "q", place: { after: "p" }, inputId: "nowhere" },
  ]) {
    const refused = await client.ask(publishWithRun(ch, wrong, follow("p", say("x"))));
    expect(refused).toMatchObject({ error: { code: "unknown_parent" } });
  }
});

test("[R1] no run is there, or another writer holds it", async () => {
  const { world, client, ch } = await begin();
  for (const command of [{ type: "claim" }, { type: "end", status: "done" }])
    expect(await client.ask({ ...command, ch, id: "nowhere" })).toMatchObject({
      error: { code: "not_found" },
    });
  expect(await client.ask({ type: "end", ch, id: "r", status: "done" })).toMatchObject({
    error: { code: "forbidden" },
  });
  const root = await joinedAs(world, "root");
  // Not even an admin ends as done what never began; as failed it can be ended.
  expect(await root.client.ask({ type: "end", ch, id: "r", status: "done" })).toMatchObject({
    error: { code: "conflict" },
  });
  expect(await root.client.ask({ type: "end", ch, id: "r", status: "failed" })).toMatchObject({
    run: { status: "failed" },
  });
});

test("[R1] an end that was carried out is not carried out as another", async () => {
  const { client, ch } = await begin();
  await client.ask({ type: "claim", ch, id: "r" });
  const error = { code: "internal", message: "it broke" };
  const usage = { input: 1, output: 2, costUsd: 0.25 };
  expect(await client.ask({ type: "end", ch, id: "r", status: "failed", error, usage })).toMatchObject({
    run: { status: "failed", error, usage },
  });
  expect(await client.ask({ type: "end", ch, id: "r", status: "done" })).toMatchObject({
    error: { code: "closed" },
  });
});

test("[R2] a `done` that comes while the run is being cancelled counts as cancelled", async () => {
  const { world } = await begin();
  const held = { agent: "ann" as PrincipalId, writer: "ann" as WriterId };
  await world.store.append("t" as SessionId, 0, [
    { ...run(1, "c", "requested"), ...held },
    { ...run(2, "c", "active"), ...held },
    { ...run(3, "c", "cancelling"), ...held },
  ]);
  const { client, ch } = await joinedAs(world, "ann", { session: "t" });
  for (let times = 0; times < 2; times += 1)
    expect(await client.ask({ type: "end", ch, id: "c", status: "done" })).toMatchObject({
      run: { status: "cancelled" },
    });
});

test("[R1] a run that is asked for alone answers the entry that it writes below, unless it names another", async () => {
  const { client, ch } = await begin();
  await client.ask(
    publish(ch, at({ after: "p" }, say("a", "a", { role: "assistant" })), at({ after: "a" }, say("q"))),
  );
  const inputOf = async (id: string, place: object, more: object = {}) => {
    const answer = await client.ask(publishWithRun(ch, { id, place, ...more }));
    return (answer as { run?: { inputId: string | null } }).run?.inputId;
  };
  expect(await inputOf("r1", { under: "p" })).toBe("p");
  expect(await inputOf("r2", { after: "q" })).toBe("q");
  expect(await inputOf("r3", { forkOf: "q" })).toBe("a");
  expect(await inputOf("r4", { under: null })).toBeNull();
  expect(await inputOf("r5", { under: "a" }, { inputId: "p" })).toBe("p");
  expect(await inputOf("r6", { regenerate: "a" })).toBe("p");
});

test("[L4] a run's id holds one request: another place, input, options or author under it is refused", async () => {
  const { world, client, ch } = await begin();
  const request = { id: "r9", place: { after: "p" }, inputId: "p", options: { model: "m" } };
  const first = await client.ask(publishWithRun(ch, request));
  expect(await client.ask(publishWithRun(ch, request))).toEqual({ ...first, n: expect.any(Number) });
  const conflict = { error: { code: "conflict" } };
  expect(await client.ask(publishWithRun(ch, { ...request, place: { under: "p" } }))).toMatchObject(conflict);
  expect(await client.ask(publishWithRun(ch, { ...request, options: {} }))).toMatchObject(conflict);
  const bob = await joinedAs(world, "bob");
  expect(await bob.client.ask(publishWithRun(bob.ch, request))).toMatchObject(conflict);
});
