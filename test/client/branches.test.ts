/** Branches and views, from the outside: several clients, one session. */
import type { Client, Content, EntryId, View, ViewState } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

let world: World;
let ann: Client;
let bob: Client;
let a: View;
let b: View;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  bob = world.client("bob");
  a = (await open(world, ann)).view;
  b = (await open(world, bob)).view;
});

const idOf = (view: View, text: string): EntryId => {
  const index = textsOf(view).indexOf(text);
  if (index < 0) throw new Error(`"${text}" is not shown in ${JSON.stringify(textsOf(view))}`);
  return view.at(index)?.id as EntryId;
};
const place = (view: View, text: string): string => {
  const { index, total } = view.branchInfo(idOf(view, text));
  return `${index + 1} of ${total}`;
};
const settle = () => world.settle();
/** As a storage gives it back. */
const exported = (view: View): ViewState => JSON.parse(JSON.stringify(view.state())) as ViewState;
const older = async (view: View): Promise<void> => {
  void view.loadOlder(1000);
  await settle();
};

describe("branches", () => {
  test("[P1] [B1] case-B1: two who send at once from one leaf make one line", async () => {
    await say(world, a, "start");
    a.send("from ann");
    b.send("from bob");
    await settle();
    const lines = [textsOf(a), textsOf(b)];
    expect(lines[0]).toEqual(lines[1]);
    expect([...(lines[0] ?? [])].sort()).toEqual(["from ann", "from bob", "start"]);
    expect((await world.fold("s")).children(idOf(a, "start"))).toHaveLength(1);
  });

  test("[V3] case-B2: an alternative by somebody else changes the count, not the line", async () => {
    await say(world, a, "u", "m1", "u2", "m2");
    const m1 = idOf(a, "m1");
    b.edit(m1, "m1 again");
    await settle();
    expect(textsOf(a)).toEqual(["u", "m1", "u2", "m2"]);
    expect(place(a, "m1")).toBe("1 of 2");
    expect(textsOf(b)).toEqual(["u", "m1 again"]);
  });

  test("[V3] [V4] case-B3: the line I read keeps growing after somebody edits its prompt", async () => {
    await say(world, a, "u", "m");
    b.edit(idOf(b, "u"), "u edited");
    await settle();
    const other = await open(world, world.client("cid"));
    other.view.select(idOf(a, "u"));
    await settle();
    await say(world, other.view, "more");
    expect(textsOf(a)).toEqual(["u", "m", "more"]);
  });

  test("[V7] case-B3: a reload with the exported state shows the same line", async () => {
    await say(world, a, "u", "m1", "n1", "n2");
    const first = idOf(a, "m1");
    for (const text of ["m2", "m3"]) {
      a.edit(first, text);
      await settle();
      await say(world, a, `below ${text}`, `end of ${text}`);
    }
    a.step(idOf(a, "m3"), -1);
    await settle();
    const state = exported(a);
    const again = world.client("ann").session("s", { view: { state, limit: 2 } }).view;
    await settle();
    expect(textsOf(again)).toEqual(["below m2", "end of m2"]);
    await older(again);
    expect(textsOf(again)).toEqual(["u", "m2", "below m2", "end of m2"]);
    expect(place(again, "m2")).toBe("2 of 3");
    const fresh = world.client("ann").session("s").view;
    await settle();
    expect(textsOf(fresh)).toEqual(["u", "m3", "below m3", "end of m3"]);
  });

  test("[P2] case-B4: an edit of an edit of an edit from three devices is one set of alternatives", async () => {
    const c = (await open(world, world.client("cid"))).view;
    await say(world, a, "first", "reply");
    b.edit(idOf(b, "first"), "second");
    await settle();
    c.select(b.at(0)?.id as EntryId);
    c.edit(b.at(0)?.id as EntryId, "third");
    await settle();
    a.edit(c.at(0)?.id as EntryId, "fourth");
    await settle();
    expect(textsOf(a)).toEqual(["fourth"]);
    expect(place(a, "fourth")).toBe("4 of 4");
    const tree = await world.fold("s");
    expect(tree.roots.map(({ entry }) => entry.id)).toHaveLength(4);
    expect(place(b, "second")).toBe("2 of 4");
  });

  test("[V9] case-B5: step back and forth through three edits", async () => {
    await say(world, a, "one");
    for (const text of ["two", "three", "four"]) {
      a.edit(a.at(0)?.id as EntryId, text);
      await settle();
    }
    const seen: string[] = [];
    for (const by of [-1, -1, -1, -1, 1, 1, 1, 1] as const) {
      a.step(a.at(0)?.id as EntryId, by);
      await settle();
      seen.push(`${textsOf(a)} ${place(a, textsOf(a)[0] as string)}`);
    }
    expect(seen).toEqual([
      "three 3 of 4",
      "two 2 of 4",
      "one 1 of 4",
      "one 1 of 4",
      "two 2 of 4",
      "three 3 of 4",
      "four 4 of 4",
      "four 4 of 4",
    ]);
  });

  test("[O1] case-B6: while a message is confirmed there are never two of it, nor a phantom alternative", async () => {
    await say(world, a, "before");
    const seen: string[][] = [];
    a.subscribe(() => {
      seen.push(textsOf(a));
      for (const { id } of a.getMessages()) expect(a.branchInfo(id).total).toBe(1);
    });
    a.send("mine");
    await settle();
    expect(seen).toEqual(
      seen.map((texts) => (texts.includes("mine") ? ["before", "mine"] : ["before", "mine (pending)"])),
    );
    expect(textsOf(a)).toEqual(["before", "mine"]);
  });

  test("[V6] case-B7: coming back from an old branch shows the line last shown below the newer one", async () => {
    await say(world, a, "old", "old reply");
    a.edit(idOf(a, "old"), "new");
    await settle();
    await say(world, a, "new reply", "go on");
    a.edit(idOf(a, "go on"), "go on otherwise");
    await settle();
    a.select(a.branchInfo(idOf(a, "go on otherwise")).previousId as EntryId);
    await settle();
    expect(textsOf(a)).toEqual(["new", "new reply", "go on"]);
    a.step(idOf(a, "new"), -1);
    await settle();
    expect(textsOf(a)).toEqual(["old", "old reply"]);
    a.step(idOf(a, "old"), 1);
    await settle();
    expect(textsOf(a)).toEqual(["new", "new reply", "go on"]);
  });

  /** P → A1 → s1 … → X1 or X2, with X1 chosen; then P → A2 is shown. */
  const chooseDeepBelowA1 = async (between: number): Promise<void> => {
    const steps = Array.from({ length: between }, (_, index) => `s${index + 1}`);
    await say(world, a, "P", "A1", ...steps, "X1", "below X1");
    a.edit(idOf(a, "X1"), "X2");
    await say(world, a, "below X2");
    a.step(idOf(a, "X2"), -1);
    a.edit(idOf(a, "A1"), "A2");
    await say(world, a, "below A2");
  };

  test.each([
    [2, 50],
    [2, 1],
    [120, 50],
    [120, 3],
  ])(
    "[V6] [V7] case-B10: what was chosen off the shown path outlives a reload, %i entries below, %i a window",
    async (between, limit) => {
      await chooseDeepBelowA1(between);
      const view = world.client("ann").session("s", { view: { state: exported(a), limit } }).view;
      await settle();
      await older(view);
      expect(textsOf(view)).toEqual(["P", "A2", "below A2"]);
      view.step(idOf(view, "A2"), -1);
      await settle();
      expect(textsOf(view).at(-1)).toBe("below X1");
      await older(view);
      expect(textsOf(view).slice(0, 3)).toEqual(["P", "A1", "s1"]);
      expect(view.snapshot.length).toBe(between + 4);
    },
  );

  test("[V6] [V7] case-B10: a state of a restored view keeps what that one never loaded", async () => {
    await chooseDeepBelowA1(5);
    let state = exported(a);
    for (let times = 0; times < 3; times += 1) {
      const { view } = world.client("ann").session("s", { view: { state, limit: 2 } });
      await settle();
      state = exported(view);
    }
    const { view } = world.client("ann").session("s", { view: { state } });
    await settle();
    view.step(idOf(view, "A2"), -1);
    await settle();
    expect(textsOf(view).at(-1)).toBe("below X1");
  });

  test("[V6] [V7] a view that was put between two branch points goes on to what was chosen below", async () => {
    await chooseDeepBelowA1(3);
    a.step(idOf(a, "A2"), -1);
    a.branch(idOf(a, "s2"));
    const { view } = world.client("ann").session("s", { view: { state: exported(a) } });
    await settle();
    expect(textsOf(view)).toEqual(["P", "A1", "s1", "s2"]);
    view.follow();
    await settle();
    expect(textsOf(view)).toEqual(["P", "A1", "s1", "s2", "s3", "X1", "below X1"]);
  });

  test("[V6] what was chosen below an entry is passed, also where one begins in the middle", async () => {
    await chooseDeepBelowA1(3);
    a.step(idOf(a, "A2"), -1);
    const middle = idOf(a, "s2");
    a.step(idOf(a, "A1"), 1);
    const { view } = world.client("ann").session("s", { view: { state: exported(a) } });
    await settle();
    view.select(middle);
    await settle();
    expect(textsOf(view)).toEqual(["P", "A1", "s1", "s2", "s3", "X1", "below X1"]);
  });

  test("[V7] a state names a chosen entry for each branch point, and nothing for what lies between", async () => {
    await chooseDeepBelowA1(100);
    expect(a.state().selections.length).toBeLessThan(12);
  });

  test("[V7] a state whose selections go in a circle, or to nowhere, ends at a leaf", async () => {
    const ids = await say(world, a, "one", "two", "three", "four");
    const [one, two, three] = ids as EntryId[];
    const nowhere = "nowhere" as EntryId;
    const circles = [
      [[one, two] as const, [two, one] as const],
      [[one, one] as const],
      [[null, three] as const, [three, two] as const, [two, three] as const],
      [[two, nowhere] as const, [nowhere, nowhere] as const],
    ] as [EntryId | null, EntryId][][];
    for (const selections of circles)
      for (const limit of [1, 50]) {
        const state = { leafId: one as EntryId, isHeld: true, selections };
        const { view } = world.client("cid").session("s", { view: { state, limit } });
        await settle();
        view.follow();
        await settle();
        expect(textsOf(view).at(-1)).toBe("four");
        expect(exported(view).leafId).toBe(ids[3]);
      }
  });

  test("[P1] case-B11: a second message sent while the first is pending goes after it", async () => {
    const first = a.send("first");
    a.send("second");
    expect(textsOf(a)).toEqual(["first (pending)", "second (pending)"]);
    await settle();
    expect(textsOf(a)).toEqual(["first", "second"]);
    expect(a.at(1)?.entry.parentId).toBe(first.id);
  });

  test("[O2] case-B11: where the first is refused the second says so, and goes on from what is shown", async () => {
    const [start] = await say(world, a, "start");
    const first = a.send({ type: "branch-summary", fromId: "nowhere" as EntryId, summary: "lost" });
    const second = a.send("second");
    await settle();
    expect(await first.settled).toMatchObject({ ok: false, error: { code: "invalid" } });
    expect(await second.settled).toMatchObject({ ok: false, error: { code: "unknown_parent" } });
    expect(textsOf(a)).toEqual(["start", "[branch-summary] (failed)", "second (failed)"]);
    a.discard(first.id);
    a.retry(second.id);
    expect(textsOf(a)).toEqual(["start", "second (pending)"]);
    await settle();
    expect(textsOf(a)).toEqual(["start", "second"]);
    expect(a.at(1)?.entry.parentId).toBe(start);
  });

  test("[V12] case-B12: regenerating a reply whose prompt is outside the window finds the right prompt", async () => {
    const [prompt] = await say(world, a, "prompt");
    const reply = (text: string): Content => ({
      type: "message",
      role: "assistant",
      parts: [{ type: "text", text }],
    });
    for (let index = 0; index < 6; index += 1) {
      a.send(reply(`step ${index}`));
      await settle();
    }
    const late = world.client("cid").session("s", { view: { limit: 3 } });
    const { view } = late;
    await settle();
    expect(textsOf(view)).toEqual(["step 3", "step 4", "step 5"]);
    view.regenerate(view.at(2)?.id as EntryId);
    await settle();
    expect(late.runs()).toMatchObject([{ inputId: prompt, place: { under: prompt }, status: "requested" }]);
  });

  test("[F6] [V5] case-B13: rewound to before the first prompt, the next one is a second root", async () => {
    await say(world, a, "first", "reply");
    a.branch(null);
    expect(textsOf(a)).toEqual([]);
    expect(a.snapshot.isHeld).toBe(true);
    await say(world, a, "again");
    expect(textsOf(a)).toEqual(["again"]);
    expect(place(a, "again")).toBe("2 of 2");
    a.step(idOf(a, "again"), -1);
    await settle();
    expect(textsOf(a)).toEqual(["first", "reply"]);
    expect(place(a, "first")).toBe("1 of 2");
  });

  test("[V4] case-B14: a rewound view stays where it was put", async () => {
    await say(world, a, "one", "two", "three");
    a.branch(idOf(a, "one"));
    await say(world, b, "four");
    expect(textsOf(a)).toEqual(["one"]);
    expect(a.snapshot.isHeld).toBe(true);
    a.follow();
    await settle();
    expect(textsOf(a)).toEqual(["one", "two", "three", "four"]);
  });

  test("[P3] [V4] what a held view sends is an alternative, and ends the hold", async () => {
    await say(world, a, "one", "two");
    a.branch(idOf(a, "one"));
    await say(world, a, "two otherwise");
    expect(textsOf(a)).toEqual(["one", "two otherwise"]);
    expect(place(a, "two otherwise")).toBe("2 of 2");
    expect(a.snapshot.isHeld).toBe(false);
    await say(world, b, "three");
    expect(textsOf(b)).toEqual(["one", "two", "three"]);
    await say(world, a, "three otherwise");
    expect(textsOf(a)).toEqual(["one", "two otherwise", "three otherwise"]);
  });

  test("[V5] case-B15: a checkpoint of an empty session gives an empty view", async () => {
    const checkpoint = a.snapshot.leafId;
    expect(checkpoint).toBeNull();
    await say(world, a, "one", "two");
    a.branch(checkpoint);
    expect(textsOf(a)).toEqual([]);
  });

  test("[V5] a checkpoint is a leaf, and a listener hears from which leaf to which", async () => {
    await say(world, a, "one");
    const checkpoint = a.snapshot.leafId as EntryId;
    await say(world, a, "two", "three");
    const from = a.snapshot.leafId;
    const heard: unknown[] = [];
    a.subscribe((change) => heard.push(change));
    a.branch(checkpoint);
    expect(heard).toEqual([{ type: "line", from, to: checkpoint }]);
    expect(textsOf(a)).toEqual(["one"]);
  });

  test("[V5] discarding a failed edit returns the view to its former leaf", async () => {
    const [one] = await say(world, a, "one", "two");
    const edit = a.edit(one as EntryId, { id: one as EntryId, type: "message", role: "user", parts: [] });
    expect(textsOf(a)).toEqual([]);
    await settle();
    expect(await edit.settled).toMatchObject({ ok: false });
    a.discard(edit.id);
    expect(textsOf(a)).toEqual(["one", "two"]);
  });

  test("[V5] [V4] discarding a failed edit returns a held view to where it was held", async () => {
    const [one, two] = await say(world, a, "one", "two", "three");
    a.branch(two as EntryId);
    const edit = a.edit(one as EntryId, { id: one as EntryId, type: "message", role: "user", parts: [] });
    await settle();
    a.discard(edit.id);
    expect(textsOf(a)).toEqual(["one", "two"]);
    expect(a.snapshot.isHeld).toBe(true);
  });

  test("[V3] `follow: newest` moves to whatever is written last", async () => {
    const newest = ann.session("s").createView({ follow: "newest" });
    await say(world, b, "one");
    b.edit(idOf(b, "one"), "two");
    await settle();
    expect(textsOf(newest)).toEqual(["two"]);
    expect(textsOf(a)).toEqual(["one"]);
  });

  test("[V1] a view's choice is seen nowhere else and sends nothing", async () => {
    await say(world, a, "one");
    a.edit(idOf(a, "one"), "two");
    await settle();
    const second = ann.session("s").createView();
    await settle();
    const before = world.network.log.length;
    a.step(idOf(a, "two"), -1);
    await settle();
    expect(world.network.log.length).toBe(before);
    expect(textsOf(a)).toEqual(["one"]);
    expect(textsOf(second)).toEqual(["two"]);
  });

  test("[V10] [O1] a send is heard as pending and then as confirmed, by the view that shows it alone", async () => {
    await say(world, a, "one", "two");
    const elsewhere = ann.session("s").createView({ leafId: idOf(a, "one") });
    const heard: unknown[] = [];
    elsewhere.subscribe((change) => heard.push(change));
    const shown: string[][] = [];
    a.subscribe(() => shown.push(textsOf(a)));
    a.send("three");
    await settle();
    expect(shown).toEqual([
      ["one", "two", "three (pending)"],
      ["one", "two", "three"],
    ]);
    expect(heard).toEqual([]);
  });

  test("[V2] a view created later, without a line of its own, shows the newest entry's", async () => {
    await say(world, a, "one");
    a.edit(idOf(a, "one"), "two");
    await settle();
    a.select(a.branchInfo(idOf(a, "two")).previousId as EntryId);
    await say(world, a, "under one");
    const second = bob.session("s").createView();
    await settle();
    expect(textsOf(second)).toEqual(["one", "under one"]);
  });
});
