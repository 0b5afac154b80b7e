/** The agent's side: runs are found, taken once, answered where they ask, and ended whatever happens. */
import {
  type Client,
  type Entry,
  type EntryId,
  type RunHandler,
  serveRuns,
  type View,
} from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textOf, textsOf, type World } from "../kit/world.js";

let world: World;
let ann: Client;
let view: View;

beforeEach(async () => {
  world = await createWorld();
  ann = world.client("ann");
  view = (await open(world, ann)).view;
});

const echo: RunHandler = async (run) => {
  const history = await run.history();
  if ("code" in history) throw new Error(history.message);
  const message = run.stream();
  message.append(`answer to ${textOf(history.at(-1) as Entry)}`);
  await message.end("complete", { input: history.length, output: 1 });
};

const runs = async () => (await world.records("s")).filter((record) => record.kind === "run");

describe("runs", () => {
  test("[R1] a message sent with a run is answered below it, and the run ends", async () => {
    serveRuns(world.client("agent"), echo);
    await world.settle();
    view.send("hello", { run: true });
    await world.settle();
    expect(textsOf(view)).toEqual(["hello", "answer to hello"]);
    expect(view.at(1)?.entry).toMatchObject({
      author: "agent",
      status: "complete",
      usage: { input: 1, output: 1 },
    });
    expect(view.runs()).toEqual([]);
    expect((await runs()).map(({ status }) => status)).toEqual(["requested", "active", "done"]);
  });

  test("[R1] a run that was asked for before any agent was there is answered when one comes", async () => {
    view.send("early", { run: true });
    await world.settle();
    expect(view.runs()).toMatchObject([{ status: "requested" }]);
    serveRuns(world.client("agent"), echo);
    await world.settle();
    expect(textsOf(view)).toEqual(["early", "answer to early"]);
  });

  test("[R1] two agents, twenty runs: each is answered once", async () => {
    for (const name of ["agent-1", "agent-2"]) serveRuns(world.client(name), echo);
    await world.settle();
    for (let index = 0; index < 20; index += 1) view.send(`question ${index}`, { run: true });
    await world.settle();
    const answers = [...(await world.fold("s")).nodes()].filter(({ entry }) => entry.runId !== undefined);
    expect(answers).toHaveLength(20);
    expect(new Set(answers.map(({ entry }) => entry.runId)).size).toBe(20);
  });

  test("[V3] [V12] the view that asked to regenerate moves to the new answer, others count it", async () => {
    const other = (await open(world, world.client("bob"))).view;
    let count = 0;
    serveRuns(world.client("agent"), async (run) => {
      count += 1;
      const message = run.stream();
      message.append(`answer ${count}`);
      await message.end();
    });
    await world.settle();
    view.send("question", { run: true });
    await world.settle();
    view.regenerate(view.at(1)?.id as EntryId);
    await world.settle();
    expect(textsOf(view)).toEqual(["question", "answer 2"]);
    expect(view.branchInfo(view.at(1)?.id as EntryId)).toMatchObject({ index: 1, total: 2 });
    expect(textsOf(other)).toEqual(["question", "answer 1"]);
    expect(other.branchInfo(other.at(1)?.id as EntryId)).toMatchObject({ index: 0, total: 2 });
  });

  test("[V12] an edit with a run is answered on its own branch", async () => {
    serveRuns(world.client("agent"), echo);
    await world.settle();
    view.send("first", { run: true });
    await world.settle();
    view.edit(view.at(0)?.id as EntryId, "second", { run: true });
    await world.settle();
    expect(textsOf(view)).toEqual(["second", "answer to second"]);
    view.step(view.at(0)?.id as EntryId, -1);
    expect(textsOf(view)).toEqual(["first", "answer to first"]);
  });

  test("[R5] a handler that throws fails its run, and what it had open", async () => {
    const errors: unknown[] = [];
    const fail: RunHandler = async (run) => {
      run.stream().append("half an ans");
      throw new Error("out of ideas");
    };
    serveRuns(world.client("agent"), fail, { onError: (error) => errors.push(error) });
    await world.settle();
    view.send("hello", { run: true });
    await world.settle();
    expect(errors).toHaveLength(1);
    expect(textsOf(view)).toEqual(["hello", "half an ans"]);
    expect(view.at(1)?.entry.status).toBe("failed");
    expect((await runs()).at(-1)).toMatchObject({ status: "failed", error: { code: "internal" } });
  });

  test("[S7] an agent that dies in mid-answer leaves its run interrupted and the text kept", async () => {
    const agent = world.client("agent");
    serveRuns(agent, async (run) => {
      run.stream().append("half");
      await new Promise(() => {});
    });
    await world.settle();
    view.send("hello", { run: true });
    await world.settle();
    agent.close();
    await world.advance(31_000);
    expect(textsOf(view)).toEqual(["hello", "half"]);
    expect(view.at(1)?.entry.status).toBe("aborted");
    expect((await runs()).at(-1)?.status).toBe("interrupted");
  });

  test("[S9] a restart of the server in mid-answer is not seen in the text, nor by the handler", async () => {
    let write: (text: string) => void = () => {};
    let finish: () => void = () => {};
    serveRuns(world.client("agent"), async (run) => {
      const message = run.stream();
      write = (text) => message.append(text);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      const settled = await message.end();
      expect(settled.ok).toBe(true);
    });
    await world.settle();
    view.send("hello", { run: true });
    await world.settle();
    write("one ");
    await world.settle();
    world.stopServer();
    write("two ");
    await world.advance(2_000);
    await world.startServer();
    await world.advance(20_000);
    write("three");
    finish();
    await world.settle();
    expect(textsOf(view)).toEqual(["hello", "one two three"]);
    expect(view.at(1)?.entry.status).toBe("complete");
    expect((await runs()).at(-1)?.status).toBe("done");
  });

  test("the history of a long line is loaded whole, and nothing of other branches", async () => {
    await say(world, view, ...Array.from({ length: 120 }, (_, index) => `m${index}`));
    view.edit(view.at(119)?.id as EntryId, "other");
    await world.settle();
    view.step(view.at(119)?.id as EntryId, -1);
    let seen: string[] = [];
    serveRuns(world.client("agent"), async (run) => {
      const history = await run.history();
      seen = "code" in history ? [history.message] : history.map(textOf);
    });
    await world.settle();
    view.send("question", { run: true });
    await world.settle();
    expect(seen).toEqual([...Array.from({ length: 120 }, (_, index) => `m${index}`), "question"]);
  });

  test("stopping takes no further run, and lets those under way end", async () => {
    let finish: () => void = () => {};
    const stop = serveRuns(world.client("agent"), async (run) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      await run.publish({ type: "message", role: "assistant", parts: [{ type: "text", text: "late" }] });
    });
    await world.settle();
    view.send("one", { run: true });
    await world.settle();
    stop();
    view.send("two", { run: true });
    await world.settle();
    finish();
    await world.settle();
    expect(textsOf(view)).toEqual(["one", "two", "late"]);
    expect(view.runs()).toMatchObject([{ status: "requested" }]);
  });
});
