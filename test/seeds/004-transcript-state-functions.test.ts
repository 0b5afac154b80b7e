/**
 * The state of a transcript, continued from `004-transcript-state.test.ts`: what one can do to it, and ask it. The
 * claims in order, and the tests that prove them:
 *
 *  9  adds what a turn used                                         [C9] what a turn …
 * 10  appends one message under a new id                            [L3] one message …
 * 11  appends several, an id each                                   [L7]
 * 12  a stream's tail, of thinking or of text, grows by whole
 *     batches of chunks, or is replaced                             [S6] [S2] a tail …
 * 13  makes a branch of what is there, and goes back                [V5] a branch …
 * 14  tells the branches, which do not change                       [G1] branches …
 * 15  comes back as it was                                          [D1] in `004-transcript-state.test.ts`
 * 16  collapses all thinking                                        [G1] in `004-transcript-state-marks.test.ts`
 * 17  compacts to the entries that are named                        [C2] in `004-transcript-state.test.ts`
 * 18  tells when it was changed last, and is told the time          [L1] when …
 * 19  tells the last message, or that there is none                 [C1]
 * 20  tells the messages in order, and with their ids               [V1] in `004-transcript-state.test.ts`
 * 21  begins from messages, with fresh ids                          [L7] a session …
 * 22  begins a new logical session                                  [F8]
 * 23  tells its revision                                            [L1] the revision …
 * 24  goes to a branch by its place, and renumbers nothing          [V5] one goes …
 * 25  changes every message, keeping ids and order                  [C10]
 * 26  changes the message at a place, keeping its id                [P2] [S2] the message …
 * 27  changes a call of a tool, keeping its id                      [S2] a call …, [C6]
 * 28  tells all that was used                                       [C9] all …
 * 29  toggles pins and collapsed entries                            in `004-transcript-state-marks.test.ts`
 */
import { type Client, type EntryId, type Session, serveRuns, type View } from "@espalier/client";
import type { Part, Usage } from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
import { readTexts } from "../client/summaries.js";
import { open, say, textsOf, type World } from "../kit/world.js";
import {
  answer,
  createStage,
  entriesOf,
  granted,
  idOf,
  pathIn,
  placeOf,
  settled,
  toolCall,
  toolResult,
} from "./kit.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;

beforeEach(async () => {
  ({ world, ann, session, view } = await createStage());
});

const text = (said: string): Part[] => [{ type: "text", text: said }];
const spent = (input: number, output: number, model?: string): Usage => ({
  input,
  output,
  ...(model === undefined ? {} : { model }),
});
const usageOf = async (of?: Parameters<Session["usage"]>[0]) =>
  granted(await settled(world, session.usage(of)));

describe("usage", () => {
  test("[C9] what a turn used is added, once, however it is said (9)", async () => {
    expect(await usageOf()).toMatchObject({ input: 0, output: 0 });
    await answer(world, view, "one", { usage: spent(10, 1) });
    expect(await usageOf()).toMatchObject({ input: 10, output: 1 });
    serveRuns(world.client("agent"), async (run) => {
      const message = run.stream();
      message.append("two");
      await message.end("complete", spent(20, 2));
      await run.end("done", { usage: spent(20, 2) });
    });
    await world.settle();
    const { runId } = view.send("ask", { run: true });
    await world.settle();
    expect(await usageOf()).toMatchObject({ input: 30, output: 3 });
    expect(await usageOf({ run: runId as NonNullable<typeof runId> })).toMatchObject({
      input: 20,
      output: 2,
    });
  });

  test("[C9] all that was used is told, by model, for the session and for a line of it (28)", async () => {
    await answer(world, view, "one", { usage: spent(10, 1, "elm-2") });
    const leaf = view.snapshot.leafId as EntryId;
    await answer(world, view, "two", { usage: spent(5, 1, "oak-1") });
    view.branch(leaf);
    await answer(world, view, "other two", { usage: spent(100, 7, "elm-2") });
    expect(await usageOf()).toMatchObject({
      input: 115,
      output: 9,
      byModel: { "elm-2": { input: 110, output: 8 }, "oak-1": { input: 5, output: 1 } },
    });
    expect(await usageOf({ leaf: view.snapshot.leafId as EntryId })).toMatchObject({ input: 110, output: 8 });
  });
});

describe("appending", () => {
  test("[L3] one message is appended under an id of its own, behind what was there (10)", async () => {
    const before = await say(world, view, "one", "two");
    const { id } = view.send("three");
    await world.settle();
    expect(view.snapshot.ids).toEqual([...before, id]);
    expect(before).not.toContain(id);
  });

  test("[L7] several are appended in one step, each under its own id, or none of them (11)", async () => {
    await say(world, view, "zero");
    const items = ["one", "two", "three"].map((said) => ({
      draft: {
        id: ann.newId() as EntryId,
        type: "message" as const,
        role: "user" as const,
        parts: text(said),
      },
      place: { after: view.snapshot.leafId },
    }));
    expect(await settled(world, session.publish(items))).toMatchObject({ ok: true });
    expect(textsOf(view)).toEqual(["zero", "one", "two", "three"]);
    expect(view.snapshot.ids.slice(1)).toEqual(items.map(({ draft }) => draft.id));
    const revision = session.revision;
    const [first] = items as [(typeof items)[number]];
    const bad = [
      { ...first, draft: { ...first.draft, id: ann.newId() as EntryId } },
      { draft: { ...first.draft, id: ann.newId() as EntryId }, place: { under: "nowhere" as EntryId } },
    ];
    expect(await settled(world, session.publish(bad))).toMatchObject({ ok: false });
    expect([session.revision, view.snapshot.length]).toEqual([revision, 4]);
  });

  test("[S6] a tail grows by a whole batch of chunks in one step, of thinking and then of text (12)", async () => {
    await say(world, view, "ask");
    const stream = session.stream({}, { after: view.snapshot.leafId });
    stream.push({ type: "thinking", text: "" });
    await world.settle();
    const before = await world.records("s");
    let told = 0;
    view.subscribeEntry(stream.id, () => {
      told += 1;
    });
    const chunks = Array.from({ length: 100 }, (_, index) => `${index} `);
    for (const chunk of chunks) stream.append(chunk);
    await world.settle();
    // The first goes out at once, the others together.
    expect((await world.records("s")).length - before.length).toBeLessThanOrEqual(2);
    expect(told).toBeLessThanOrEqual(2);
    stream.push({ type: "text", text: "" });
    for (const chunk of ["an ", "answer"]) stream.append(chunk);
    await settled(world, stream.end());
    expect(view.get(stream.id)?.entry).toMatchObject({
      id: stream.id,
      status: "complete",
      parts: [
        { type: "thinking", text: chunks.join("") },
        { type: "text", text: "an answer" },
      ],
    });
    expect(view.snapshot.length).toBe(2);
  });

  test("[S2] a tail can be replaced, and is still the same message (12)", async () => {
    const stream = session.stream({}, { after: null });
    stream.append("a first try");
    await world.settle();
    stream.set(0, { text: "better" });
    stream.append(" said");
    await settled(world, stream.end());
    expect(view.snapshot.ids).toEqual([stream.id]);
    expect(textsOf(view)).toEqual(["better said"]);
  });
});

describe("branches", () => {
  test("[V5] a branch is made of what is there, by name, and the view goes back (13)", async () => {
    const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
    await world.advance(1000);
    expect(await settled(world, view.saveBranch("first try"))).toBeNull();
    view.branch(ids[0] as EntryId);
    expect(textsOf(view)).toEqual(["one"]);
    expect(session.marks.branches.list()).toEqual([{ name: "first try", leafId: ids[2] }]);
    const records = await world.records("s");
    const named = records.find((record) => record.kind === "register");
    expect(named).toMatchObject({ key: "branch:first try", value: ids[2], time: world.clock.now });
    expect(session.marks.branches.timeOf("first try")).toBe(world.clock.now);
    // What cannot be: there is nothing before the first entry that a name could stand on.
    view.branch(null);
    expect(await view.saveBranch("nothing")).toMatchObject({ code: "invalid" });
  });

  test("[G1] branches are told, and what comes later does not change them (14)", async () => {
    const [one, two] = (await say(world, view, "one", "two")) as [EntryId, EntryId];
    await settled(world, view.saveBranch("first"));
    const list = session.marks.branches.list();
    const line = await pathIn(world, two);
    await say(world, view, "three");
    view.edit(one, "other one");
    await settled(world, session.reset());
    expect(session.marks.branches.list()).toBe(list);
    expect(await pathIn(world, list[0]?.leafId as EntryId)).toEqual(line);
    const bob = (await open(world, world.client("bob"))).session;
    expect(bob.marks.branches.list()).toEqual(list);
  });

  // One can count them; but a name goes on meaning the same when others come and go.
  test("[V5] one goes to a branch by its name, or its place in the list; no id changes (24)", async () => {
    const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
    await settled(world, view.saveBranch("first"));
    view.branch(ids[0] as EntryId);
    const [other] = (await say(world, view, "other two")) as [EntryId];
    await settled(world, view.saveBranch("second"));
    const goTo = (place: number) => view.switchTo(session.marks.branches.list()[place - 1]?.name ?? "");
    expect(goTo(1)).toBeNull();
    expect(view.snapshot.ids).toEqual(ids);
    expect(goTo(2)).toBeNull();
    expect(view.snapshot.ids).toEqual([ids[0], other]);
    expect(goTo(3)).toMatchObject({ code: "not_found" });
    expect(view.snapshot.ids).toEqual([ids[0], other]);
  });
});

describe("what it tells of itself", () => {
  test("[L1] when it was changed last, by the server's clock: not when it was looked at (18)", async () => {
    expect(session.lastChangedAt).toBeNull();
    await say(world, view, "one");
    const at = world.clock.now;
    await world.advance(3000);
    view.branch(null);
    view.follow();
    await settled(world, view.context());
    expect(session.lastChangedAt).toBe(at);
    await settled(world, session.marks.pins.toggle(view.snapshot.leafId as EntryId));
    expect(session.lastChangedAt).toBe(world.clock.now);
    expect(world.clock.now).toBeGreaterThan(at);
    const page = granted(await settled(world, ann.list()));
    expect(page.sessions).toMatchObject([{ id: "s", changedAt: session.lastChangedAt }]);
  });

  test("[L1] the revision rises with each change, and with nothing else (23)", async () => {
    const seen = [session.revision];
    for (const change of [
      () => view.send("one"),
      () => view.edit(view.snapshot.leafId as EntryId, "other one"),
      () => session.marks.pins.toggle(view.snapshot.leafId as EntryId),
      () => session.stream({}, { after: null }).append("text"),
      () => session.reset(),
    ]) {
      change();
      await world.settle();
      seen.push(session.revision);
    }
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    view.branch(null);
    await settled(world, view.prompts());
    expect(session.revision).toBe(seen.at(-1));
    expect((await world.records("s")).at(-1)?.seq).toBe(session.revision);
  });

  test("[C1] the last message, or that there is none (19)", async () => {
    expect(view.lastMessage()).toBeUndefined();
    const [one] = await say(world, view, "one");
    view.send({ type: "custom", name: "note", data: 1 });
    await world.settle();
    expect(view.lastMessage()).toMatchObject({ id: one });
    view.branch(null);
    expect(view.lastMessage()).toBeUndefined();
  });
});

describe("beginning", () => {
  const begin = (of: Session, ...texts: string[]) =>
    settled(
      world,
      of.publish(
        texts.map((said) => ({
          draft: { id: ann.newId() as EntryId, type: "message", role: "user", parts: text(said) },
          place: { after: null },
        })),
      ),
    );

  test("[L7] a session begins from messages, with fresh ids, at its time (21)", async () => {
    const { session: fresh, view: freshView } = await open(world, ann, "fresh");
    await world.advance(1000);
    expect(await begin(fresh, "one", "two")).toMatchObject({ ok: true });
    expect(textsOf(freshView)).toEqual(["one", "two"]);
    expect(new Set(freshView.snapshot.ids).size).toBe(2);
    expect([fresh.createdAt, fresh.lastChangedAt]).toEqual([world.clock.now, world.clock.now]);
  });

  test("[F8] a reset begins a new logical session, empty or from messages, and its usage from nothing (22)", async () => {
    const [one] = await say(world, view, "one");
    await answer(world, view, "answer", { usage: spent(10, 1) });
    const { revision } = session;
    expect(await settled(world, session.reset())).toBeNull();
    expect([textsOf(view), await usageOf()]).toMatchObject([[], { input: 0, output: 0 }]);
    expect(session.revision).toBeGreaterThan(revision);
    await begin(session, "anew");
    expect(textsOf(view)).toEqual(["anew"]);
    expect(view.snapshot.ids).not.toContain(one);
    expect(readTexts(granted(await view.context()))).toEqual(["anew"]);
    // What was before has its ids still, and can be gone back to.
    view.branch(one as EntryId);
    await world.settle();
    expect(textsOf(view)).toEqual(["one"]);
  });
});

describe("changing messages", () => {
  // What is logged never changes: all messages are changed for one request, or one gets an alternative.
  test("[C10] every message can be changed for the model, keeping ids and order; what is logged stays (25)", async () => {
    const ids = await say(world, view, "one", "two", "three");
    const records = await world.records("s");
    const shout = await settled(
      world,
      view.context({
        edit: ({ role, parts, entryId }) => ({
          role,
          entryId,
          parts: parts.map((part) =>
            part.type === "text" ? { ...part, text: part.text.toUpperCase() } : part,
          ),
        }),
      }),
    );
    expect(readTexts(granted(shout))).toEqual(["ONE", "TWO", "THREE"]);
    expect(granted(shout).map(({ entryId }) => entryId)).toEqual(ids);
    expect([textsOf(view), await world.records("s")]).toEqual([["one", "two", "three"], records]);
  });

  test("[P2] the message at a place is changed by an alternative; its own id goes on meaning it (26)", async () => {
    const ids = (await say(world, view, "one", "two")) as EntryId[];
    const at = view.at(1)?.id as EntryId;
    const changed = view.edit(at, "other two").id as EntryId;
    await world.settle();
    expect([textsOf(view), placeOf(view, changed)]).toEqual([["one", "other two"], "2 of 2"]);
    const entries = entriesOf(await world.records("s"));
    expect(entries.map(({ id }) => id)).toEqual([...ids, changed]);
    expect(entries[1]).toMatchObject({ id: at, parts: text("two") });
  });

  test("[S2] a call of a tool changes while its message streams, and the message keeps its id (26, 27)", async () => {
    const stream = session.stream({}, { after: null });
    stream.push(toolCall("c", { input: "", state: "input" }));
    const states: unknown[] = [];
    const look = async () => {
      await world.settle();
      states.push(view.toolState(stream.id, "c"));
      expect(view.snapshot.ids).toEqual([stream.id]);
    };
    await look();
    stream.append('{"where":"shed"}');
    stream.set(0, { state: "running" });
    await look();
    stream.set(0, { state: "done", output: "a spade" });
    await look();
    await settled(world, stream.end());
    expect(states).toEqual([{ state: "input" }, { state: "running" }, { state: "done", output: "a spade" }]);
    expect(view.get(stream.id)?.entry).toMatchObject({ parts: [{ input: '{"where":"shed"}', callId: "c" }] });
  });

  test("[C6] one whose message is final is ended by what follows, and keeps its id too (27)", async () => {
    await say(world, view, "ask");
    const call = await answer(world, view, [toolCall("c"), toolCall("d")]);
    await answer(world, view, [toolResult("c", "seen")], { role: "tool" });
    expect(view.toolState(call, "c")).toEqual({ state: "done", output: "seen" });
    expect(view.toolState(call, "d")).toEqual({ state: "ready" });
    expect(view.toolState(call, "none")).toBeNull();
    expect(view.at(1)?.id).toBe(call);
    expect(idOf(view, "[tool-call][tool-call]")).toBe(call);
  });
});
