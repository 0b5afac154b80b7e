/**
 * A conversation as an append-only file of JSON lines, continued from `002-transcript-package.test.ts`: the store,
 * and those that write to it. The claims in order, and the tests that prove them:
 *
 * 18  a store is a directory of sessions                            [F4]
 * 19  it is rooted there, and nothing is made before a write        [F7] a session's file …
 * 20  each session, and each sidechain, has a file of its own       [F5] in `002-transcript-package.test.ts`
 * 21  appending makes the folders it needs, and is safe for many
 *     at once                                                       [D1] many who write … [N1]
 * 22  what does not exist is empty, and no error                    [F7] what was never …
 * 23  a writer is for a session or for a sidechain                  [F5] one writes …
 * 24  one can go on with a session after its last record            [P4]
 * 25  ids and parents are given without the caller's help           [L1]
 * 26  a disk that fails is no exception in the caller's loop: what
 *     is written is kept in memory, and sent when it can be         [S9] while the disk …, [S9] while there is no …
 * 27  the first failure is kept, for whoever asks                   [S9] the first failure …
 * 28  boundaries and messages are recorded, with a turn's usage     [C2] [C9] in `002-transcript-package.test.ts`
 */
import { join } from "node:path";
import type { EntryId, SessionId, Settled } from "@espalier/client";
import { createFileStore, createRuntime } from "@espalier/server";
import type { Epoch, Json } from "@espalier/shared";
import { afterEach, expect, test } from "vitest";
import { createNodeDisk, type Disk } from "../../server/src/store/file/disk.js";
import { openFileStore } from "../../server/src/store/file/file-store.js";
import { until } from "../kit/until.js";
import { createWorld, open, say, textOf, textsOf as textsIn } from "../kit/world.js";
import { cleanUp, connectTo, openSession, textsOf, undoLater } from "../server/sockets.js";
import { message } from "../server/store/records.js";
import { createDir, filesIn, openDir, readLog, readText, sayAll, sendParts } from "./files.js";
import { createStage, drop, entriesOf, granted, settled, toolCall } from "./kit.js";

afterEach(cleanUp);

const logsIn = (dir: string): string[] =>
  filesIn(dir)
    .filter((name) => name.endsWith(".jsonl") && !name.startsWith(".espalier"))
    .sort();

test("[F4] a store is a directory of sessions, which it lists (18)", async () => {
  const dir = createDir();
  const { server, client } = await openDir(dir);
  for (const id of ["first", "second"]) {
    const { session, view } = await openSession(client, id);
    await sayAll(view, id);
    await session.setRegister("title", `the ${id}`);
  }
  await server.close();
  expect(logsIn(dir)).toEqual(["first.jsonl", "second.jsonl"]);
  const again = await openDir(dir);
  const { sessions } = granted(await again.client.list());
  expect(sessions.map(({ id, title }) => [id, title])).toEqual([
    ["second", "the second"],
    ["first", "the first"],
  ]);
});

// The directory itself is made at the start: who has it, has it alone (D7).
test("[F7] a session's file is made by its first write, not by being named, joined or looked at (19)", async () => {
  const dir = join(createDir(), "not", "there", "yet");
  const { server, client, session, view } = await openDir(dir);
  expect(client.newId()).not.toBe("");
  await view.prompts();
  expect([session.revision, logsIn(dir)]).toEqual([0, []]);
  await sayAll(view, "one");
  await server.close();
  expect(logsIn(dir)).toEqual(["s.jsonl"]);
});

test("[D1] many who write at once lose nothing and tear nothing, and folders come as they are needed (21)", async () => {
  const dir = createDir();
  const { server, url, session, view } = await openDir(dir);
  const entryId = await sendParts(view, [toolCall("c")]);
  const names = Array.from({ length: 8 }, (_, index) => `writer${index}`);
  const texts = Array.from({ length: 25 }, (_, index) => `message ${index}`);
  const write = async (name: string): Promise<void> => {
    const { view: own } = await openSession(connectTo(url, { token: name }));
    await Promise.all(texts.map((text) => own.send(text).settled));
  };
  const chain = session.sidechain("scout", { entryId });
  await Promise.all([...names.map(write), sayAll(chain.view, ...texts)]);
  await server.close();
  const { records } = readLog(dir);
  const written = entriesOf(records);
  expect(written).toHaveLength(1 + names.length * texts.length);
  for (const name of names)
    expect(written.filter(({ author }) => author === name).map(textOf)).toEqual(texts);
  const seqs = records.map(({ seq }) => seq as number);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  expect(entriesOf(readLog(dir, "s/subagents/agent-scout.jsonl").records).map(textOf)).toEqual(texts);
});

test("[N1] two who append to one log at the same place: one does, the other is told (21)", async () => {
  const store = await createFileStore({
    dir: createDir(),
    newEpoch: () => "epoch1" as Epoch,
    runtime: createRuntime(),
  });
  undoLater(() => store.close());
  const id = "s" as SessionId;
  const outcomes = await Promise.all([
    store.append(id, 0, [message(1, "mine")]),
    store.append(id, 0, [message(1, "yours")]),
  ]);
  expect(outcomes.map(({ type }) => type).sort()).toEqual(["conflict", "ok"]);
  const loaded = await store.load(id);
  expect(loaded.type === "ok" && loaded.log.records).toEqual([message(1, "mine")]);
});

test("[F7] what was never written is empty where one wants to begin it, and told where one does not (22)", async () => {
  const dir = createDir();
  const { server, client } = await openDir(dir);
  const fresh = await openSession(client, "fresh");
  expect([textsOf(fresh.view), fresh.session.snapshot.error]).toEqual([[], null]);
  const missing = client.session("missing");
  await until(() => missing.snapshot.status === "failed");
  expect(missing.snapshot.error).toMatchObject({ code: "not_found" });
  await server.close();
  const store = await createFileStore({ dir, newEpoch: () => "e" as Epoch, runtime: createRuntime() });
  undoLater(() => store.close());
  expect(await store.load("fresh" as SessionId)).toEqual({ type: "absent" });
});

test("[F5] one writes to a session, or to a sidechain of it: whole messages and streams (23)", async () => {
  const { session, view } = await openDir(undefined);
  const entryId = await sendParts(view, [toolCall("c")]);
  const chain = session.sidechain("scout", { entryId, callId: "c" });
  for (const each of [session, chain]) {
    await until(() => each.snapshot.status === "live");
    const stream = each.stream({}, { after: null });
    stream.append("streamed");
    expect(await stream.end()).toMatchObject({ ok: true });
    await sayAll(each.view, "whole");
  }
  await until(() => textsOf(view).length === 3 && textsOf(chain.view).length === 2);
  expect(textsOf(view)).toEqual(["[tool-call]", "streamed", "whole"]);
  expect(textsOf(chain.view)).toEqual(["streamed", "whole"]);
});

test("[P4] a writer that comes back goes on after the last record, in the same file (24)", async () => {
  const dir = createDir();
  let last: EntryId | null = null;
  let text = "";
  for (const word of ["one", "two", "three"]) {
    const { server, view } = await openDir(dir);
    const sent = view.send(word);
    expect(await sent.settled).toMatchObject({ ok: true, parentId: last });
    last = sent.id as EntryId;
    await server.close();
    const grown = readText(dir, "s.jsonl");
    expect(grown.startsWith(text)).toBe(true);
    text = grown;
  }
  expect(entriesOf(readLog(dir).records).map(textOf)).toEqual(["one", "two", "three"]);
});

test("[L1] id, parent, place, time and author are given to what is written: one hands in the content (25)", async () => {
  const { client, view } = await openDir(undefined);
  await view.send("one").settled;
  await view.send("two").settled;
  const [one, two] = view.getMessages().map(({ entry }) => entry);
  expect(one).toMatchObject({ parentId: null, author: "ann", writer: client.writer });
  expect(two).toMatchObject({ parentId: one?.id, author: "ann", writer: client.writer });
  expect(two?.id).not.toBe(one?.id);
  expect(two?.seq).toBeGreaterThan(one?.seq as number);
});

/** A real disk that takes no more while it is full, and says how much it has done. */
const createFullDisk = (): { disk: Disk; isFull: boolean; work: number } => {
  const inner = createNodeDisk();
  const full = {
    isFull: false,
    work: 0,
    disk: {
      ...inner,
      open: async (path, mode) => {
        const file = await inner.open(path, mode);
        return {
          ...file,
          write: async (bytes, at) => {
            full.work += 1;
            if (full.isFull) throw new Error("ENOSPC: no space left on device, write");
            await file.write(bytes, at);
          },
        };
      },
    } as Disk,
  };
  return full;
};

test("[S9] while the disk is full, an agent's loop goes on, what it says is kept, and arrives afterwards (26)", async () => {
  const full = createFullDisk();
  const store = await openFileStore(
    full.disk,
    { dir: createDir(), newEpoch: () => "epoch1" as Epoch, runtime: createRuntime() },
    async () => {},
  );
  undoLater(() => store.close());
  const world = await createWorld({ store, work: () => full.work });
  const { session, view } = await open(world, world.client("ann"));
  const holds = (test: () => boolean) =>
    until(async () => {
      await world.advance(1000);
      return test();
    });
  const { id } = view.send("one");
  await holds(() => view.at(0)?.state === "confirmed");
  const stream = session.stream({}, { after: id as EntryId });
  stream.append("before ");
  await holds(() => textsIn(view).at(-1) === "before ");
  full.isFull = true;
  const work = full.work;
  expect(() => stream.append("meanwhile ")).not.toThrow();
  await holds(() => full.work > work);
  await holds(() => stream.trouble?.code === "unavailable");
  expect(() => stream.append("and more")).not.toThrow();
  await world.settle();
  expect([textsIn(view).at(-1), stream.error]).toEqual(["before ", null]);
  full.isFull = false;
  let outcome: Settled | undefined;
  void stream.end().then((ended) => {
    outcome = ended;
  });
  await holds(() => outcome !== undefined);
  expect(outcome).toMatchObject({ ok: true });
  expect(stream.trouble).toBeNull();
  expect(textsIn(view)).toEqual(["one", "before meanwhile and more"]);
  expect((await world.fold("s")).get(stream.id)?.entry).toMatchObject({ status: "complete" });
});

test("[S9] while there is no server at all, the same (26)", async () => {
  const { world, session, view } = await createStage();
  const [id] = await say(world, view, "one");
  world.network.isDown = true;
  drop(world, "ann");
  const stream = session.stream({}, { after: id as EntryId });
  for (const word of ["all ", "of ", "it"]) expect(() => stream.append(word)).not.toThrow();
  view.send("and a message");
  await world.settle();
  expect(stream.error).toBeNull();
  expect(textsIn(view)).toContain("and a message (pending)");
  world.network.isDown = false;
  await world.advance(60_000);
  expect(await settled(world, stream.end())).toMatchObject({ ok: true });
  expect(textsIn(view)).toEqual(["one", "all of it", "and a message"]);
});

test("[S9] the first failure is kept, none after it takes its place, and nothing is thrown (27)", async () => {
  const { session, view } = await openDir(undefined);
  const stream = session.stream({}, { after: null });
  expect(stream.error).toBeNull();
  stream.append("said");
  await until(() => textsOf(view).at(-1) === "said");
  expect(() => stream.push({ type: "data", name: "n", data: Number.NaN as Json })).not.toThrow();
  const { error } = stream;
  expect(error).toMatchObject({ code: "invalid" });
  expect(() => stream.append("more")).not.toThrow();
  expect(await stream.end()).toMatchObject({ ok: false, error });
  expect(stream.error).toBe(error);
  const refused = session.stream({}, { after: "nowhere" as EntryId });
  refused.append("x");
  expect(await refused.end()).toMatchObject({ ok: false, error: { code: "unknown_parent" } });
  expect(refused.error).toMatchObject({ code: "unknown_parent" });
});
