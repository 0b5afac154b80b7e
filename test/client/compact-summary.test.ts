/** Who writes a compaction's summary, what is told meanwhile, and that one that comes to nothing leaves nothing. */
import {
  type Client,
  type Compacted,
  compact,
  type ErrorBody,
  EspalierError,
  type Session,
  type SummaryProgress,
  type View,
} from "@espalier/client";
import { DEFAULT_INSTRUCTION } from "@espalier/shared";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";
import { readTexts, recorder, tap } from "./summaries.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  ({ session, view } = await open(world, ann));
});

/** Runs something that needs the world to go on. */
const settled = async <T>(work: Promise<T>): Promise<T> => {
  await world.settle();
  return work;
};

const logLength = async (): Promise<number> => (await world.records("s")).length;

describe("who writes the summary", () => {
  test("the model that the client was given, with the instruction as the last message", async () => {
    const asked: { role: string; text: string; settings: unknown }[] = [];
    const agent = world.client("agent", {
      model: async function* ({ messages, settings }) {
        for (const [index, text] of readTexts(messages).entries())
          asked.push({ role: messages[index]?.role ?? "", text, settings });
        yield "in ";
        yield "short";
        yield { usage: { input: 7, output: 2 } };
      },
    });
    const mine = (await open(world, agent)).view;
    mine.send({ type: "model-change", provider: "acme", modelId: "large" });
    await say(world, mine, "one", "two");
    const compacted = await settled(compact(mine, { keepTurns: 1 }));
    expect(compacted).toMatchObject({ summary: "in short", usage: { input: 7, output: 2 } });
    expect(mine.get((compacted as Compacted).id)?.entry.usage).toEqual({ input: 7, output: 2 });
    const settings = { provider: "acme", modelId: "large", options: {} };
    expect(asked).toEqual([
      { role: "user", text: "one", settings },
      { role: "user", text: DEFAULT_INSTRUCTION, settings },
    ]);
  });

  test("`summarize` before the model, and `prompt` in the place of the instruction", async () => {
    const agent = world.client("agent", { model: () => Promise.resolve("the model's") });
    const mine = (await open(world, agent)).view;
    await say(world, mine, "one", "two");
    const { summarize, requests } = recorder("mine");
    const done = compact(mine, { keepTurns: 1, summarize, prompt: "Two words." });
    expect(await settled(done)).toMatchObject({ summary: "mine" });
    expect(requests[0]?.instruction).toBe("Two words.");
  });

  test("nobody: that is thrown at once, as is a policy that is none", () => {
    expect(() => compact(view, { keepTurns: 1 })).toThrow(EspalierError);
    expect(() => compact(view, { keepTurns: -1, ...recorder() })).toThrow("keepTurns");
    expect(() => compact({ ...view }, { keepTurns: 1, ...recorder() })).toThrow(EspalierError);
  });
});

describe("a compaction that comes to nothing leaves nothing behind", () => {
  let before: number;

  beforeEach(async () => {
    await say(world, view, "one", "two", "three");
    before = await logLength();
  });

  const expectNothing = async (done: Promise<Compacted | ErrorBody>, error: object): Promise<void> => {
    expect(await settled(done)).toMatchObject(error);
    expect(await logLength()).toBe(before);
    expect(textsOf(view)).toEqual(["one", "two", "three"]);
    expect(session.snapshot.writes).toEqual([]);
    const again = await settled(compact(view, { keepTurns: 1, ...recorder("again") }));
    expect(again).toMatchObject({ summary: "again" });
  };

  test.each(["reading", "summarizing", "writing"] as const)("[C4] cancelled while %s", async (phase) => {
    const controller = new AbortController();
    const onProgress = (progress: SummaryProgress): void => {
      if (progress.phase === phase) controller.abort();
    };
    const { signal } = controller;
    await expectNothing(compact(view, { keepTurns: 1, ...recorder(), signal, onProgress }), {
      code: "cancelled",
    });
  });

  test("[C4] cancelled in mid-summary, though the summariser does not heed it", async () => {
    const controller = new AbortController();
    const stuck = tap();
    const done = compact(view, {
      keepTurns: 1,
      summarize: () => stuck.answer,
      signal: controller.signal,
    });
    await world.settle();
    stuck.say("half a summ");
    await world.settle();
    controller.abort();
    await expectNothing(done, { code: "cancelled" });
    expect(stuck.isReturned).toBe(true);
  });

  test("cancelled before it began", () =>
    expectNothing(compact(view, { keepTurns: 1, ...recorder(), signal: AbortSignal.abort() }), {
      code: "cancelled",
    }));

  test("cancelled while it waits for a connection, to read what is not loaded", async () => {
    const far = world.client("far").session("s", { view: { limit: 1 } });
    expect(far.view.snapshot.length).toBe(0);
    await world.settle();
    world.stopServer();
    const controller = new AbortController();
    const { signal } = controller;
    const done = compact(far.view, { keepTurns: 1, ...recorder(), signal });
    await world.advance(5_000);
    controller.abort();
    expect(await settled(done)).toMatchObject({ code: "cancelled" });
    await world.startServer();
    await world.advance(60_000);
    expect(await logLength()).toBe(before);
  });

  test("[C4] a summariser that throws, at once, later, or in mid-stream", async () => {
    const midway = tap();
    midway.say("half");
    midway.fail(new Error("the line dropped"));
    const late = () => Promise.reject(new Error("no quota"));
    const atOnce = () => {
      throw new Error("no key");
    };
    for (const [summarize, reason] of [
      [() => midway.answer, "the line dropped"],
      [late, "no quota"],
      [atOnce, "no key"],
    ] as const)
      expect(await settled(compact(view, { keepTurns: 1, summarize }))).toEqual({
        code: "internal",
        message: `unable to compact; ${reason}`,
      });
    await expectNothing(compact(view, { keepTurns: 1, summarize: late }), { code: "internal" });
  });

  test.each(["", " \n "])("[C4] an empty summary, %j", (text) =>
    expectNothing(compact(view, { keepTurns: 1, ...recorder(Promise.resolve(text)) }), {
      code: "internal",
      message: "unable to compact; the summary is empty",
    }),
  );

  test("[L6] a summary that the log does not take is refused, and no failed write stays", () =>
    expectNothing(compact(view, { keepTurns: 1, ...recorder("x".repeat(2 ** 20)) }), { code: "too_large" }));

  test("a second one in the same view is refused while the first is under way", async () => {
    const first = tap();
    const done = compact(view, { keepTurns: 1, summarize: () => first.answer });
    await world.settle();
    expect(await compact(view, { keepTurns: 1, ...recorder() })).toMatchObject({ code: "conflict" });
    first.fail("gone");
    await expectNothing(done, { code: "internal", message: "unable to compact; gone" });
  });
});

test("progress: reading, then the summary as it grows, then writing", async () => {
  await say(world, view, "one", "two");
  const told: SummaryProgress[] = [];
  async function* summarize() {
    yield "in ";
    yield "short ";
  }
  await settled(compact(view, { keepTurns: 1, summarize, onProgress: (progress) => told.push(progress) }));
  expect(told).toEqual([
    { phase: "reading", tokensBefore: 0, characters: 0 },
    { phase: "summarizing", tokensBefore: 10, characters: 0 },
    { phase: "summarizing", tokensBefore: 10, characters: 3 },
    { phase: "summarizing", tokensBefore: 10, characters: 9 },
    { phase: "writing", tokensBefore: 10, characters: 8 },
  ]);
});
