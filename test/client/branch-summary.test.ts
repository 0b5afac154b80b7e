/** C8: on request, what was done on a line that was left is told on the one that goes on. */
import {
  type BranchSummarized,
  type Client,
  EspalierError,
  leaveBranch,
  type Session,
  summarizeBranch,
  type View,
} from "@espalier/client";
import { BRANCH_INSTRUCTION, context, type EntryId, pathTo } from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";
import { readTexts, recorder, tap } from "./summaries.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;
/** "plan", and below it "try", "fail": the line that is left. */
let plan: EntryId;
let left: EntryId;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  ({ session, view } = await open(world, ann));
  const ids = await say(world, view, "plan", "try", "fail");
  plan = ids[0] as EntryId;
  left = ids[2] as EntryId;
});

const settled = async <T>(work: Promise<T>): Promise<T> => {
  await world.settle();
  return work;
};

const modelReads = async (): Promise<string[]> => {
  const leaf = (await world.fold("s")).get(view.snapshot.leafId as EntryId);
  return leaf === undefined ? [] : readTexts(context(pathTo(leaf).map(({ entry }) => entry)));
};

const logLength = async (): Promise<number> => (await world.records("s")).length;

describe("[C8] a line that was left", () => {
  test("is summarised where the view went, from where the two parted", async () => {
    view.branch(plan);
    const { summarize, requests } = recorder("it failed");
    const told = await settled(summarizeBranch(view, { from: left, summarize }));
    expect(told).toMatchObject({ fromId: left, commonId: plan, summary: "it failed" });
    expect(readTexts(requests[0]?.messages ?? [])).toEqual(["try", "fail"]);
    expect(requests[0]?.instruction).toBe(BRANCH_INSTRUCTION);
    expect(textsOf(view)).toEqual(["plan", "[branch-summary]"]);
    await say(world, view, "again");
    expect(await modelReads()).toEqual(["plan", "it failed", "again"]);
    expect((await world.fold("s")).get((told as BranchSummarized).id)?.entry).toMatchObject({
      parentId: plan,
      fromId: left,
    });
  });

  test("is left and summarised in one step; the view goes at once", async () => {
    const { summarize, requests } = recorder("it failed");
    const done = leaveBranch(view, plan, { summarize });
    expect(textsOf(view)).toEqual(["plan"]);
    expect(await settled(done)).toMatchObject({ fromId: left, commonId: plan });
    expect(readTexts(requests[0]?.messages ?? [])).toEqual(["try", "fail"]);
  });

  test("[F6] from its first prompt on: the summary begins a second root", async () => {
    const done = await settled(leaveBranch(view, null, recorder("it failed")));
    expect(done).toMatchObject({ commonId: null });
    expect(textsOf(view)).toEqual(["[branch-summary]"]);
    expect(view.branchInfo(view.snapshot.leafId as EntryId)).toMatchObject({ index: 1, total: 2 });
  });

  test("is told behind what was sent here meanwhile", async () => {
    view.branch(plan);
    const { answer, say: write, end } = tap();
    const done = summarizeBranch(view, { from: left, summarize: () => answer });
    await world.settle();
    await say(world, view, "again");
    write("it failed");
    end();
    await settled(done);
    expect(textsOf(view)).toEqual(["plan", "again", "[branch-summary]"]);
  });

  test("is told on a line that is there already", async () => {
    view.edit(left, "win");
    await world.settle();
    const done = await settled(summarizeBranch(view, { from: left, ...recorder("it failed") }));
    expect(done).toMatchObject({ commonId: view.at(1)?.id });
    expect(textsOf(view)).toEqual(["plan", "try", "win", "[branch-summary]"]);
  });

  test("[V8] is read whole, though no view has loaded it", async () => {
    await say(world, view, ...Array.from({ length: 120 }, (_, index) => `m${index}`));
    const tip = view.snapshot.leafId as EntryId;
    const late = (await open(world, world.client("late"))).view;
    const { summarize, requests } = recorder();
    late.branch(plan);
    await world.settle();
    await settled(summarizeBranch(late, { from: tip, summarize }));
    expect(requests[0]?.messages).toHaveLength(122);
    expect(textsOf(late)).toEqual(["plan", "[branch-summary]"]);
  });

  test("that has nothing of its own is not summarised, nor is one where all is pending", async () => {
    const { summarize, requests } = recorder();
    expect(await settled(summarizeBranch(view, { from: plan, summarize }))).toMatchObject({
      code: "nothing_to_compact",
    });
    const fresh = ann.session("fresh", { create: true }).view;
    expect(await settled(leaveBranch(fresh, null, { summarize }))).toMatchObject({
      code: "nothing_to_compact",
    });
    expect(requests).toEqual([]);
  });

  test("that is in no session is refused", async () => {
    const done = summarizeBranch(view, { from: "nowhere" as EntryId, ...recorder() });
    expect(await settled(done)).toHaveProperty("code");
  });
});

describe("a branch-summary that comes to nothing leaves nothing behind", () => {
  let before: number;

  beforeEach(async () => {
    before = await logLength();
  });

  const expectNothing = async (): Promise<void> => {
    expect(await logLength()).toBe(before);
    expect(session.snapshot.writes).toEqual([]);
  };

  test("cancelled", async () => {
    const controller = new AbortController();
    const stuck = tap();
    const done = leaveBranch(view, plan, { summarize: () => stuck.answer, signal: controller.signal });
    await world.settle();
    controller.abort();
    expect(await settled(done)).toMatchObject({ code: "cancelled" });
    expect(textsOf(view)).toEqual(["plan"]);
    await expectNothing();
  });

  test("failed", async () => {
    const summarize = () => Promise.reject(new Error("no quota"));
    expect(await settled(leaveBranch(view, plan, { summarize }))).toEqual({
      code: "internal",
      message: "unable to summarise the line that was left; no quota",
    });
    await expectNothing();
  });

  test("because the view went back meanwhile, or elsewhere", async () => {
    for (const back of [left, null]) {
      view.branch(left);
      const { answer, say: write, end } = tap();
      const done = leaveBranch(view, plan, { summarize: () => answer });
      await world.settle();
      view.branch(back);
      write("it failed");
      end();
      expect(await settled(done)).toMatchObject({ code: "cancelled" });
      await expectNothing();
    }
  });

  test("because nobody is known who could write it: the view is where it was", () => {
    expect(() => leaveBranch(view, plan)).toThrow(EspalierError);
    expect(textsOf(view)).toEqual(["plan", "try", "fail"]);
  });
});
