/** What one can go back past, and going there; and what else is read of a shown line. */
import type { Client, EntryId, PrincipalId, Prompt, Session, View } from "@espalier/client";
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
});

const settle = () => world.settle();
const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const reply = async (text: string): Promise<void> => {
  view.send({ type: "message", role: "assistant", parts: [{ type: "text", text }] });
  await settle();
};
const prompts = async (of: View, limit?: number): Promise<readonly Prompt[]> => {
  const found = of.prompts(limit === undefined ? {} : { limit });
  await settle();
  return found;
};
const textsIn = (found: readonly Prompt[]): string[] => found.map(({ text }) => text);
const rewind = async (of: View, id: string) => {
  const done = of.rewind(id as EntryId);
  await settle();
  return done;
};

describe("[V5] prompts", () => {
  test("are the user's messages of the shown line, newest first, by what was typed", async () => {
    await say(world, view, "one");
    await reply("answer");
    view.send([
      { type: "text", text: "two, " },
      { type: "file", mediaType: "image/png", url: "https://example.org/a.png" },
      { type: "text", text: "with a picture" },
    ]);
    await settle();
    view.send({ type: "message", role: "user", audience: "model", parts: [{ type: "text", text: "hint" }] });
    await settle();
    const found = await prompts(view);
    expect(textsIn(found)).toEqual(["two, with a picture", "one"]);
    expect(found[0]?.parts).toHaveLength(3);
    expect(found[0]?.time).toBe(world.clock.now);
    view.edit(view.at(0)?.id as EntryId, "other one");
    expect(textsIn(await prompts(view))).toEqual(["other one"]);
  });

  test("older ones are loaded, and what is shown stays as it is", async () => {
    for (let index = 0; index < 700; index += 1) view.send(`m${index}`);
    await settle();
    const bob = (await open(world, world.client("bob"))).view;
    const shown = bob.snapshot;
    const changes: string[] = [];
    bob.subscribe(({ type }) => changes.push(type));
    expect(textsIn(await prompts(bob, 3))).toEqual(["m699", "m698", "m697"]);
    const all = await prompts(bob, 10_000);
    expect(all).toHaveLength(700);
    expect(textsIn(all).at(-1)).toBe("m0");
    expect(bob.snapshot).toBe(shown);
    expect(changes).toEqual([]);
    const more = bob.loadOlder(10);
    await settle();
    expect(await more).toBe(10);
    expect(bob.snapshot.length).toBe(60);
  });

  test("are found over a connection that drops in between", async () => {
    for (let index = 0; index < 500; index += 1) view.send(`m${index}`);
    await settle();
    const bob = (await open(world, world.client("bob"))).view;
    const found = bob.prompts({ limit: 1000 });
    drop("bob");
    await world.advance(60_000);
    expect(await found).toHaveLength(500);
  });
});

describe("[V5] rewind", () => {
  test("goes to before the prompt, is held there, and gives what was typed", async () => {
    await say(world, view, "one", "two", "three");
    const moves: unknown[] = [];
    view.subscribe((change) => void (change.type === "line" && moves.push([change.from, change.to])));
    const [, second, first] = view
      .getMessages()
      .map(({ id }) => id)
      .reverse() as EntryId[];
    const leaf = view.snapshot.leafId;
    expect(await rewind(view, second as string)).toMatchObject({ id: second, text: "two" });
    expect(textsOf(view)).toEqual(["one"]);
    expect(view.snapshot.isHeld).toBe(true);
    expect(moves).toEqual([[leaf, first]]);
    await say(world, view, "two again");
    expect(textsOf(view)).toEqual(["one", "two again"]);
    expect(view.branchInfo(view.at(1)?.id as EntryId)).toMatchObject({ index: 1, total: 2 });
    // The line that was left is still there.
    view.branch(leaf);
    expect(textsOf(view)).toEqual(["one", "two", "three"]);
  });

  test("[F6] past the first prompt it is before the first entry", async () => {
    const [id] = await say(world, view, "one", "two");
    expect(await rewind(view, id as string)).toMatchObject({ text: "one" });
    expect(view.snapshot).toMatchObject({ leafId: null, length: 0 });
    await say(world, view, "begun again");
    expect(textsOf(view)).toEqual(["begun again"]);
    expect(view.branchInfo(view.at(0)?.id as EntryId)).toMatchObject({ index: 1, total: 2 });
  });

  test("past one that is not shown, it is loaded first", async () => {
    const [id] = await say(world, view, "one", ...Array.from({ length: 60 }, (_, index) => `m${index}`));
    const bob = (await open(world, world.client("bob"))).view;
    expect(bob.get(id as EntryId)).toBeUndefined();
    expect(await rewind(bob, id as string)).toMatchObject({ text: "one" });
    expect(bob.snapshot.leafId).toBeNull();
  });

  test("past one that is pending, it stays away when the log has it", async () => {
    await say(world, view, "one");
    world.network.isDown = true;
    drop("ann");
    await settle();
    const { id } = view.send("unsent");
    expect(await rewind(view, id)).toMatchObject({ text: "unsent" });
    expect(textsOf(view)).toEqual(["one"]);
    world.network.isDown = false;
    await world.advance(60_000);
    expect(textsOf(view)).toEqual(["one"]);
    expect(view.snapshot.isHeld).toBe(true);
  });

  test("what is no prompt is refused, and so is what does not exist", async () => {
    await say(world, view, "one");
    await reply("answer");
    const answer = view.snapshot.leafId as string;
    expect(await rewind(view, answer)).toMatchObject({ code: "invalid" });
    expect(await rewind(view, "nowhere")).toMatchObject({ code: "not_found" });
    expect(view.snapshot.leafId).toBe(answer);
  });

  test("[V3] a later act cancels one that still loads", async () => {
    const [id] = await say(world, view, "one", ...Array.from({ length: 60 }, (_, index) => `m${index}`));
    const bob = (await open(world, world.client("bob"))).view;
    const done = bob.rewind(id as EntryId);
    bob.branch(bob.at(5)?.id as EntryId);
    await settle();
    expect(await done).toMatchObject({ code: "cancelled" });
    expect(bob.snapshot.length).toBe(6);
  });
});

describe("what is read of a shown line", () => {
  test("[C1] the transcript is without what is for the model alone; the last message is one of it", async () => {
    await say(world, view, "one");
    view.send({ type: "custom", name: "note", data: 1 });
    view.send({ type: "message", role: "user", audience: "model", parts: [{ type: "text", text: "hint" }] });
    await settle();
    expect(view.transcript().map(({ entry }) => entry.type)).toEqual(["message", "custom"]);
    expect(view.lastMessage()?.id).toBe(view.at(0)?.id);
    view.send("pending");
    expect(view.lastMessage()).toMatchObject({ state: "pending" });
    expect(view.transcript()).toHaveLength(3);
    view.branch(null);
    expect(view.lastMessage()).toBeUndefined();
  });

  test("[C10] the context of what is loaded is made here, with its pending end; an edit is stored nowhere", async () => {
    await say(world, view, "one");
    await reply("answer");
    view.send("pending");
    const texts = async (options = {}) => {
      const messages = await view.context(options);
      if ("code" in messages) throw new Error(messages.message);
      return messages.map(({ role, parts }) => [
        role,
        ...parts.map((part) => ("text" in part ? part.text : "")),
      ]);
    };
    expect(await texts()).toEqual([
      ["user", "one"],
      ["assistant", "answer"],
      ["user", "pending"],
    ]);
    expect(
      await texts({ edit: (message: { role: string }) => (message.role === "user" ? null : message) }),
    ).toEqual([["assistant", "answer"]]);
    expect(textsOf(view)[0]).toBe("one");
  });

  test("[C10] what was refused is not read by the model", async () => {
    world = await createWorld({
      authenticate: ({ token }) => ({
        id: token as PrincipalId,
        may: (act) => token === "ann" || act !== "write",
      }),
    });
    const { session } = await open(world, world.client("ann"));
    await say(world, session.view, "one");
    const bob = (await open(world, world.client("bob"))).view;
    await say(world, bob, "refused");
    expect(textsOf(bob)).toEqual(["one", "refused (failed)"]);
    const messages = bob.context();
    await settle();
    expect(await messages).toMatchObject([{ parts: [{ text: "one" }] }]);
  });

  test("[C6] [C7] settings and the state of a tool call are those of the line", async () => {
    view.send({ type: "model-change", provider: "acme", modelId: "small" });
    view.send({ type: "option-change", option: "effort", value: "high" });
    const { id } = view.send({
      type: "message",
      role: "assistant",
      parts: [{ type: "tool-call", callId: "c1", name: "look", input: "{}", state: "running" }],
    });
    await settle();
    const call = id as EntryId;
    expect(view.toolState(call, "c1")).toEqual({ state: "running" });
    view.send({ type: "message", role: "tool", parts: [{ type: "tool-result", callId: "c1", output: 7 }] });
    expect(view.toolState(call, "c1")).toEqual({ state: "done", output: 7 });
    expect(session.toolState(call, "c1")).toEqual({ state: "running" });
    await settle();
    expect(session.toolState(call, "c1")).toEqual({ state: "done", output: 7 });
    expect(session.toolState(call, "c1", call)).toEqual({ state: "running" });
    expect(view.toolState(call, "other")).toBeNull();
    expect(await session.settings(view.snapshot.leafId as EntryId)).toEqual({
      provider: "acme",
      modelId: "small",
      options: { effort: "high" },
    });
  });
});

test("a session that cannot be joined answers what is asked of its view", async () => {
  const none = ann.session("none").view;
  const work = [none.prompts(), none.context(), none.fork(), none.saveBranch("x")];
  await settle();
  const refused = { code: "not_found" };
  expect(await Promise.all(work)).toMatchObject([[], refused, refused, refused]);
});

test("the revision rises with each change, and with nothing else", async () => {
  expect([session.revision, session.lastChangedAt]).toEqual([0, null]);
  await say(world, view, "one");
  const { revision } = session;
  expect(session.lastChangedAt).toBe(world.clock.now);
  expect(session.createdAt).toBe(world.clock.now);
  await world.advance(1000);
  void session.setRegister("title", "T");
  await settle();
  expect(session.revision).toBeGreaterThan(revision);
  expect(session.lastChangedAt).toBe(world.clock.now);
  const after = session.revision;
  await world.advance(1000);
  void session.setRegister("title", "T");
  view.branch(null);
  await settle();
  expect(session.revision).toBe(after);
  const bob = (await open(world, world.client("bob"))).session;
  expect([bob.revision, bob.lastChangedAt, bob.createdAt, bob.origin, bob.inheritedSeq]).toEqual([
    after,
    session.lastChangedAt,
    session.createdAt,
    null,
    0,
  ]);
});
