/** Streams seen by readers and writers: drops, restarts, windows, and who hears of a token. */
import type { Client, Entry, EntryId, Session, StreamWriter, View, ViewEntry } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textOf, textsOf, type World } from "../kit/world.js";

let world: World;
let agent: Client;
let agentSession: Session;
let reader: Client;
let view: View;

beforeEach(async () => {
  world = await createWorld();
  agent = world.client("agent");
  agentSession = agent.session("s", { create: true });
  reader = world.client("ann");
  view = (await open(world, reader)).view;
});

const begin = async (after: EntryId | null = null): Promise<StreamWriter> => {
  const writer = agentSession.stream({}, { after });
  await world.settle();
  return writer;
};
const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const stored = async (): Promise<string[]> =>
  [...(await world.fold("s")).nodes()].map(({ entry }) => textOf(entry));
const lastText = (of: View): string => textsOf(of).at(-1) ?? "";

describe("streaming", () => {
  test("[S1] [S2] a message grows token by token and ends once", async () => {
    const writer = await begin();
    for (const token of ["Once ", "upon ", "a ", "time"]) {
      writer.append(token);
      await world.settle();
    }
    expect(lastText(view)).toBe("Once upon a time");
    expect(view.at(0)?.entry.status).toBe("streaming");
    const ended = writer.end("complete", { input: 3, output: 4 });
    await world.settle();
    expect(await ended).toMatchObject({ ok: true });
    expect(view.at(0)?.entry).toMatchObject({ status: "complete", size: 16, usage: { input: 3, output: 4 } });
  });

  test("[S2] a pair of surrogates split over two tokens arrives whole", async () => {
    const writer = await begin();
    writer.append("tree \\ud83c".replace("\\ud83c", "\ud83c"));
    await world.settle();
    writer.append("\udf33!");
    await world.settle();
    void writer.end();
    await world.settle();
    expect(lastText(view)).toBe("tree 🌳!");
    expect(view.at(0)?.entry.size).toBe(8);
  });

  test("[J1] case-S2: joining in mid-reply gives the text so far, then the rest, once", async () => {
    const writer = await begin();
    writer.append("so far");
    await world.settle();
    const late = (await open(world, world.client("late"))).view;
    expect(lastText(late)).toBe("so far");
    writer.append(" and on");
    await world.settle();
    expect(lastText(late)).toBe("so far and on");
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("[J3] case-S3, case-S4: drops on both sides, seed %i", async (seed) => {
    world = await createWorld({ seed });
    agent = world.client("agent");
    agentSession = agent.session("s", { create: true });
    view = (await open(world, world.client("ann"))).view;
    const runtime = world.clock.runtime(seed);
    const writer = await begin();
    let text = "";
    for (let index = 0; index < 60; index += 1) {
      const token = `t${index} `;
      text += token;
      writer.append(token);
      // Some of what is on its way is delivered, then the line breaks in the middle.
      const chance = runtime.random();
      if (chance < 0.3) await world.settle();
      if (chance > 0.8) drop(runtime.random() < 0.5 ? "agent" : "ann");
      if (chance > 0.6) await world.advance(runtime.random() * 2000);
    }
    void writer.end();
    await world.advance(20_000);
    expect(lastText(view)).toBe(text);
    expect(await stored()).toEqual([text]);
    expect(view.at(0)?.entry.status).toBe("complete");
  });

  test("[S7] case-S7: an agent that comes back in time goes on where it was", async () => {
    const writer = await begin();
    writer.append("before");
    await world.settle();
    world.network.isDown = true;
    drop("agent");
    writer.append(" between");
    await world.advance(20_000);
    world.network.isDown = false;
    await world.advance(9_000);
    writer.append(" after");
    await world.advance(1_000);
    expect(lastText(view)).toBe("before between after");
    expect(view.at(0)?.entry.status).toBe("streaming");
  });

  test("[S7] case-S6: an agent that stays away leaves an aborted message with its text", async () => {
    const writer = await begin();
    writer.append("half");
    await world.settle();
    agent.close();
    await world.advance(29_000);
    expect(view.at(0)?.entry.status).toBe("streaming");
    await world.advance(2_000);
    expect(view.at(0)?.entry.status).toBe("aborted");
    expect(lastText(view)).toBe("half");
    expect(await stored()).toEqual(["half"]);
  });

  test("[S9] case-S9: an append after the end is refused, and the loop goes on", async () => {
    const writer = await begin();
    writer.append("all");
    void writer.end();
    await world.settle();
    expect(() => writer.append(" more")).not.toThrow();
    await world.settle();
    expect(await stored()).toEqual(["all"]);
    expect(view.at(0)?.entry.status).toBe("complete");
  });

  test("[S9] a writer whose publish is refused keeps its first failure and throws nothing", async () => {
    const writer = agentSession.stream({}, { after: "nowhere" as EntryId });
    writer.append("lost");
    await world.settle();
    writer.append(" more");
    const ended = writer.end();
    await world.settle();
    expect(writer.error).toMatchObject({ code: "unknown_parent" });
    expect(await ended).toMatchObject({ ok: false, error: { code: "unknown_parent" } });
  });

  test("[S8] case-S10: a message that is held over two tokens does not change", async () => {
    const writer = await begin();
    writer.append("one");
    await world.settle();
    const held = view.at(0) as ViewEntry;
    const { parts } = held.entry as Extract<Entry, { type: "message" }>;
    writer.append(" two");
    await world.settle();
    writer.append(" three");
    await world.settle();
    expect(textOf(held.entry)).toBe("one");
    expect(parts).toEqual([{ type: "text", text: "one" }]);
    expect(Object.isFrozen(held.entry)).toBe(true);
    expect(view.at(0)).not.toBe(held);
  });

  test("[V10] case-S11: a token on a branch that is not shown wakes nobody", async () => {
    const [prompt] = await say(world, view, "prompt");
    const writer = await begin(prompt as EntryId);
    writer.append("answer");
    await world.settle();
    view.branch(prompt as EntryId);
    const heard: unknown[] = [];
    view.subscribe((change) => heard.push(change));
    view.subscribeEntry(writer.id, () => heard.push("entry"));
    writer.append(" goes on");
    await world.settle();
    expect(heard).toEqual([]);
    expect(textsOf(view)).toEqual(["prompt"]);
    view.follow();
    await world.settle();
    expect(lastText(view)).toBe("answer goes on");
  });

  test("[V10] a token on the shown branch changes one entry and tells of that one alone", async () => {
    const [prompt] = await say(world, view, "prompt");
    const writer = await begin(prompt as EntryId);
    writer.append("a");
    await world.settle();
    const shownPrompt = view.at(0);
    const snapshot = view.snapshot;
    const heard: unknown[] = [];
    view.subscribe((change) => heard.push(change));
    view.subscribeEntry(prompt as EntryId, () => heard.push("prompt"));
    writer.append("b");
    await world.settle();
    expect(heard).toEqual([{ type: "entry", id: writer.id }]);
    expect(view.at(0)).toBe(shownPrompt);
    expect(view.snapshot).toBe(snapshot);
  });

  test("[J1] a streaming reply on another branch is there, whole, when that branch is chosen", async () => {
    const [prompt] = await say(world, view, "prompt", "old answer");
    const writer = agentSession.stream({}, { under: prompt as EntryId });
    writer.append("streamed");
    await world.settle();
    const late = world.client("late").session("s", { view: { state: view.state() } }).view;
    await world.settle();
    expect(textsOf(late)).toEqual(["prompt", "old answer"]);
    writer.append(" unseen");
    await world.settle();
    late.step(late.at(1)?.id as EntryId, 1);
    expect(late.snapshot.isLoading).toBe(true);
    await world.settle();
    expect(late.snapshot.isLoading).toBe(false);
    expect(textsOf(late)).toEqual(["prompt", "streamed unseen"]);
    writer.append(" seen");
    await world.settle();
    expect(lastText(late)).toBe("streamed unseen seen");
  });

  test("case-S8: the server is killed in mid-reply and started again", async () => {
    const writer = await begin();
    writer.append("before ");
    await world.settle();
    writer.append("unsent ");
    world.stopServer();
    writer.append("while away ");
    await world.advance(3_000);
    await world.startServer();
    await world.advance(10_000);
    writer.append("after");
    void writer.end();
    await world.settle();
    expect(lastText(view)).toBe("before unsent while away after");
    expect(await stored()).toEqual(["before unsent while away after"]);
  });

  test("[J2] case-J3: a long absence is a reset, a short one a tail; both end at the same line", async () => {
    const [prompt] = await say(world, view, "prompt");
    const joins: string[] = [];
    const modes = () =>
      world.network.log
        .filter(({ to, owner, text }) => to === "client" && owner === "ann" && text.includes('"joined"'))
        .map(({ text }) => (JSON.parse(text) as { mode: string }).mode);
    const other = (await open(world, world.client("bob"))).view;
    world.network.isDown = true;
    drop("ann");
    await say(world, other, "short");
    world.network.isDown = false;
    await world.advance(5_000);
    joins.push(modes().at(-1) as string);
    expect(textsOf(view)).toEqual(["prompt", "short"]);
    world.network.isDown = true;
    drop("ann");
    const writer = agentSession.stream({}, { under: prompt as EntryId });
    for (let index = 0; index < 12_000; index += 1) {
      writer.append("x");
      if (index % 8 === 0) await world.settle();
    }
    for (let index = 0; index < 12; index += 1) await say(world, other, "y".repeat(100_000));
    world.network.isDown = false;
    await world.advance(60_000);
    joins.push(modes().at(-1) as string);
    expect(joins).toEqual(["tail", "reset"]);
    // The window ends at 256 KiB, as a stated boundary; beyond it everything can be loaded.
    expect(view.snapshot).toMatchObject({ length: 2, hasOlder: true });
    const searched = view.loadUntil(({ id }) => id === prompt);
    await world.settle();
    expect((await searched)?.id).toBe(prompt);
    expect(view.snapshot).toMatchObject({ length: 14, hasOlder: false });
  });
});
