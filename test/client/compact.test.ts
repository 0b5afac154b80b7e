/** Compaction through a view: what is summarised, where it is published, and that a failure leaves nothing. */
import { type Client, type Compacted, compact, serveRuns, type View } from "@espalier/client";
import {
  context,
  DEFAULT_INSTRUCTION,
  type EntryId,
  pathTo,
  SPLIT_INSTRUCTION,
  type TreeNode,
} from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";
import { readTexts, recorder, tap } from "./summaries.js";

let world: World;
let ann: Client;
let view: View;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  ({ view } = await open(world, ann));
});

/** Runs something that needs the world to go on. */
const settled = async <T>(work: Promise<T>): Promise<T> => {
  await world.settle();
  return work;
};

/** What the model reads, from the log, of the line that a view shows. */
const modelReads = async (of: View = view): Promise<string[]> => {
  const leaf = (await world.fold("s")).get(of.snapshot.leafId as EntryId);
  return leaf === undefined ? [] : readTexts(context(pathTo(leaf).map(({ entry }) => entry)));
};

/** A reply as an agent would leave it. */
const answer = async (text: string): Promise<void> => {
  view.send({ type: "message", role: "assistant", parts: [{ type: "text", text }] });
  await world.settle();
};

const callTool = async (callId: string): Promise<void> => {
  const part = { type: "tool-call", callId, name: "look", input: "{}", state: "ready" } as const;
  view.send({ type: "message", role: "assistant", parts: [part] });
  await world.settle();
};

const returnFromTool = async (callId: string): Promise<void> => {
  view.send({ type: "message", role: "tool", parts: [{ type: "tool-result", callId, output: 1 }] });
  await world.settle();
};

describe("compact", () => {
  test("[C2] [V12] publishes one entry after the leaf: the model reads the summary and what is kept", async () => {
    const ids = await say(world, view, "one", "two", "three");
    const { summarize, requests } = recorder("in short: one");
    const compacted = await settled(compact(view, { keepTurns: 2, summarize }));
    expect(compacted).toMatchObject({ summary: "in short: one", firstKeptId: ids[1], upToId: ids[2] });
    expect(readTexts(requests[0]?.messages ?? [])).toEqual(["one"]);
    expect(await modelReads()).toEqual(["in short: one", "two", "three"]);
    expect(textsOf(view)).toEqual(["one", "two", "three", "[compaction]"]);
    expect(view.at(3)?.entry).toMatchObject({ id: (compacted as Compacted).id, tokensBefore: 16 });
  });

  test("[C2] [case-C5] readers elsewhere see everything, and the mark", async () => {
    const bob = (await open(world, world.client("bob"))).view;
    await say(world, view, "one", "two");
    await settled(compact(view, { keepTurns: 1, ...recorder() }));
    expect(textsOf(bob)).toEqual(["one", "two", "[compaction]"]);
  });

  test("[C3] what another device writes meanwhile stands between, and is read as written", async () => {
    const bob = (await open(world, world.client("bob"))).view;
    await say(world, view, "one", "two");
    const { answer: streamed, say: write, end } = tap();
    const done = compact(view, { keepTurns: 1, summarize: () => streamed });
    await world.settle();
    await say(world, bob, "three");
    write("sum");
    end();
    expect(await settled(done)).toMatchObject({ summary: "sum" });
    expect(textsOf(view)).toEqual(["one", "two", "three", "[compaction]"]);
    expect(textsOf(bob)).toEqual(textsOf(view));
    expect(await modelReads()).toEqual(["sum", "two", "three"]);
  });

  test("[C3] what is pending here comes before the compaction", async () => {
    await say(world, view, "one", "two");
    const done = compact(view, { keepTurns: 1, ...recorder("sum") });
    view.send("three");
    await settled(done);
    expect(await modelReads()).toEqual(["sum", "two", "three"]);
  });

  test("[C3] two devices that compact at once: the later one counts, and nothing is lost", async () => {
    const bob = (await open(world, world.client("bob"))).view;
    await say(world, view, "one", "two", "three");
    const both = [
      compact(view, { keepTurns: 1, ...recorder("sum a") }),
      compact(bob, { keepTurns: 2, ...recorder("sum b") }),
    ];
    for (const compacted of await settled(Promise.all(both))) expect(compacted).toHaveProperty("summary");
    const [summary, ...rest] = await modelReads();
    expect(rest).toEqual(summary === "sum a" ? ["three"] : ["two", "three"]);
    expect(textsOf(bob)).toEqual(textsOf(view));
  });

  test("[C4] [case-C1] a second one summarises the first summary and what that had kept", async () => {
    await say(world, view, "one", "two", "three");
    const { summarize, requests } = recorder("first", "second");
    await settled(compact(view, { keepTurns: 2, summarize }));
    await say(world, view, "four");
    await settled(compact(view, { keepTurns: 1, summarize }));
    expect(readTexts(requests[1]?.messages ?? [])).toEqual(["first", "two", "three"]);
    expect(await modelReads()).toEqual(["second", "four"]);
  });

  test("[C4] [case-C4] going back to before it, or between two, gives that context whole", async () => {
    const [, two] = await say(world, view, "one", "two");
    const first = (await settled(compact(view, { keepTurns: 1, ...recorder("first") }))) as Compacted;
    const [three] = await say(world, view, "three");
    await settled(compact(view, { keepTurns: 1, ...recorder("second") }));
    view.branch(three as EntryId);
    expect(await modelReads()).toEqual(["first", "two", "three"]);
    view.branch(first.id);
    expect(await modelReads()).toEqual(["first", "two"]);
    view.branch(two as EntryId);
    expect(await modelReads()).toEqual(["one", "two"]);
  });

  test("[C5] [case-C6] a turn larger than the budget is split at a reply, and the summariser is told", async () => {
    await say(world, view, "one");
    await callTool("c");
    await returnFromTool("c");
    await answer("found");
    const { summarize, requests } = recorder("sum");
    const estimateTokens = () => 10;
    const done = compact(view, { keepTokens: 25, summarize, estimateTokens });
    expect(await settled(done)).toMatchObject({ split: { promptId: view.at(0)?.id }, tokensBefore: 40 });
    expect(requests[0]?.instruction).toBe(`${DEFAULT_INSTRUCTION}\n\n${SPLIT_INSTRUCTION}`);
    expect(await modelReads()).toEqual(["sum", "found"]);
  });

  test("[C5] an open call is kept, and its result, which comes while the summary is made, with it", async () => {
    await say(world, view, "one");
    await callTool("c");
    const { answer: streamed, say: write, end } = tap();
    const done = compact(view, { keepTurns: 0, summarize: () => streamed });
    await world.settle();
    await returnFromTool("c");
    write("sum");
    end();
    await settled(done);
    expect(await modelReads()).toEqual(["sum", "[tool-call]", "[tool-result]"]);
  });

  test("[C2] keep names what stays", async () => {
    const [one, , three] = await say(world, view, "one", "two", "three");
    await settled(compact(view, { keep: [three, one] as EntryId[], ...recorder("sum") }));
    expect(await modelReads()).toEqual(["sum", "one", "three"]);
  });

  test("[C2] keep brings back what an earlier one had summarised", async () => {
    const [one] = await say(world, view, "one", "two", "three");
    await settled(compact(view, { keepTurns: 1, ...recorder("first") }));
    const late = (await open(world, world.client("late"))).view;
    const { summarize, requests } = recorder("second");
    await say(world, late, "four");
    await settled(compact(late, { keep: [one as EntryId], summarize }));
    expect(readTexts(requests[0]?.messages ?? [])).toEqual(["first", "three", "four"]);
    expect(await modelReads(late)).toEqual(["second", "one"]);
  });

  test("[C3] goes up to the leaf, also where that is nothing that the model reads", async () => {
    const [, two] = await say(world, view, "one", "two");
    for (let index = 0; index < 60; index += 1) view.send({ type: "custom", name: "note", data: index });
    await world.settle();
    const late = (await open(world, world.client("late"))).view;
    const leaf = late.snapshot.leafId as EntryId;
    const compacted = await settled(compact(late, { keepTurns: 1, ...recorder("sum") }));
    expect(compacted).toMatchObject({ firstKeptId: two, upToId: leaf });
    expect(await modelReads()).toEqual(["sum", "two"]);
  });

  test("[R1] an agent compacts the line that its run answers, and answers below that", async () => {
    const agent = world.client("agent", { model: () => Promise.resolve("sum") });
    serveRuns(agent, async ({ run, stream }, served) => {
      const line = served.createView({ leafId: run.inputId });
      await compact(line, { keepTurns: 1 });
      line.close();
      const message = stream();
      message.append("answer");
      await message.end();
    });
    await say(world, view, "one", "two");
    view.send("three", { run: true });
    await world.settle();
    expect(textsOf(view)).toEqual(["one", "two", "three", "[compaction]", "answer"]);
    expect(await modelReads()).toEqual(["sum", "three", "answer"]);
  });

  test("[C5] [case-C3] with nothing to compact it says so, and nobody is asked", async () => {
    const { summarize, requests } = recorder();
    expect(await settled(compact(view, { keepTurns: 0, summarize }))).toMatchObject({
      code: "nothing_to_compact",
    });
    await say(world, view, "one");
    expect(await settled(compact(view, { keepTurns: 1, summarize }))).toMatchObject({
      code: "nothing_to_compact",
    });
    await settled(compact(view, { keepTurns: 0, summarize }));
    expect(await settled(compact(view, { keepTurns: 0, summarize }))).toMatchObject({
      code: "nothing_to_compact",
      message: "unable to compact; the line ends with a compaction, and nothing has come after it",
    });
    expect(requests).toHaveLength(1);
  });

  test("[V8] history that the view has not loaded is summarised too", async () => {
    const names = Array.from({ length: 500 }, (_, index) => `m${index}`);
    for (const name of names) view.send(name);
    await world.settle();
    const late = (await open(world, world.client("late"))).view;
    expect(late.snapshot.length).toBe(50);
    const { summarize, requests } = recorder("sum");
    await settled(compact(late, { keepTurns: 2, summarize }));
    expect(readTexts(requests[0]?.messages ?? [])).toEqual(names.slice(0, 498));
    expect(await modelReads(late)).toEqual(["sum", "m498", "m499"]);
    expect(late.snapshot.length).toBe(51);
  });

  test("[V4] [V5] of a view that was put back begins a branch there, and takes the view along", async () => {
    const [, two, three] = await say(world, view, "one", "two", "three");
    view.branch(two as EntryId);
    await settled(compact(view, { keepTurns: 1, ...recorder("sum") }));
    expect(textsOf(view)).toEqual(["one", "two", "[compaction]"]);
    expect(view.snapshot.isHeld).toBe(false);
    expect(view.branchInfo(view.snapshot.leafId as EntryId)).toMatchObject({ index: 1, total: 2 });
    expect((await world.fold("s")).get(three as EntryId)?.entry.parentId).toBe(two);
  });

  test.each([
    ["elsewhere", (one: EntryId) => view.branch(one), ["one"]],
    ["on from there", () => view.send("new"), ["one", "two", "new", "[compaction]"]],
  ] as const)("[V4] of a view that was put back and went %s meanwhile", async (_, go, shown) => {
    const [one, two] = await say(world, view, "one", "two", "three");
    view.branch(two as EntryId);
    const { answer: streamed, say: write, end } = tap();
    const done = compact(view, { keepTurns: 1, summarize: () => streamed });
    await world.settle();
    go(one as EntryId);
    await world.settle();
    write("sum");
    end();
    const { id } = (await settled(done)) as Compacted;
    const line = pathTo((await world.fold("s")).get(id) as TreeNode).map(({ entry }) => entry.id);
    expect(line.slice(0, 2)).toEqual([one, two]);
    expect(line).toHaveLength(shown.length === 1 ? 3 : 4);
    expect(textsOf(view)).toEqual(shown);
  });

  test("[V3] goes to the line that it was asked for, where the view has left that meanwhile", async () => {
    const [one, two] = await say(world, view, "one", "two");
    const { answer: streamed, say: write, end } = tap();
    const done = compact(view, { keepTurns: 1, summarize: () => streamed });
    await world.settle();
    view.branch(one as EntryId);
    write("sum");
    end();
    const { id } = (await settled(done)) as Compacted;
    expect((await world.fold("s")).get(id)?.entry.parentId).toBe(two);
    expect(textsOf(view)).toEqual(["one"]);
  });
});
