/**
 * A conversation as an append-only file of JSON lines, and its return. The claims in order, and the tests that
 * prove them; 18 to 28 are in `002-transcript-package-writers.test.ts`.
 *
 *  1  a log on disk keeps a conversation and gives it back          [D1] a conversation …
 *  2  the session's file is <dir>/<session>.jsonl                   [F5] where files lie
 *  3  a subagent's is <dir>/<session>/subagents/agent-<agent>.jsonl [F5] where files lie
 *  4  so its tokens are counted and kept apart, to be added up      [C9] a subagent's …
 *  5  every message is recorded as it is born                       [L1]
 *  6  after a compaction a cold start has the compacted
 *     conversation, and nothing is replayed or summarised again     [C2] a cold start …, [C2] … is not read
 *  7  what was kept reaches the model once                          [C2] what was kept …
 *  8  cleared results of tools are not recorded                     [C10]
 *  9  the boundary is a record, for whoever looks, and no message   [C2] a compaction is seen …
 * 10  the last id is where a resumed chain goes on                  [P4]
 * 11  the records give the raw conversation and all that was used   [C9] the records …
 * 12  an agent is given a fresh id                                  [L3]
 * 13  and so is a session                                           [L3]
 * 14  who runs within a session knows which                         [F5] a run …
 * 15  so that a subagent's file lies under it                       [F5] a run …
 * 16  what stands in a record                                       [D1] what stands …
 * 17  usage is an assistant's turn's                                [C9] the records …
 */
import { compact, type EntryId, serveRuns } from "@espalier/client";
import {
  addUsage,
  createSessionUsage,
  createTree,
  type Entry,
  isId,
  isSessionId,
  type LogRecord,
  pathTo,
  type Usage,
  usageOfPath,
} from "@espalier/shared";
import { afterEach, expect, test } from "vitest";
import { readTexts, recorder } from "../client/summaries.js";
import { until } from "../kit/until.js";
import { open, say, textOf } from "../kit/world.js";
import { cleanUp, connectTo, openSession, textsOf } from "../server/sockets.js";
import { copyDir, createDir, filesIn, openDir, readLog, sayAll, sendParts } from "./files.js";
import { createStage, entriesOf, granted, settled, toolCall, toolResult } from "./kit.js";

afterEach(cleanUp);

const spent = (input: number, output: number, model = "elm-2"): Usage => ({ input, output, model });

/** Added up from a file, as somebody would who has nothing but that. */
const usageIn = (records: readonly LogRecord[]) => {
  const usage = createSessionUsage();
  for (const record of records) if (record.kind !== "append" && record.kind !== "erase") usage.apply(record);
  return usage.totals();
};

test("[D1] a conversation is on disk as it goes on, and a later server gives it back as it was (1)", async () => {
  const dir = createDir();
  const { server, session, view } = await openDir(dir);
  const [, two] = await sayAll(view, "one", "two", "three");
  await view.edit(two as EntryId, "other two").settled;
  await session.setRegister("title", "Garden");
  const shown = view.getMessages().map(({ entry }) => entry);
  await server.close();
  const again = await openDir(dir);
  expect(again.view.getMessages().map(({ entry }) => entry)).toEqual(shown);
  expect(again.session.snapshot.title).toBe("Garden");
  again.view.select(two as EntryId);
  await until(() => textsOf(again.view).at(-1) === "three");
});

test("[F5] where files lie: the session's in the directory, a subagent's in a folder of the session's (2, 3)", async () => {
  const dir = createDir();
  const { server, session, view } = await openDir(dir);
  const entryId = await sendParts(view, [toolCall("c")]);
  const chain = session.sidechain("scout", { entryId, callId: "c" });
  await sayAll(chain.view, "Look around.");
  await server.close();
  const logs = filesIn(dir).filter((name) => !name.startsWith(".espalier"));
  expect(logs.sort()).toEqual(["s.jsonl", "s/subagents/agent-scout.jsonl"]);
  expect(entriesOf(readLog(dir, "s/subagents/agent-scout.jsonl").records).map(textOf)).toEqual([
    "Look around.",
  ]);
  expect(entriesOf(readLog(dir).records)).toHaveLength(1);
});

test("[C9] a subagent's tokens are counted and kept apart, and can be added up from the files (4)", async () => {
  const dir = createDir();
  const { server, session, view } = await openDir(dir);
  const entryId = await sendParts(view, [toolCall("c")], { usage: spent(10, 1) });
  const chain = session.sidechain("scout", { entryId, callId: "c" });
  await sendParts(chain.view, [{ type: "text", text: "found" }], { usage: spent(500, 20, "elm-mini") });
  const [own, ofChain] = [granted(await session.usage()), granted(await chain.usage())];
  expect([own, ofChain]).toMatchObject([
    { input: 10, output: 1 },
    { input: 500, output: 20 },
  ]);
  await server.close();
  const logs = ["s.jsonl", "s/subagents/agent-scout.jsonl"].map((name) =>
    usageIn(readLog(dir, name).records),
  );
  expect(logs).toEqual([own, ofChain]);
  expect(addUsage(...logs)).toMatchObject({
    input: 510,
    output: 21,
    byModel: { "elm-2": { input: 10 }, "elm-mini": { input: 500 } },
  });
});

test("[L1] every message is on disk when it is born, and one that streams is there as far as it got (5)", async () => {
  const dir = createDir();
  const { session, view } = await openDir(dir);
  /** As a server would find it that starts where this one died now. */
  const left = async (): Promise<string[]> => {
    const { view: found, server } = await openDir(copyDir(dir));
    const texts = textsOf(found);
    await server.close();
    return texts;
  };
  await sayAll(view, "prompt");
  expect(await left()).toEqual(["prompt"]);
  await sendParts(view, [{ type: "text", text: "looking" }, toolCall("c")]);
  expect(await left()).toEqual(["prompt", "looking[tool-call]"]);
  const result = await sendParts(view, [toolResult("c")], { role: "tool" });
  expect((await left()).at(-1)).toBe("[tool-result]");
  const stream = session.stream({}, { after: result });
  stream.append("half an ");
  await until(() => textsOf(view).at(-1) === "half an ");
  expect((await left()).at(-1)).toBe("half an ");
  stream.append("answer");
  await stream.end();
  expect((await left()).at(-1)).toBe("half an answer");
});

test("[C2] a cold start has the compacted conversation, and nobody is asked to summarise again (6)", async () => {
  const dir = createDir();
  const { server, view } = await openDir(dir);
  await sayAll(view, "one", "two", "three");
  granted(await compact(view, { keepTurns: 1, ...recorder("in short") }));
  await sayAll(view, "four");
  const before = granted(await view.context());
  expect(readTexts(before)).toEqual(["in short", "three", "four"]);
  await server.close();
  const again = await openDir(dir);
  let asked = 0;
  const agent = connectTo(again.url, {
    model: () => {
      asked += 1;
      return Promise.resolve("again");
    },
  });
  const { session } = await openSession(agent);
  expect(granted(await session.context(view.snapshot.leafId as EntryId))).toEqual(before);
  expect(asked).toBe(0);
});

test("[C2] what the summary stands for is not read again for that, only what the model is sent (6)", async () => {
  const { world, view } = await createStage();
  await say(world, view, ...Array.from({ length: 100 }, (_, index) => `early ${index}`), "kept");
  granted(await settled(world, compact(view, { keepTurns: 1, ...recorder("in short") })));
  await say(world, view, ...Array.from({ length: 60 }, (_, index) => `late ${index}`));
  world.stopServer();
  await world.startServer();
  const late = (await open(world, world.client("late"))).view;
  const messages = granted(await settled(world, late.context()));
  expect([messages.length, ...readTexts(messages).slice(0, 3)]).toEqual([62, "in short", "kept", "late 0"]);
  const told = world.network.log.filter(({ to, owner }) => to === "client" && owner === "late");
  expect(told.some(({ text }) => text.includes("kept"))).toBe(true);
  expect(told.filter(({ text }) => text.includes("early"))).toEqual([]);
});

// The kept tail is not recorded a second time: the compaction names where it begins, so each message stands in the
// log once, and a cold start has the compacted conversation all the same (6).
test("[C2] what was kept stands in the log once, and reaches the model once (7)", async () => {
  const dir = createDir();
  const { server, view } = await openDir(dir);
  await sayAll(view, "one", "two", "three");
  granted(await compact(view, { keepTurns: 2, ...recorder("in short") }));
  expect(readTexts(granted(await view.context()))).toEqual(["in short", "two", "three"]);
  await server.close();
  const texts = entriesOf(readLog(dir).records).map(textOf);
  expect(texts).toEqual(["one", "two", "three", "[compaction]"]);
});

test("[C10] results of tools that one request leaves out are nowhere recorded as such (8)", async () => {
  const dir = createDir();
  const { server, view } = await openDir(dir);
  await sayAll(view, "look");
  await sendParts(view, [toolCall("c")]);
  await sendParts(view, [toolResult("c", "a very long page")], { role: "tool" });
  const before = readTexts(granted(await view.context()));
  const cleared = await view.context({
    edit: (message) =>
      message.role === "tool" ? { ...message, parts: [toolResult("c", "[cleared]")] } : message,
  });
  expect(granted(cleared)[2]?.parts).toEqual([toolResult("c", "[cleared]")]);
  expect(readTexts(granted(await view.context()))).toEqual(before);
  await server.close();
  const text = JSON.stringify(readLog(dir).records);
  expect([text.includes("a very long page"), text.includes("[cleared]")]).toEqual([true, false]);
});

test("[C2] a compaction is seen by whoever looks, with its figures, and is no message of the conversation (9)", async () => {
  const dir = createDir();
  const { server, view } = await openDir(dir);
  await sayAll(view, "one", "two");
  const { id, tokensBefore } = granted(await compact(view, { keepTurns: 1, ...recorder("in short") }));
  expect(view.transcript().map(({ entry }) => entry.type)).toEqual(["message", "message", "compaction"]);
  expect(view.lastMessage()?.entry.type).toBe("message");
  await server.close();
  const record = entriesOf(readLog(dir).records).at(-1);
  expect(record).toMatchObject({ id, type: "compaction", summary: "in short", tokensBefore });
  expect(tokensBefore).toBeGreaterThan(0);
});

test("[P4] the last record's id is where a resumed conversation goes on (10)", async () => {
  const dir = createDir();
  const { server, view } = await openDir(dir);
  await sayAll(view, "one", "two");
  await server.close();
  const last = entriesOf(readLog(dir).records).at(-1)?.id;
  const again = await openDir(dir);
  expect(again.view.snapshot.leafId).toBe(last);
  expect(await again.view.send("three").settled).toMatchObject({ ok: true, parentId: last });
});

test("[C9] the records give the raw conversation and what it used, an assistant's turns' (11, 17)", async () => {
  const dir = createDir();
  const { server, session, view } = await openDir(dir);
  await sayAll(view, "one");
  await sendParts(view, [{ type: "text", text: "1" }], { usage: spent(10, 1) });
  granted(await compact(view, { keepTurns: 0, ...recorder("in short") }));
  await sayAll(view, "two");
  const stream = session.stream({}, { after: view.snapshot.leafId });
  stream.append("2");
  await stream.end("complete", spent(20, 2));
  const total = granted(await session.usage());
  await server.close();
  const tree = createTree();
  for (const record of readLog(dir).records) tree.apply(record);
  const path = pathTo(tree.newest as NonNullable<typeof tree.newest>).map(({ entry }) => entry);
  expect(path.filter(({ type }) => type === "message").map(textOf)).toEqual(["one", "1", "two", "2"]);
  expect(usageOfPath(path)).toMatchObject({ input: 30, output: 3 });
  expect(usageOfPath(path)).toEqual(total);
  const used = path.filter(({ usage }) => usage !== undefined);
  expect(used.map((entry: Entry) => entry.type === "message" && entry.role)).toEqual([
    "assistant",
    "assistant",
  ]);
});

test("[L3] fresh ids, for agents and for sessions, are never the same (12, 13)", async () => {
  const { client } = await openDir(undefined);
  const ids = Array.from({ length: 1000 }, () => client.newId());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => isId(id) && isSessionId(id) && isSessionId(`${id}/${id}`))).toBe(true);
  const { view } = await openSession(client, ids[0] as string);
  expect(textsOf(view)).toEqual([]);
});

// Nobody has to carry it along: what one begins a sidechain with, a run or a session, has it.
test("[F5] a run knows its session: a subagent that it begins is written under that one's folder (14, 15)", async () => {
  const dir = createDir();
  const { server, url, view } = await openDir(dir);
  const agent = connectTo(url, { token: "agent" });
  serveRuns(agent, async (run) => {
    const message = run.stream();
    message.push(toolCall("c", { state: "running" }));
    const chain = run.sidechain(agent.newId(), { entryId: message.id, callId: "c" });
    await sayAll(chain.view, "Look around.");
    chain.close();
    await message.end();
  });
  view.send("Find it.", { run: true });
  await until(() => view.snapshot.length === 2 && view.runs().length === 0);
  const call = view.snapshot.leafId;
  await server.close();
  const [name, ...others] = filesIn(dir).filter((path) => path.startsWith("s/"));
  expect(others).toEqual([]);
  expect(name).toMatch(/^s\/subagents\/agent-.+\.jsonl$/);
  expect(readLog(dir, name as string).header.origin).toEqual({ session: "s", entry: call, callId: "c" });
});

// Session and agent are not repeated in each record: the header says them once, and a sidechain by its origin.
test("[D1] what stands in a record: id, parent, time, type, content, usage; the header says the rest (16)", async () => {
  const dir = createDir();
  const { server, session, view } = await openDir(dir);
  const [one] = await sayAll(view, "one");
  const two = await sendParts(view, [toolCall("c")], { usage: spent(3, 1) });
  const chain = session.sidechain("scout", { entryId: two, callId: "c" });
  await sayAll(chain.view, "Look around.");
  await server.close();
  const [first, second] = entriesOf(readLog(dir).records);
  expect(first).toMatchObject({ id: one, parentId: null, type: "message", author: "ann" });
  expect(first).not.toHaveProperty("usage");
  expect(second).toMatchObject({ id: two, parentId: one, parts: [toolCall("c")], usage: spent(3, 1) });
  const { header, records } = readLog(dir, "s/subagents/agent-scout.jsonl");
  expect(header).toMatchObject({ id: "s/scout", origin: { session: "s", entry: two, callId: "c" } });
  expect(entriesOf(records)[0]).toMatchObject({ parentId: null, type: "message" });
  expect(readLog(dir).header).toMatchObject({ id: "s" });
  expect(readLog(dir).header).not.toHaveProperty("origin");
});
