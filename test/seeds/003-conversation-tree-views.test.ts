/**
 * A conversation as a tree of messages, continued from `003-conversation-tree.test.ts`: the views through which one
 * reads and writes it. The claims in order, and the tests that prove them:
 *
 * 14  a view is one line: a sibling at each branch point, a flat
 *     list, for people or for a model                               [V2]
 * 15  of three responses it shows one, as if it were alone, and
 *     leads to the others                                           [V9]
 * 16  each client selects for itself                                [V1] two clients …
 * 17  older messages are withheld, and loaded when asked for        [V8]
 * 18  a listener hears of what its view shows, and of nothing else  [V10]
 * 19  one writes through a view, which supplies the pointers        [P1] [P2] [P3]
 * 20  a session has a view to begin with                            [V1] a session's view …
 * 21  which lists its messages, each with its id                    [V1] a session's view …
 * 22  whose text parts can be drawn                                 [V1] a session's view …
 * 23  more views over the same tree can be made                     [V1] more views …
 * 24  each with selections, window and listeners of its own         [V1] more views …
 */
import {
  type Client,
  type EntryId,
  type Session,
  serveRuns,
  type View,
  type ViewChange,
} from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { readTexts } from "../client/summaries.js";
import { open, say, textsOf, type World } from "../kit/world.js";
import { answer, createStage, granted, idOf, placeOf, saidBy, serveEcho, settled } from "./kit.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;

beforeEach(async () => {
  ({ world, ann, session, view } = await createStage());
});

const hear = (of: View): ViewChange[] => {
  const heard: ViewChange[] = [];
  of.subscribe((change) => heard.push(change));
  return heard;
};

describe("a line", () => {
  test("[V2] a view takes one sibling at each branch point, and gives one flat list of what it took (14)", async () => {
    await say(world, view, "one");
    await answer(world, view, "answer one");
    await say(world, view, "two");
    view.edit(idOf(view, "two"), "other two");
    await answer(world, view, "answer other two");
    view.edit(idOf(view, "one"), "other one");
    await answer(world, view, "answer other one");
    await world.settle();
    view.select(view.branchInfo(idOf(view, "other one")).previousId as EntryId);
    await world.settle();
    const shown = ["one", "answer one", "other two", "answer other two"];
    expect(textsOf(view)).toEqual(shown);
    const entries = view.getMessages().map(({ entry }) => entry);
    for (const [index, entry] of entries.entries())
      expect(entry.parentId).toBe(index === 0 ? null : entries[index - 1]?.id);
    // The same line is what an agent sends to its model.
    const read: string[][] = [];
    serveRuns(world.client("agent"), async (run, served) => {
      read.push(readTexts(granted(await served.context(run.run.inputId as EntryId))));
    });
    await world.settle();
    view.send("ask", { run: true });
    await world.settle();
    expect(read).toEqual([[...shown, "ask"]]);
  });

  test("[V9] of three responses it shows one as if it were alone, and leads to the others (15)", async () => {
    let count = 0;
    serveRuns(world.client("agent"), async (run) => {
      count += 1;
      const message = run.stream();
      message.append(`response ${count}`);
      await message.end();
    });
    await world.settle();
    view.send("ask", { run: true });
    await world.settle();
    for (let times = 0; times < 2; times += 1) {
      view.regenerate(view.at(1)?.id as EntryId);
      await world.settle();
    }
    const prompt = idOf(view, "ask");
    const responses = (await world.fold("s")).children(prompt).map(({ entry }) => entry.id);
    expect(responses).toHaveLength(3);
    expect(textsOf(view)).toEqual(["ask", "response 3"]);
    for (const [index, text] of ["response 1", "response 2", "response 3"].entries()) {
      view.select(responses[index] as EntryId);
      await world.settle();
      expect(textsOf(view)).toEqual(["ask", text]);
      expect(placeOf(view, responses[index] as EntryId)).toBe(`${index + 1} of 3`);
    }
    expect(view.branchInfo(responses[1] as EntryId)).toMatchObject({
      previousId: responses[0],
      nextId: responses[2],
    });
  });

  test("[V1] two clients look at different branches of one session (16)", async () => {
    await say(world, view, "one", "two");
    view.edit(idOf(view, "one"), "other one");
    await world.settle();
    const bob = (await open(world, world.client("bob"))).view;
    const said = saidBy(world, "ann").length;
    bob.step(idOf(bob, "other one"), -1);
    await world.settle();
    expect(textsOf(bob)).toEqual(["one", "two"]);
    expect(textsOf(view)).toEqual(["other one"]);
    expect(saidBy(world, "ann")).toHaveLength(said);
    await say(world, bob, "three");
    await say(world, view, "other two");
    expect(textsOf(bob)).toEqual(["one", "two", "three"]);
    expect(textsOf(view)).toEqual(["other one", "other two"]);
  });
});

describe("[V8] a window (17)", () => {
  const all = Array.from({ length: 120 }, (_, index) => `m${index}`);
  let late: View;

  beforeEach(async () => {
    await say(world, view, ...all);
    late = (await open(world, world.client("late"))).view;
  });

  test("older messages are withheld, and the view says so", async () => {
    expect(textsOf(late)).toEqual(all.slice(-50));
    expect(late.snapshot.hasOlder).toBe(true);
    const told = world.network.log.filter(({ to, owner }) => to === "client" && owner === "late");
    expect(told.some(({ text }) => text.includes('"m69"'))).toBe(false);
  });

  test("they are loaded on demand, to the first one", async () => {
    const heard = hear(late);
    expect(await settled(world, late.loadOlder(30))).toBe(30);
    expect(textsOf(late)).toEqual(all.slice(-80));
    expect(late.snapshot.hasOlder).toBe(true);
    expect(heard).toContainEqual({
      type: "line",
      from: late.snapshot.leafId,
      to: late.snapshot.leafId,
    });
    expect(await settled(world, late.loadOlder(1000))).toBe(40);
    expect([textsOf(late), late.snapshot.hasOlder]).toEqual([all, false]);
    expect(await settled(world, late.loadOlder())).toBe(0);
  });

  test("or up to one that is looked for; what is asked for at once is asked for once", async () => {
    const said = saidBy(world, "late").length;
    const asked = [late.loadOlder(20), late.loadOlder(20)];
    expect(await settled(world, Promise.all(asked))).toEqual([20, 20]);
    expect([late.snapshot.length, saidBy(world, "late").length]).toEqual([70, said + 1]);
    const found = await settled(
      world,
      late.loadUntil((entry) => entry.id === view.at(3)?.id),
    );
    expect(found?.id).toBe(view.at(3)?.id);
    expect(textsOf(late)).toContain("m3");
  });
});

describe("[V10] events (18)", () => {
  let shown: EntryId;
  let hidden: EntryId;

  /** One view on each of two branches. */
  beforeEach(async () => {
    await say(world, view, "one");
    shown = idOf(view, "one");
    hidden = session.createView().edit(shown, "hidden").id as EntryId;
    await world.settle();
    expect(view.branchInfo(shown).nextId).toBe(hidden);
    expect(textsOf(view)).toEqual(["one"]);
  });

  test("nothing of another branch: neither its text, nor its growth, nor its runs", async () => {
    await serveEcho(world);
    const heard = hear(view);
    const other = (await open(world, world.client("bob"))).view;
    other.branch(hidden);
    other.send("goes on there", { run: true });
    await world.settle();
    const stream = session.stream({}, { after: hidden });
    for (const token of ["a", "b", "c"]) {
      stream.append(token);
      await world.settle();
    }
    await settled(world, stream.end());
    expect(textsOf(other)).toEqual(["hidden", "goes on there", "goes on there!", "abc"]);
    expect(heard).toEqual([]);
  });

  test("what is shown is told of: its text, its growth, its runs, from begin to end", async () => {
    await serveEcho(world);
    const heard = hear(view);
    const { runId, id } = view.send("ask", { run: true });
    await world.settle();
    const reply = view.snapshot.leafId as EntryId;
    expect(heard[0]).toEqual({ type: "line", from: shown, to: id });
    expect(heard).toContainEqual({ type: "line", from: id, to: reply });
    expect(heard).toContainEqual({ type: "run", id: runId });
    expect(heard.filter((change) => "id" in change && change.id === hidden)).toEqual([]);
    expect(view.runs()).toEqual([]);
  });

  test("a part of a page that shows one message is woken by that one alone", async () => {
    const stream = session.stream({}, { after: shown });
    stream.append("a");
    await world.settle();
    const woken: string[] = [];
    view.subscribeEntry(shown, () => woken.push("prompt"));
    view.subscribeEntry(stream.id, () => woken.push("reply"));
    const before = view.get(shown);
    const { snapshot } = view;
    for (const token of ["b", "c"]) {
      stream.append(token);
      await world.settle();
    }
    expect(woken).toEqual(["reply", "reply"]);
    expect([view.get(shown), view.snapshot]).toEqual([before, snapshot]);
    expect(view.get(shown)).toBe(before);
    view.edit(shown, "third");
    view.select(shown);
    await world.settle();
    expect(woken).toContain("prompt");
  });
});

describe("writing through a view (19)", () => {
  beforeEach(async () => {
    await say(world, view, "one", "two");
  });

  test("[P1] what is sent goes on from where the view is", async () => {
    const [, two] = view.snapshot.ids;
    const sent = view.send("three");
    expect(await settled(world, sent.settled)).toMatchObject({ ok: true, parentId: two });
  });

  test("[P2] an edit and a regeneration take the parent of what they are alternatives to", async () => {
    const [one, two] = view.snapshot.ids as [EntryId, EntryId];
    expect(await settled(world, view.edit(two, "other two").settled)).toMatchObject({ parentId: one });
    expect(await settled(world, view.edit(one, "other one").settled)).toMatchObject({ parentId: null });
    await serveEcho(world);
    view.send("ask", { run: true });
    await world.settle();
    const reply = idOf(view, "ask!");
    view.regenerate(reply);
    await world.settle();
    const again = view.snapshot.leafId as EntryId;
    expect(again).not.toBe(reply);
    expect(view.get(again)?.entry.parentId).toBe(idOf(view, "ask"));
  });

  test("[P3] a view that was put back writes below exactly that entry", async () => {
    const [one] = view.snapshot.ids as [EntryId];
    view.branch(one);
    const sent = view.send("beside two");
    expect(await settled(world, sent.settled)).toMatchObject({ parentId: one });
    expect(placeOf(view, sent.id as EntryId)).toBe("2 of 2");
  });

  test("[P1] two that write at once from one place make one line, and neither is hidden", async () => {
    const bob = (await open(world, world.client("bob"))).view;
    view.send("from ann");
    bob.send("from bob");
    await world.settle();
    expect(textsOf(view)).toHaveLength(4);
    expect(textsOf(bob)).toEqual(textsOf(view));
  });
});

describe("a session's views", () => {
  test("[V1] a session's view lists the messages of its branch, each with its id (20, 21, 22)", async () => {
    await say(world, view, "one");
    view.send([
      { type: "text", text: "two, " },
      { type: "file", mediaType: "image/png", url: "https://example.org/a.png" },
      { type: "text", text: "in parts" },
    ]);
    await world.settle();
    expect(session.view).toBe(view);
    const drawn: unknown[] = [];
    for (const { id, entry } of session.view.getMessages()) {
      if (entry.type !== "message") continue;
      const text = entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      drawn.push([id, entry.role, text]);
    }
    const [one, two] = view.snapshot.ids;
    expect(drawn).toEqual([
      [one, "user", "one"],
      [two, "user", "two, in parts"],
    ]);
  });

  test("[V1] more views over the same tree have selections, windows and listeners of their own (23, 24)", async () => {
    await say(world, view, "one", "two", "three");
    view.edit(idOf(view, "two"), "other two");
    await world.settle();
    const second = session.createView({ limit: 1 });
    const third = session.createView();
    await world.settle();
    third.select(third.branchInfo(idOf(third, "other two")).previousId as EntryId);
    await world.settle();
    expect(textsOf(view)).toEqual(["one", "other two"]);
    expect(textsOf(second)).toEqual(["other two"]);
    expect(textsOf(third)).toEqual(["one", "two", "three"]);
    const heard = [view, second, third].map(hear);
    await say(world, third, "four");
    expect(heard.map(({ length }) => length > 0)).toEqual([false, false, true]);
    // It is one tree: each can be shown what another one wrote.
    second.branch(third.snapshot.leafId);
    await world.settle();
    expect(textsOf(second)).toContain("four");
    third.close();
    expect(ann.session("s").view).toBe(view);
    expect(textsOf(view)).toEqual(["one", "other two"]);
  });
});
