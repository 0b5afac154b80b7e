/** A subagent's own log under its session (F5). */
import {
  type Client,
  type EntryId,
  type HeldRun,
  type RunId,
  type Session,
  serveRuns,
} from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, textsOf, type World } from "../kit/world.js";

let world: World;
let ann: Client;
let session: Session;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  ({ session } = await open(world, ann));
});

const settle = () => world.settle();
const CALL = { type: "tool-call", callId: "c1", name: "ask", input: "{}", state: "running" } as const;
const sendCall = async (): Promise<EntryId> => {
  const { id } = session.view.send({ type: "message", role: "assistant", parts: [CALL] });
  await settle();
  return id as EntryId;
};

describe("[F5] a sidechain", () => {
  test("has a log of its own, and knows the tool call that began it", async () => {
    const entryId = await sendCall();
    const chain = session.sidechain("scout", { entryId, callId: "c1" });
    chain.view.send("Look around.");
    await settle();
    expect(chain.id).toBe("s/scout");
    expect(chain.origin).toEqual({ session: "s", entry: entryId, callId: "c1" });
    expect(textsOf(chain.view)).toEqual(["Look around."]);
    expect(session.view.snapshot.length).toBe(1);
    const { session: seen } = await open(world, world.client("bob"), "s/scout");
    expect(textsOf(seen.view)).toEqual(["Look around."]);
    expect(seen.origin).toEqual(chain.origin);
    expect(session.sidechain("scout", { entryId, callId: "c1" })).toBe(chain);
  });

  test("begins from within another one, flat under the same session", async () => {
    const entryId = await sendCall();
    const outer = session.sidechain("outer", { entryId, callId: "c1" });
    const { id } = outer.view.send({ type: "message", role: "assistant", parts: [CALL] });
    await settle();
    const inner = outer.sidechain("inner", { entryId: id as EntryId, callId: "c1" });
    inner.view.send("deeper");
    await settle();
    expect(inner.id).toBe("s/inner");
    expect(inner.origin).toMatchObject({ session: "s/outer", entry: id });
    const listed = session.sidechains();
    await settle();
    const page = await listed;
    expect("code" in page ? page : page.sessions.map((chain) => chain.id).sort()).toEqual([
      "s/inner",
      "s/outer",
    ]);
    const all = ann.list();
    await settle();
    const top = await all;
    expect("code" in top ? top : top.sessions.map(({ id, sidechains }) => [id, sidechains])).toEqual([
      ["s", 2],
    ]);
  });

  test("[O3] begun while there is no connection, it begins when there is one", async () => {
    world.network.isDown = true;
    for (const pair of [...world.network.pairs]) pair.break();
    await settle();
    const { id } = session.view.send({ type: "message", role: "assistant", parts: [CALL] });
    const chain = session.sidechain("scout", { entryId: id as EntryId, callId: "c1" });
    const sent = chain.view.send("Look around.");
    world.network.isDown = false;
    await world.advance(60_000);
    expect(await sent.settled).toMatchObject({ ok: true });
    expect(chain.origin).toEqual({ session: "s", entry: id, callId: "c1" });
    expect((await world.fold("s")).size).toBe(1);
  });

  test("[C9] is opened by a run, and what it uses is its own", async () => {
    const seen: unknown[] = [];
    const stop = serveRuns(world.client("agent"), async (run: HeldRun) => {
      const message = run.stream();
      message.push(CALL);
      const chain = run.sidechain("scout", { entryId: message.id, callId: "c1" });
      const sent = chain.view.send({
        type: "message",
        role: "assistant",
        parts: [{ type: "text", text: "found it" }],
        usage: { input: 100, output: 7 },
      });
      seen.push((await sent.settled).ok);
      message.set(0, { state: "done", output: "found it" });
      await message.end("complete", { input: 3, output: 2 });
    });
    const { runId } = session.view.send("Find it.", { run: true });
    await settle();
    await settle();
    expect(seen).toEqual([true]);
    const chain = ann.session("s/scout");
    const work = [session.usage(), session.usage({ run: runId as RunId }), chain.usage()];
    await settle();
    expect(await Promise.all(work)).toMatchObject([
      { input: 3, output: 2 },
      { input: 3, output: 2 },
      { input: 100, output: 7 },
    ]);
    stop();
  });

  test("an agent's id that is none is thrown back", () => {
    expect(() => session.sidechain("no id!", { entryId: "e" as EntryId })).toThrow(/agent's id/);
  });
});
