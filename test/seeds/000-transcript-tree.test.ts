/**
 * The append-only tree and the leaf that moves on it. The claims in order, and the tests that prove them; 23 to 38
 * are in `000-transcript-tree-forks.test.ts`.
 *
 *  1  one tree serves edit, retry, rewind, fork and compaction      [L2] whatever one does …
 *  2  it is only ever added to                                      [L2] whatever one does …
 *  3  an entry names its parent; that pointer is the structure      [T3]
 *  4  the store keeps a flat log                                    [L1]
 *  5  the tree is derived from it by walking parents                [L1]
 *  6  the leaf is where the next turn goes on                       [V2] a view is its leaf …
 *  7  nearly every act moves the leaf                               [V5] each act …
 *  8  after an edit, the answer follows from the new text           [V12] a prompt that is rewritten …
 *  9  rewriting is a second child of the same parent                [P2]
 * 10  the line that is left is whole, and found by its ids          [P2]
 * 11  nothing in the log is changed or removed                      [L2] whatever one does …
 * 12  the line is the walk from the leaf up, reversed               [L1]
 * 13  what the model and a reader see is made from the line         [C1] what the model …
 * 14  moving the leaf touches nothing that is stored                [V1] moving …
 * 15  branch moves the leaf, and that is all                        [V1] moving …
 * 16  edit is branch and run with another text                      [V5] edit …
 * 17  retry is branch and run again                                 [V12] retry …
 * 18  rewind is branch and stop                                     [V5] rewind …
 * 19  a checkpoint is an id that was remembered                     [V5] a checkpoint …
 * 20  the leaf is kept in memory                                    [V2] a session that is opened again …
 * 21  what is opened again shows what was appended last             [V2] a session that is opened again …
 * 22  a rewind belongs to one instance                              [V1] a rewind …
 */
import {
  type Client,
  compact,
  type EntryId,
  type Session,
  type View,
  type ViewChange,
} from "@espalier/client";
import { type ContextMessage, context, createTree, type Entry, transcript } from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
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
  saidBy,
  serveEcho,
  settled,
  toolCall,
  toolResult,
} from "./kit.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;

beforeEach(async () => {
  ({ world, ann, session, view } = await createStage({}, () => Promise.resolve("in short")));
});

/** The leaf's moves from now on. */
const movesOf = (of: View): (readonly [EntryId | null, EntryId | null])[] => {
  const moves: (readonly [EntryId | null, EntryId | null])[] = [];
  of.subscribe((change) => {
    if (change.type === "line" && change.from !== change.to) moves.push([change.from, change.to]);
  });
  return moves;
};

describe("a log that is a tree", () => {
  test("[L2] whatever one does, the log is only added to (1, 2, 11)", async () => {
    await serveEcho(world);
    view.send("one", { run: true });
    await say(world, view, "two");
    const acts: [name: string, act: () => unknown, isWritten: boolean][] = [
      ["edit", () => view.edit(idOf(view, "two"), "other two", { run: true }), true],
      ["retry", () => view.regenerate(idOf(view, "other two!")), true],
      ["compact", () => compact(view, { keepTurns: 1 }), true],
      ["rewind", () => view.rewind(idOf(view, "other two")), false],
      ["fork", () => view.fork(), false],
    ];
    for (const [name, act, isWritten] of acts) {
      const before = await world.records("s");
      act();
      await world.settle();
      const after = await world.records("s");
      expect({ name, kept: after.slice(0, before.length) }).toEqual({ name, kept: before });
      expect({ name, isWritten: after.length > before.length }).toEqual({ name, isWritten });
    }
  });

  test("[T3] an entry names its parent, and that pointer alone gives the tree its shape (3)", async () => {
    const [one] = await say(world, view, "one", "two");
    view.edit(idOf(view, "two"), "other two");
    await say(world, view, "below");
    view.edit(one as EntryId, "other one");
    await world.settle();
    const entries = entriesOf(await world.records("s"));
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, one, one, entries[2]?.id, null]);
    const bare = createTree();
    for (const { kind, id, parentId, seq, rev, time, author } of entries) {
      const said = { type: "custom", name: "bare", data: null, status: "complete", size: 0 } as const;
      bare.apply({ kind, id, parentId, seq, rev, time, author, ...said });
    }
    const whole = await world.fold("s");
    for (const id of [null, ...entries.map((entry) => entry.id)]) {
      const idsIn = (tree: typeof whole) => tree.children(id).map(({ entry }) => entry.id);
      expect(idsIn(bare)).toEqual(idsIn(whole));
    }
  });

  test("[L1] the store keeps a flat log, in which a walk up the parents gives each line (4, 5, 12)", async () => {
    await say(world, view, "one", "two");
    view.edit(idOf(view, "two"), "other two");
    await say(world, view, "three");
    const records = await world.records("s");
    const seqs = records.map(({ seq }) => seq as number);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    const parents = new Map(entriesOf(records).map(({ id, parentId }) => [id, parentId]));
    const walked: EntryId[] = [];
    for (let at = view.snapshot.leafId; at !== null; at = parents.get(at) ?? null) walked.push(at);
    expect(walked.reverse()).toEqual(view.snapshot.ids);
    expect(textsOf(view)).toEqual(["one", "other two", "three"]);
  });

  test("[V2] a view is its leaf: the next turn goes on from it (6)", async () => {
    const [, two] = await say(world, view, "one", "two", "three");
    view.branch(two as EntryId);
    const sent = view.send("from two");
    expect(await settled(world, sent.settled)).toMatchObject({ ok: true, parentId: two });
    expect(view.snapshot.leafId).toBe(sent.id);
    const next = view.send("after that");
    expect(await settled(world, next.settled)).toMatchObject({ parentId: sent.id });
  });

  test("[V5] each act on a conversation is a move of the leaf (7)", async () => {
    const [one, two] = (await say(world, view, "one", "two")) as [EntryId, EntryId];
    await settled(world, session.marks.branches.set("first try", two));
    const moves = movesOf(view);
    const acts = [
      () => view.send("three"),
      () => view.edit(two, "other two"),
      () => view.select(two),
      () => view.rewind(two),
      () => view.branch(one),
      () => view.branch(null),
      () => view.switchTo("first try"),
      () => view.follow(),
      () => compact(view, { keepTurns: 1 }),
    ];
    for (const act of acts) {
      const from = view.snapshot.leafId;
      const told = moves.length;
      act();
      await world.settle();
      const to = view.snapshot.leafId;
      const isMoved = from !== to;
      expect(moves.slice(told)).toEqual(isMoved ? [[from, to]] : []);
    }
    // Only going to where the view is already moves nothing.
    expect(moves.length).toBe(acts.length - 1);
  });
});

describe("rewriting", () => {
  test("[V12] a prompt that is rewritten is answered from its new text (8)", async () => {
    await serveEcho(world);
    view.send("plant fern", { run: true });
    await world.settle();
    view.edit(idOf(view, "plant fern"), "plant pear", { run: true });
    await world.settle();
    expect(textsOf(view)).toEqual(["plant pear", "plant pear!"]);
  });

  test("[P2] it is a second child of the same parent, and the first keeps all that is below it (9, 10)", async () => {
    const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
    const before = await pathIn(world, ids[2] as EntryId);
    const edited = view.edit(ids[1] as EntryId, "other two");
    await say(world, view, "other three");
    const children = (await world.fold("s")).children(ids[0] as EntryId);
    expect(children.map(({ entry }) => entry.id)).toEqual([ids[1], edited.id]);
    expect(await pathIn(world, ids[2] as EntryId)).toEqual(before);
    view.branch(ids[2] as EntryId);
    expect(textsOf(view)).toEqual(["one", "two", "three"]);
  });
});

describe("the line", () => {
  test("[C1] what the model and what a reader sees is made from it, and from nothing beside it (13)", async () => {
    await say(world, view, "one");
    view.send({ type: "custom", name: "note", data: 1 });
    view.send({ type: "message", role: "user", audience: "model", parts: [{ type: "text", text: "hint" }] });
    await answer(world, view, "answer");
    const made = async (): Promise<[readonly ContextMessage[], readonly Entry[]]> => {
      const path = await pathIn(world, view.snapshot.leafId);
      return [context(path), transcript(path)];
    };
    const [messages, seen] = await made();
    expect(granted(await view.context())).toEqual(messages);
    expect(view.transcript().map(({ entry }) => entry)).toEqual(seen);
    const other = session.createView();
    await world.settle();
    other.edit(idOf(other, "one"), "beside it");
    await say(world, other, "and below that");
    expect(await made()).toEqual([messages, seen]);
  });

  test("[V1] moving the leaf changes the conversation, and nothing else anywhere (14, 15)", async () => {
    const [one] = await say(world, view, "one", "two", "three");
    const second = session.createView();
    const bob = (await open(world, world.client("bob"))).view;
    const records = await world.records("s");
    const said = saidBy(world, "ann").length;
    const heard: ViewChange[] = [];
    view.subscribe((change) => heard.push(change));
    const leaf = view.snapshot.leafId;
    view.branch(one as EntryId);
    await world.settle();
    expect(heard).toEqual([{ type: "line", from: leaf, to: one }]);
    expect([textsOf(view), await modelReads(world, view)]).toEqual([["one"], ["one"]]);
    expect(saidBy(world, "ann")).toHaveLength(said);
    expect(await world.records("s")).toEqual(records);
    for (const other of [second, bob]) expect(textsOf(other)).toEqual(["one", "two", "three"]);
  });
});

describe("branch is all that it takes", () => {
  beforeEach(async () => {
    await serveEcho(world);
    view.send("start", { run: true });
    await world.settle();
    view.send("ask", { run: true });
    await world.settle();
  });

  test("[V5] edit: branch to before a message, and run with the new text (16)", async () => {
    const [before, ask] = [idOf(view, "start!"), idOf(view, "ask")];
    view.branch(before);
    view.send("ask otherwise", { run: true });
    await world.settle();
    expect(textsOf(view)).toEqual(["start", "start!", "ask otherwise", "ask otherwise!"]);
    view.edit(ask, "ask in one step", { run: true });
    await world.settle();
    expect(textsOf(view)).toEqual(["start", "start!", "ask in one step", "ask in one step!"]);
    expect(childTexts((await world.fold("s")).children(before))).toEqual([
      "ask",
      "ask otherwise",
      "ask in one step",
    ]);
  });

  test("[V12] retry: branch to the same point, and run again (17)", async () => {
    const ask = idOf(view, "ask");
    view.branch(idOf(view, "start!"));
    view.send("ask", { run: true });
    await world.settle();
    expect(placeOf(view, idOf(view, "ask"))).toBe("2 of 2");
    // To keep the prompt and have only the answer again is one step.
    view.branch(ask);
    view.regenerate(ask);
    await world.settle();
    expect(textsOf(view)).toEqual(["start", "start!", "ask", "ask!"]);
    expect(placeOf(view, idOf(view, "ask!"))).toBe("2 of 2");
    expect(view.at(2)?.id).toBe(ask);
  });

  test("[V5] rewind: branch, and stop (18)", async () => {
    const records = await world.records("s");
    const ask = idOf(view, "ask");
    expect(await settled(world, view.rewind(ask))).toMatchObject({ id: ask, text: "ask" });
    expect(textsOf(view)).toEqual(["start", "start!"]);
    expect([view.runs(), session.runs()]).toEqual([[], []]);
    expect(await world.records("s")).toEqual(records);
  });
});

test("[V5] a checkpoint is an id: given back to `branch`, it undoes all that came since (19)", async () => {
  await say(world, view, "start");
  const checkpoint = view.snapshot.leafId;
  const [shown, read] = [textsOf(view), await contextOf(world, view)];
  await say(world, view, "a turn that may go badly");
  await answer(world, view, [toolCall("c")]);
  await answer(world, view, [toolResult("c")], { role: "tool" });
  view.send({ type: "option-change", option: "effort", value: "high" });
  const stream = session.stream({}, { after: view.snapshot.leafId });
  stream.append("it does go");
  await world.settle();
  void stream.end("failed");
  granted(await settled(world, compact(view, { keepTurns: 0 })));
  expect(view.snapshot.length).toBe(7);
  const optionsAt = async (leaf: EntryId | null) =>
    granted(await settled(world, session.settings(leaf as EntryId))).options;
  expect(await optionsAt(view.snapshot.leafId)).toEqual({ effort: "high" });
  view.branch(checkpoint);
  expect([textsOf(view), await contextOf(world, view)]).toEqual([shown, read]);
  expect(await optionsAt(checkpoint)).toEqual({});
});

describe("the leaf is kept in memory", () => {
  test.each(["by the same client", "by another one", "after a restart"])(
    "[V2] a session that is opened again, %s, shows what was appended last (20, 21)",
    async (how) => {
      const [one, two] = await say(world, view, "one", "two", "three");
      view.edit(two as EntryId, "other two");
      await world.settle();
      view.branch(one as EntryId);
      expect(textsOf(view)).toEqual(["one"]);
      session.close();
      if (how === "after a restart") {
        world.stopServer();
        await world.startServer();
        await world.advance(60_000);
      }
      const again = await open(world, how === "by another one" ? world.client("bob") : ann);
      expect(again.session).not.toBe(session);
      expect(textsOf(again.view)).toEqual(["one", "other two"]);
    },
  );

  test("[V2] what was appended last wins over what is longest, or was begun last", async () => {
    const [one, two] = await say(world, view, "one", "two", "three");
    view.edit(two as EntryId, "other two");
    await say(world, view, "other three", "other four");
    const bob = (await open(world, world.client("bob"))).view;
    bob.branch(one as EntryId);
    bob.select(two as EntryId);
    await world.settle();
    await say(world, bob, "last of all");
    const late = (await open(world, world.client("late"))).view;
    expect(textsOf(late)).toEqual(["one", "two", "three", "last of all"]);
    expect(textOf(late.at(3)?.entry as Entry)).toBe("last of all");
  });

  test("[V1] [V7] a rewind is one view's own; who wants it to last exports its state (22)", async () => {
    const [, two] = await say(world, view, "one", "two", "three");
    const before = await world.records("s");
    await settled(world, view.rewind(two as EntryId));
    expect(await world.records("s")).toEqual(before);
    const state = JSON.parse(JSON.stringify(view.state()));
    const fresh = (await open(world, world.client("bob"))).view;
    expect(textsOf(fresh)).toEqual(["one", "two", "three"]);
    const kept = world.client("ann").session("s", { view: { state } }).view;
    await world.settle();
    expect(textsOf(kept)).toEqual(["one"]);
    expect(kept.snapshot.isHeld).toBe(true);
  });
});
