/**
 * Sessions as trees: leaf, rewind, branch, compaction. The claims in order, and the tests that prove them; 27 to 39
 * are in `001-sessions-as-a-tree-files.test.ts`.
 *
 *  1  entries are only added, each pointing at its parent           [T3] each entry …
 *  2  once written, one is neither edited nor removed               [L2]
 *  3  the parent is what came before it on its line                 [T3] each entry …
 *  4  from any entry, parents lead along one path                   [T3] from any entry …
 *  5  the leaf is the tip that the next entry attaches to           [V2] the leaf …
 *  6  the conversation now is the leaf's path, not all there is     [V2] the conversation …
 *  7  what the model gets is made from that path; the others stay   [V2] the conversation …
 *  8  entries have types                                            [L1] [C7]
 *  9  a prompt is the path's entries that enter the context         [C1]
 * 10  going back is pointing elsewhere; what was past it stays      [L2]
 * 11  rewind, branch and compaction leave the former path whole     [L2]
 * 12  rewinding goes to before an earlier prompt                    [V5] rewinding …
 * 13  it branches at that prompt's parent and moves there           [V5] rewinding …
 * 14  the prompts are those of the line, newest first, as typed     [V5] what one can rewind past …
 * 15  the line that was left can be returned to                     [V5] rewinding …
 * 16  before the first prompt there is no parent                    [F6]
 * 17  a branch can be a session: the chain up from an entry         [F2] a session can be made …
 * 18  both share what was before, and own what comes after          [F2] both go on …
 * 19  rewind is built on that                                       [F2] a rewound line …
 * 20  the prefix is shared, not copied, however long                [F2] in the files file
 * 21  compaction picks a cut, summarises what is older, and says
 *     which entry was the first it kept                             [C2] what is older …
 * 22  the cut moves forward to a prompt or a reply                  [C5] what is kept never begins …
 * 23  the summary is a node with a parent                           [C2] the summary is a node …
 * 24  the next turn is sent summary, then what was kept             [C2] the next turn …
 * 25  a rewind or a branch still reaches what is older              [C4]
 * 26  a token estimate of each entry decides where the cut falls    [C5] the cut …
 */
import {
  type Client,
  compact,
  type EntryId,
  type Session,
  type SessionId,
  serveRuns,
  type View,
} from "@espalier/client";
import { type Entry, estimateTokens, isPrompt } from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
import { readTexts, recorder } from "../client/summaries.js";
import { open, say, textOf, textsOf, type World } from "../kit/world.js";
import {
  answer,
  compactionIn,
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
  toolResult,
} from "./kit.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;

beforeEach(async () => {
  ({ world, ann, session, view } = await createStage({}, () => Promise.resolve("in short")));
});

const forked = async (work: ReturnType<View["fork"]>): Promise<View> =>
  (await open(world, ann, granted(await settled(world, work)).session)).view;

describe("what a session is", () => {
  test("[T3] each entry points at the one that came before it on its line (1, 3)", async () => {
    const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
    view.branch(ids[0] as EntryId);
    const [aside] = (await say(world, view, "aside")) as [EntryId];
    const parents = entriesOf(await world.records("s")).map(({ id, parentId }) => [id, parentId]);
    expect(parents).toEqual([
      [ids[0], null],
      [ids[1], ids[0]],
      [ids[2], ids[1]],
      [aside, ids[0]],
    ]);
  });

  test.each(["rewind", "a branch", "compaction"])(
    "[L2] %s leaves the path that one came from as it was, entry by entry (2, 10, 11)",
    async (act) => {
      const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
      const leaf = view.snapshot.leafId;
      const [records, path] = [await world.records("s"), await pathIn(world, leaf)];
      if (act === "rewind") await settled(world, view.rewind(ids[1] as EntryId));
      if (act === "a branch") view.edit(ids[1] as EntryId, "other two");
      if (act === "compaction") granted(await settled(world, compact(view, { keepTurns: 1 })));
      await say(world, view, "and on");
      expect(view.snapshot.leafId).not.toBe(leaf);
      expect((await world.records("s")).slice(0, records.length)).toEqual(records);
      expect(await pathIn(world, leaf)).toEqual(path);
      view.branch(leaf);
      expect(textsOf(view)).toEqual(["one", "two", "three"]);
    },
  );

  test("[T3] from any entry, its parents lead along one path to the beginning (4)", async () => {
    await say(world, view, "one", "two", "three");
    view.edit(idOf(view, "two"), "other two");
    await say(world, view, "below");
    view.branch(null);
    await say(world, view, "elsewhere");
    const expected: Record<string, string[]> = {
      one: ["one"],
      two: ["one", "two"],
      three: ["one", "two", "three"],
      "other two": ["one", "other two"],
      below: ["one", "other two", "below"],
      elsewhere: ["elsewhere"],
    };
    const entries = entriesOf(await world.records("s"));
    expect(entries.map(textOf)).toEqual(Object.keys(expected));
    for (const entry of entries)
      expect((await pathIn(world, entry.id)).map(textOf)).toEqual(expected[textOf(entry)]);
  });

  test("[V2] the leaf is the tip, which the next entry attaches to (5)", async () => {
    expect(view.snapshot.leafId).toBeNull();
    let tip: EntryId | null = null;
    for (const text of ["one", "two", "three"]) {
      const sent = view.send(text);
      expect(await settled(world, sent.settled)).toMatchObject({ ok: true, parentId: tip });
      tip = sent.id as EntryId;
      expect(view.snapshot.leafId).toBe(tip);
    }
    expect((await world.fold("s")).newest?.entry.id).toBe(tip);
  });

  test("[V2] the conversation is the leaf's path, and all that the model gets; the rest stays (6, 7)", async () => {
    const given: string[][] = [];
    serveRuns(world.client("agent"), async (run, served) => {
      given.push(readTexts(granted(await served.context(run.run.inputId as EntryId))));
    });
    await say(world, view, "one", "two");
    view.edit(idOf(view, "two"), "other two");
    await say(world, view, "three");
    view.send("ask", { run: true });
    await world.settle();
    expect(given).toEqual([["one", "other two", "three", "ask"]]);
    expect(textsOf(view)).toEqual(given[0]);
    expect(entriesOf(await world.records("s")).map(textOf)).toContain("two");
  });

  test("[L1] an entry's type says what it is, and a message's role whose (8)", async () => {
    await say(world, view, "prompt");
    await answer(world, view, [{ type: "text", text: "reply" }, toolCall("c")]);
    await answer(world, view, [toolResult("c")], { role: "tool" });
    view.send({ type: "model-change", provider: "acme", modelId: "elm-2" });
    view.send({ type: "option-change", option: "reasoning-effort", value: "high" });
    granted(await settled(world, compact(view, { keepTurns: 0 })));
    const left = view.snapshot.leafId as EntryId;
    view.branch(null);
    view.send({ type: "branch-summary", fromId: left, summary: "what happened there" });
    await world.settle();
    expect(entriesOf(await world.records("s"))).toMatchObject([
      { type: "message", role: "user", parts: [{ text: "prompt" }] },
      { type: "message", role: "assistant", parts: [{ text: "reply" }, { callId: "c" }] },
      { type: "message", role: "tool", parts: [{ callId: "c", output: "seen" }] },
      { type: "model-change", provider: "acme", modelId: "elm-2" },
      { type: "option-change", option: "reasoning-effort", value: "high" },
      { type: "compaction", summary: "in short" },
      { type: "branch-summary", fromId: left, summary: "what happened there" },
    ]);
  });

  test("[C7] a model and an option that are changed on the way are in force from there on, on that path (8)", async () => {
    const [before] = (await say(world, view, "one")) as [EntryId];
    view.send({ type: "model-change", provider: "acme", modelId: "elm-2" });
    view.send({ type: "option-change", option: "reasoning-effort", value: "high" });
    const [after] = (await say(world, view, "two")) as [EntryId];
    const settings = async (leaf: EntryId) => granted(await settled(world, session.settings(leaf)));
    expect(await settings(after)).toEqual({
      provider: "acme",
      modelId: "elm-2",
      options: { "reasoning-effort": "high" },
    });
    expect(await settings(before)).toEqual({ provider: null, modelId: null, options: {} });
  });

  test("[C1] of the path, those entries that enter the context are the prompt (9)", async () => {
    await say(world, view, "one");
    view.send({ type: "model-change", provider: "acme", modelId: "elm-2" });
    view.send({ type: "option-change", option: "reasoning-effort", value: "high" });
    view.send({ type: "custom", name: "note", data: 1 });
    await answer(world, view, "reply");
    expect(view.snapshot.length).toBe(5);
    expect(await modelReads(world, view)).toEqual(["one", "reply"]);
    expect((await contextOf(world, view)).map(({ entryId }) => entryId)).toEqual([
      idOf(view, "one"),
      idOf(view, "reply"),
    ]);
  });
});

describe("rewind", () => {
  beforeEach(async () => {
    for (const text of ["one", "two", "three"]) {
      await say(world, view, text);
      await answer(world, view, `re: ${text}`);
    }
  });

  test("[V5] what one can rewind past: the user's prompts of this line, newest first, as typed (14)", async () => {
    view.edit(idOf(view, "three"), "other three");
    view.send({ type: "message", role: "user", audience: "model", parts: [{ type: "text", text: "hint" }] });
    await world.settle();
    const found = await settled(world, view.prompts());
    expect(found.map(({ text }) => text)).toEqual(["other three", "two", "one"]);
  });

  test("[V5] rewinding goes to the prompt's parent; what was left can be returned to (12, 13, 15)", async () => {
    const all = textsOf(view);
    const leaf = view.snapshot.leafId;
    const two = idOf(view, "two");
    const parent = view.get(two)?.entry.parentId;
    expect(await settled(world, view.rewind(two))).toMatchObject({ text: "two" });
    expect(view.snapshot.leafId).toBe(parent);
    expect(textsOf(view)).toEqual(["one", "re: one"]);
    const again = view.send("two again");
    expect(await settled(world, again.settled)).toMatchObject({ parentId: parent });
    expect(placeOf(view, again.id as EntryId)).toBe("2 of 2");
    view.step(again.id as EntryId, -1);
    await world.settle();
    expect([textsOf(view), view.snapshot.leafId]).toEqual([all, leaf]);
  });

  // A fresh session there is still possible: it is a fork from before the first entry.
  test("[F6] before the first prompt is before everything: a second root, in the same session (16)", async () => {
    const one = idOf(view, "one");
    expect(await settled(world, view.rewind(one))).toMatchObject({ text: "one" });
    expect(view.snapshot).toMatchObject({ leafId: null, length: 0 });
    const fresh = await forked(view.fork());
    expect(fresh.snapshot).toMatchObject({ leafId: null, length: 0 });
    const [again] = await say(world, view, "one again");
    expect((await world.fold("s")).roots.map(({ entry }) => entry.id)).toEqual([one, again]);
    await say(world, fresh, "begun afresh");
    expect([textsOf(view), textsOf(fresh)]).toEqual([["one again"], ["begun afresh"]]);
  });
});

describe("branches that are sessions", () => {
  test("[F2] a session can be made of the chain up from an entry, which is its leaf (17)", async () => {
    const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
    view.edit(ids[1] as EntryId, "other two");
    await world.settle();
    const from = { session: "s" as SessionId, entry: ids[1] as EntryId };
    const child = await forked(ann.fork({ from }));
    expect(child.snapshot.ids).toEqual(ids.slice(0, 2));
    expect(child.snapshot.leafId).toBe(ids[1]);
    expect(placeOf(child, ids[1] as EntryId)).toBe("1 of 1");
  });

  test("[F2] both go on for themselves from what they share (18)", async () => {
    const ids = await say(world, view, "one", "two");
    const child = await forked(view.fork());
    await say(world, child, "in the child");
    await say(world, view, "in the parent");
    expect(textsOf(child)).toEqual(["one", "two", "in the child"]);
    expect(textsOf(view)).toEqual(["one", "two", "in the parent"]);
    expect(child.snapshot.ids.slice(0, 2)).toEqual(ids);
    for (const id of ids as EntryId[]) expect(child.get(id)?.entry).toEqual(view.get(id)?.entry);
  });

  // A rewind stays in its session; that it moves to another one is a fork of what it shows.
  test("[F2] a rewound line, forked, is the branch at the prompt's parent (19)", async () => {
    const [, two, three] = (await say(world, view, "one", "two", "three")) as EntryId[];
    await settled(world, view.rewind(three as EntryId));
    const byRewind = await forked(view.fork());
    const from = { session: "s" as SessionId, entry: two as EntryId };
    const byParent = await forked(ann.fork({ from }));
    expect(byRewind.snapshot.ids).toEqual(byParent.snapshot.ids);
    expect(byRewind.snapshot.leafId).toBe(two);
    view.follow();
    await world.settle();
    expect(textsOf(view)).toEqual(["one", "two", "three"]);
  });
});

describe("compaction", () => {
  test("[C2] what is older than the cut is summarised; the entry says which was kept first (21)", async () => {
    const ids = await say(world, view, "one", "two", "three");
    const { summarize, requests } = recorder("about one and two");
    granted(await settled(world, compact(view, { keepTurns: 1, summarize })));
    expect(readTexts(requests[0]?.messages ?? [])).toEqual(["one", "two"]);
    expect((await world.records("s")).at(-1)).toMatchObject({
      summary: "about one and two",
      firstKeptId: ids[2],
    });
  });

  /** A turn with two calls of tools. */
  const lookTwice = async (): Promise<void> => {
    await say(world, view, "look twice");
    for (const callId of ["c1", "c2"]) {
      await answer(world, view, [toolCall(callId)]);
      await answer(world, view, [toolResult(callId)], { role: "tool" });
    }
    await answer(world, view, "found");
  };

  test.each([1, 2, 3, 4, 5])(
    "[C5] what is kept never begins with a result without its call: room for %i messages (22)",
    async (room) => {
      await lookTwice();
      const estimate = { estimateTokens: () => 1 };
      granted(await settled(world, compact(view, { keepTokens: room, ...estimate })));
      const { firstKeptId } = compactionIn(view);
      const first = view.get(firstKeptId as EntryId)?.entry as Entry;
      expect(isPrompt({ entry: first }) || (first.type === "message" && first.role === "assistant")).toBe(
        true,
      );
      const kept = (await contextOf(world, view)).slice(1).flatMap(({ parts }) => parts);
      const callIds = (type: string) =>
        kept.flatMap((part) => (part.type === type && "callId" in part ? [part.callId] : []));
      expect(callIds("tool-call")).toEqual(callIds("tool-result"));
      // Forward: never more is kept than there is room for.
      expect((await contextOf(world, view)).length - 1).toBeLessThanOrEqual(room);
    },
  );

  test("[C2] the summary is a node on the line like any other (23)", async () => {
    const [, two] = await say(world, view, "one", "two");
    const { id } = granted(await settled(world, compact(view, { keepTurns: 1 })));
    const [three] = await say(world, view, "three");
    const node = (await world.fold("s")).get(id);
    expect([node?.parent?.entry.id, node?.children.map(({ entry }) => entry.id)]).toEqual([two, [three]]);
    view.branch(two as EntryId);
    await say(world, view, "beside it");
    expect(placeOf(view, idOf(view, "beside it"))).toBe("2 of 2");
  });

  test("[C2] the next turn is sent the summary, and then what was kept (24)", async () => {
    const given: string[][] = [];
    serveRuns(world.client("agent"), async (run, served) => {
      given.push(readTexts(granted(await served.context(run.run.inputId as EntryId))));
    });
    await say(world, view, "one", "two", "three");
    granted(await settled(world, compact(view, { keepTurns: 2 })));
    view.send("four", { run: true });
    await world.settle();
    expect(given).toEqual([["in short", "two", "three", "four"]]);
  });

  test("[C4] what is older can still be reached, by a rewind and by a branch (25)", async () => {
    const [, two] = (await say(world, view, "one", "two", "three")) as EntryId[];
    granted(await settled(world, compact(view, { keepTurns: 1 })));
    expect(await modelReads(world, view)).toEqual(["in short", "three"]);
    await settled(world, view.rewind(two as EntryId));
    expect(await modelReads(world, view)).toEqual(["one"]);
    const from = { session: "s" as SessionId, entry: two as EntryId };
    const child = await forked(ann.fork({ from }));
    expect(readTexts(granted(await settled(world, child.context())))).toEqual(["one", "two"]);
  });

  test("[C5] the cut keeps as much of the end as an estimate of its tokens allows (26)", async () => {
    await say(world, view, ...Array.from({ length: 20 }, (_, index) => `${index} ${"word ".repeat(10)}`));
    const path = await pathIn(world, view.snapshot.leafId);
    const keepTokens = 120;
    granted(await settled(world, compact(view, { keepTokens })));
    const { firstKeptId, tokensBefore } = compactionIn(view);
    const from = path.findIndex(({ id }) => id === firstKeptId);
    const sizeFrom = (place: number) =>
      path.slice(place).reduce((sum, entry) => sum + estimateTokens(entry), 0);
    expect(sizeFrom(from)).toBeLessThanOrEqual(keepTokens);
    expect(sizeFrom(from - 1)).toBeGreaterThan(keepTokens);
    expect(tokensBefore).toBe(sizeFrom(0));
  });
});
