/**
 * The append-only tree, continued from `000-transcript-tree.test.ts`: lines that become sessions, and lines that
 * are summarised. The claims in order, and the tests that prove them:
 *
 * 23  branching stays in a session; a fork takes the line out,
 *     under fresh ids, chained anew, with its origin               [F1] a branch …
 * 24  a fork has an identity and a lifetime of its own             [F4] a fork …
 * 25  a sibling shares the session's id                            [F1] a branch …
 * 26  its entries are copies                                       [L2] copies …
 * 27  its record has its id, its origin's and a time, and no more  [F7]
 * 28  the application's metadata is copied by the application      [F7]
 * 29  compaction adds an entry: a summary by the model, and the
 *     first entry that is kept                                     [C2] compaction adds …
 * 30  nothing is removed                                           [L2] compaction removes …
 * 31  only the projection changes: the summary as a user's
 *     message, nothing before the cut, the rest as written         [C2] only what …
 * 32  the history is in the tree, on the line, and can be gone to  [L2] compaction removes …
 * 33  branching to before it gives the conversation without it     [C4]
 * 34  so many turns are kept                                       [C5]
 * 35  the instruction can be another                               [C2] an instruction …
 * 36  the same model and options write the summary, and leave no
 *     other trace                                                  [C7]
 * 37  custom entries pass through as they are                      [C1] custom entries …
 * 38  beside that: what each kind of entry is for, what is told of
 *     a change, and how a run stands                               [C1] each kind … [V10] [R1]
 */
import {
  type Client,
  type Compacted,
  compact,
  type EntryId,
  type Forked,
  type ModelRequest,
  type PrincipalId,
  type RunId,
  type Session,
  type SessionId,
  serveRuns,
  type View,
  type ViewChange,
} from "@espalier/client";
import { context, DEFAULT_INSTRUCTION, type RunStatus, transcript } from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
import { readTexts, recorder } from "../client/summaries.js";
import { open, say, textOf, textsOf, type World } from "../kit/world.js";
import {
  answer,
  childTexts,
  contextOf,
  createStage,
  entriesOf,
  granted,
  idOf,
  modelReads,
  pathIn,
  placeOf,
  settled,
  toolCall,
} from "./kit.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;
/** What the client's model was asked. */
let asked: ModelRequest[];

const createdAt = (): number => session.createdAt as number;

beforeEach(async () => {
  asked = [];
  ({ world, ann, session, view } = await createStage(
    {
      authenticate: ({ token }) => ({ id: token as PrincipalId, admin: token === "admin" }),
    },
    (request) => {
      asked.push(request);
      return Promise.resolve({ text: "in short", usage: { input: 30, output: 2 } });
    },
  ));
});

const forkByCopy = async (of: View = view): Promise<Forked> =>
  granted(await settled(world, of.fork({ mode: "copy" })));

const listed = async (): Promise<string[]> =>
  granted(await settled(world, ann.list())).sessions.map(({ id }) => id as string);

describe("a fork by copy", () => {
  test("[F1] a branch stays in its session; a fork takes the line out, under ids of its own (23, 25)", async () => {
    const [one, two] = (await say(world, view, "one", "two")) as [EntryId, EntryId];
    view.edit(two, "other two");
    await world.settle();
    expect(await listed()).toEqual(["s"]);
    expect(childTexts((await world.fold("s")).children(one))).toEqual(["two", "other two"]);
    const forked = await forkByCopy();
    expect((await listed()).sort()).toEqual([forked.session as string, "s"].sort());
    const copies = entriesOf(await world.records(forked.session));
    expect(copies.map(textOf)).toEqual(["one", "other two"]);
    expect(copies.map(({ parentId }) => parentId)).toEqual([null, copies[0]?.id]);
    for (const { id } of copies) expect((await world.fold("s")).get(id)).toBeUndefined();
    const { session: child } = await open(world, ann, forked.session);
    expect(child.origin).toEqual({ session: "s", entry: view.snapshot.leafId });
  });

  test("[F4] a fork has an identity and a lifetime of its own (24)", async () => {
    await say(world, view, "one", "two");
    const { session: id } = await forkByCopy();
    const { session: child, view: childView } = await open(world, ann, id);
    await settled(world, child.setRegister("title", "what if"));
    await say(world, childView, "three");
    expect([session.snapshot.title, child.snapshot.title]).toEqual([null, "what if"]);
    expect(textsOf(view)).toEqual(["one", "two"]);
    expect(await settled(world, ann.delete("s" as SessionId))).toBeNull();
    const late = await open(world, world.client("late"), id);
    expect(textsOf(late.view)).toEqual(["one", "two", "three"]);
    expect(await listed()).toEqual([id]);
  });

  test("[L2] copies are the fork's: what becomes of the original does not touch them (26)", async () => {
    const [one] = await say(world, view, "one", "two");
    const { session: id } = await forkByCopy();
    const admin = (await open(world, world.client("admin"))).session;
    expect(await settled(world, admin.erase(one as EntryId))).toBeNull();
    expect(textsOf(view)).toEqual(["[erased]", "two"]);
    expect(textsOf((await open(world, ann, id)).view)).toEqual(["one", "two"]);
  });

  test("[F7] of itself it says its origin and a time; metadata is the application's to copy (27, 28)", async () => {
    await say(world, view, "one", "two");
    await settled(world, session.marks.meta.set({ project: "garden" }));
    await world.advance(5000);
    const { session: id, entry } = await forkByCopy();
    const stored = await world.store.load(id);
    // That the first two records are taken over is said too: their usage is not its own (C9).
    const header = { createdAt: createdAt() + 5000, origin: { session: "s", entry }, inherited: 2 };
    expect(stored).toMatchObject({ type: "ok", log: { header } });
    const { session: child } = await open(world, ann, id);
    expect([child.marks.meta.get(), child.snapshot.title]).toEqual([{}, null]);
    await settled(world, child.marks.meta.set(session.marks.meta.get()));
    expect(child.marks.meta.get()).toEqual({ project: "garden" });
  });
});

describe("compaction", () => {
  test("[C2] compaction adds one entry: the summary, and the first entry that is kept (29)", async () => {
    const ids = await say(world, view, "one", "two", "three");
    const before = await world.records("s");
    const { id } = granted(await settled(world, compact(view, { keepTurns: 2 })));
    const added = (await world.records("s")).slice(before.length);
    expect(added).toMatchObject([{ kind: "entry", type: "compaction", id, parentId: ids[2] }]);
    expect(added[0]).toMatchObject({ summary: "in short", firstKeptId: ids[1] });
    expect(readTexts(asked[0]?.messages ?? [])[0]).toBe("one");
  });

  test("[L2] compaction removes nothing: all is in the log, on the line, and can be gone back to (30, 32)", async () => {
    const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
    const before = await world.records("s");
    const { id } = granted(await settled(world, compact(view, { keepTurns: 1 })));
    expect((await world.records("s")).slice(0, before.length)).toEqual(before);
    expect((await pathIn(world, id)).map((entry) => entry.id)).toEqual([...ids, id]);
    expect(textsOf(view)).toEqual(["one", "two", "three", "[compaction]"]);
    const found = await settled(world, view.prompts());
    expect(found.map(({ text }) => text)).toEqual(["three", "two", "one"]);
    await settled(world, view.rewind(ids[1] as EntryId));
    expect(textsOf(view)).toEqual(["one"]);
  });

  test("[C2] only what the model is given changes: the summary as a user's words, then the rest as written (31)", async () => {
    await say(world, view, "one");
    await answer(world, view, "first answer");
    await say(world, view, "two");
    await answer(world, view, "second answer");
    const before = await contextOf(world, view);
    const seen = transcript(await pathIn(world, view.snapshot.leafId));
    const { id } = granted(await settled(world, compact(view, { keepTurns: 1 })));
    const [summary, ...rest] = await contextOf(world, view);
    expect(summary).toEqual({ role: "user", parts: [{ type: "text", text: "in short" }], entryId: id });
    expect(rest).toEqual(before.slice(2));
    expect(transcript(await pathIn(world, id)).slice(0, -1)).toEqual(seen);
  });

  test("[C4] branching to before it gives back the conversation without it (33)", async () => {
    const ids = (await say(world, view, "one", "two")) as EntryId[];
    const before = await contextOf(world, view);
    granted(await settled(world, compact(view, { keepTurns: 1 })));
    expect(await modelReads(world, view)).toEqual(["in short", "two"]);
    view.branch(ids[1] as EntryId);
    expect(await contextOf(world, view)).toEqual(before);
  });

  test.each([
    [1, ["in short", "three", "3"]],
    [2, ["in short", "two", "2", "three", "3"]],
    [0, ["in short"]],
  ])("[C5] the last turns stay as they are: %i of them (34)", async (keepTurns, read) => {
    for (const [index, text] of ["one", "two", "three"].entries()) {
      await say(world, view, text);
      await answer(world, view, `${index + 1}`);
    }
    granted(await settled(world, compact(view, { keepTurns })));
    expect(await modelReads(world, view)).toEqual(read);
  });

  test("[C2] an instruction that is handed in takes the place of the usual one (35)", async () => {
    await say(world, view, "one", "two");
    granted(await settled(world, compact(view, { keepTurns: 1 })));
    await say(world, view, "three");
    granted(await settled(world, compact(view, { keepTurns: 1, prompt: "As a haiku." })));
    const told = asked.map(({ messages }) => readTexts(messages).at(-1));
    expect(told).toEqual([DEFAULT_INSTRUCTION, "As a haiku."]);
  });

  test("[C7] the model and options in force write it, once, and nothing else of that is kept (36)", async () => {
    const options = { effort: "high" };
    view.send({ type: "model-change", provider: "acme", modelId: "elm-2", options });
    await say(world, view, "one", "two");
    const before = await world.records("s");
    const compacted: Compacted = granted(await settled(world, compact(view, { keepTurns: 1 })));
    expect(asked).toHaveLength(1);
    expect(asked[0]?.settings).toEqual({ provider: "acme", modelId: "elm-2", options });
    expect(readTexts(asked[0]?.messages ?? [])).toEqual(["one", DEFAULT_INSTRUCTION]);
    expect(compacted.usage).toEqual({ input: 30, output: 2 });
    expect(await world.records("s")).toHaveLength(before.length + 1);
    expect(await listed()).toEqual(["s"]);
    // For one request, somebody else can be asked.
    const { summarize } = recorder("by another");
    await say(world, view, "three");
    expect(await settled(world, compact(view, { keepTurns: 1, summarize }))).toMatchObject({
      summary: "by another",
    });
  });

  test("[C1] custom entries pass through as they are; one that the model is to go on reading is named (37)", async () => {
    const note = view.send({ type: "custom", name: "note", data: { for: "readers" } }).id as EntryId;
    const fact = view.send({ type: "custom", name: "fact", data: 7, audience: "both" }).id as EntryId;
    await say(world, view, "one", "two");
    const before = view.transcript().slice(0, 2);
    granted(await settled(world, compact(view, { keepTurns: 1 })));
    const after = view.transcript().slice(0, 2);
    expect(after.map(({ id }) => id)).toEqual([note, fact]);
    for (const [index, shown] of after.entries()) expect(shown).toBe(before[index]);
    await say(world, view, "three");
    granted(await settled(world, compact(view, { keep: [fact] })));
    const read = await contextOf(world, view);
    expect(read.map(({ entryId }) => entryId)).toContain(fact);
    expect(read.map(({ entryId }) => entryId)).not.toContain(note);
    expect(textsOf(view).slice(0, 2)).toEqual(["[custom]", "[custom]"]);
  });
});

describe("what else there is to read (38)", () => {
  test("[C1] each kind of entry is for the model, for readers, or for both", async () => {
    const text = (said: string) => [{ type: "text", text: said } as const];
    const left = (await say(world, view, "left"))[0] as EntryId;
    view.branch(null);
    view.send({ type: "message", role: "system", parts: text("system") });
    view.send("prompt");
    view.send({ type: "message", role: "assistant", parts: text("reply") });
    view.send({ type: "message", role: "user", audience: "model", parts: text("for the model") });
    view.send({ type: "message", role: "assistant", audience: "reader", parts: text("for readers") });
    view.send({ type: "model-change", provider: "acme", modelId: "elm-2" });
    view.send({ type: "option-change", option: "effort", value: "high" });
    view.send({ type: "branch-summary", fromId: left, summary: "what was left" });
    view.send({ type: "custom", name: "note", data: 1 });
    await world.settle();
    const path = await pathIn(world, view.snapshot.leafId);
    expect(readTexts(context(path))).toEqual(["system", "prompt", "reply", "for the model", "what was left"]);
    expect(transcript(path).map(textOf)).toEqual([
      "system",
      "prompt",
      "reply",
      "for readers",
      "[model-change]",
      "[option-change]",
      "[branch-summary]",
      "[custom]",
    ]);
  });

  test("[V10] who listens is told when the leaf or the tree changes", async () => {
    const [one] = (await say(world, view, "one")) as [EntryId];
    const bob = (await open(world, world.client("bob"))).view;
    const heard: ViewChange[] = [];
    bob.subscribe((change) => heard.push(change));
    const two = view.send("two").id as EntryId;
    await world.settle();
    expect(heard.splice(0)).toEqual([{ type: "line", from: one, to: two }]);
    view.edit(two, "other two");
    await world.settle();
    expect(heard.splice(0)).toEqual([{ type: "branches", id: two }]);
    expect(placeOf(bob, two)).toBe("1 of 2");
    bob.branch(one);
    expect(heard).toEqual([{ type: "line", from: two, to: one }]);
  });

  test("[R1] how a run stands can be read while it is under way, and after", async () => {
    let finish = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      finish = resolve;
    });
    serveRuns(world.client("agent"), async (run) => {
      const message = run.stream();
      message.append("half");
      message.push(toolCall("c", { state: "running" }));
      await waiting;
      message.set(1, { state: "done", output: 7 });
      await message.end();
    });
    await world.settle();
    const statuses: (RunStatus | undefined)[] = [];
    const { runId } = view.send("ask", { run: true });
    view.subscribe((change) => {
      if (change.type === "run") statuses.push(session.run(change.id)?.status);
    });
    await world.settle();
    const id = idOf(view, "half[tool-call]");
    expect(view.runs()).toMatchObject([{ id: runId, status: "active" }]);
    expect(view.get(id)?.entry).toMatchObject({ status: "streaming" });
    expect(view.toolState(id, "c")).toEqual({ state: "running" });
    finish();
    await world.settle();
    expect([view.runs(), session.run(runId as RunId)?.status]).toEqual([[], "done"]);
    expect(view.get(id)?.entry).toMatchObject({ status: "complete" });
    expect(view.toolState(id, "c")).toEqual({ state: "done", output: 7 });
    expect(statuses.at(-1)).toBe("done");
  });
});
