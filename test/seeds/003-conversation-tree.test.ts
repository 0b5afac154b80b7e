/**
 * A conversation as a tree of messages that several clients share. The claims in order, and the tests that prove
 * them; 14 to 24 are in `003-conversation-tree-views.test.ts`.
 *
 *  1  each message has an identity that no other has, and a place   [L3]
 *  2  every path is kept: edits and regenerations are branches      [L2]
 *  3  messages are inputs, responses, calls and results of tools    [L1] a prompt …
 *  4  parents and siblings are how a place is known                 [T3]
 *  5  a message comes at once, or as operations with one id         [S1] a message comes …
 *  6  a stream begins with a publish, grows by tokens, and is
 *     ended by its last append                                      [S1] over real sockets …
 *  7  appends are no messages                                       [S1] over real sockets …
 *  8  every message that ever was is a node, shown or not           [T1] every message …
 *  9  a response that is regenerated gets a sibling                 [V12] regenerating …
 * 10  a message that is edited too, with the same parent            [P2]
 * 11  one can go from sibling to sibling                            [V9]
 * 12  the serial orders messages                                    [T2]
 * 13  the same messages give the same tree, everywhere              [T1] the same …, [T1] clients …
 * 25  a session is kept, and shared                                 [D1]
 * 26  agents' work is structured in runs                            [R1]
 * 27  what is written is shown at once, and then what the server
 *     made of it                                                    [O1]
 * 28  what is regenerated is a group: all since the prompt          [V12] a response …
 */
import { type Client, type EntryId, type Session, serveRuns, type View } from "@espalier/client";
import { createTree, type LogRecord, pathTo, type Tree } from "@espalier/shared";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../kit/clock.js";
import { until } from "../kit/until.js";
import { open, say, textOf, textsOf, type World } from "../kit/world.js";
import { cleanUp, connectTo, openSession } from "../server/sockets.js";
import { createDir, openDir, readLog, sayAll } from "./files.js";
import {
  answer,
  childTexts,
  createStage,
  drop,
  entriesOf,
  idOf,
  pathIn,
  placeOf,
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
  ({ world, ann, session, view } = await createStage());
});
afterEach(cleanUp);

describe("messages", () => {
  test("[L3] each has an id that no other message can have, and a place that never changes (1)", async () => {
    const ids = (await say(world, view, "same words", "same words", "same words")) as EntryId[];
    expect(new Set(ids).size).toBe(3);
    const placeOfEach = async () => {
      const tree = await world.fold("s");
      return ids.map((id) => [tree.get(id)?.entry.parentId, tree.get(id)?.entry.seq]);
    };
    const before = await placeOfEach();
    const again = session.publish([
      {
        draft: {
          id: ids[1] as EntryId,
          type: "message",
          role: "user",
          parts: [{ type: "text", text: "other" }],
        },
        place: { after: null },
      },
    ]);
    expect(await settled(world, again)).toMatchObject({ ok: false, error: { code: "conflict" } });
    view.edit(ids[0] as EntryId, "elsewhere");
    await world.settle();
    expect(await placeOfEach()).toEqual(before);
  });

  test("[L2] no path is lost, however often one edits and regenerates (2)", async () => {
    await serveEcho(world);
    const paths: [EntryId, string[]][] = [];
    const keep = () => paths.push([view.snapshot.leafId as EntryId, textsOf(view)]);
    view.send("one", { run: true });
    await world.settle();
    keep();
    for (const act of [
      () => view.regenerate(idOf(view, "one!")),
      () => view.edit(idOf(view, "one"), "other one", { run: true }),
      () => view.send("two", { run: true }),
      () => view.edit(idOf(view, "two"), "other two", { run: true }),
      () => view.regenerate(idOf(view, "other two!")),
    ]) {
      act();
      await world.settle();
      keep();
    }
    expect(new Set(paths.map(([leaf]) => leaf)).size).toBe(6);
    for (const [leaf, texts] of paths) expect((await pathIn(world, leaf)).map(textOf)).toEqual(texts);
  });

  test("[L1] a prompt, a response, a call of a tool, a result of it: each is a message (3)", async () => {
    await say(world, view, "prompt");
    await answer(world, view, "response");
    await answer(world, view, [toolCall("c")]);
    await answer(world, view, [toolResult("c")], { role: "tool" });
    expect(view.getMessages().map(({ entry }) => entry)).toMatchObject([
      { type: "message", role: "user", parts: [{ type: "text" }] },
      { type: "message", role: "assistant", parts: [{ type: "text" }] },
      { type: "message", role: "assistant", parts: [{ type: "tool-call", callId: "c" }] },
      { type: "message", role: "tool", parts: [{ type: "tool-result", callId: "c" }] },
    ]);
  });

  // One pointer is stored; which ones are siblings follows from it, and a view tells them.
  test("[T3] a place is a parent and the siblings that have the same (4)", async () => {
    const [one, two] = (await say(world, view, "one", "two")) as [EntryId, EntryId];
    const other = view.edit(two, "other two").id as EntryId;
    const third = view.edit(two, "third two").id as EntryId;
    await world.settle();
    expect(view.get(third)?.entry.parentId).toBe(one);
    view.select(other);
    await world.settle();
    expect(view.branchInfo(other)).toEqual({ index: 1, total: 3, previousId: two, nextId: third });
    expect(
      Object.keys(view.get(other)?.entry ?? {}).filter((key) => /sibling|child|fork/i.test(key)),
    ).toEqual([]);
  });

  test("[S1] a message comes at once, or as a publish and appends of the same id (5)", async () => {
    const [whole] = await say(world, view, "whole");
    const stream = session.stream({}, { after: whole as EntryId });
    stream.append("in ");
    await world.settle();
    stream.append("parts");
    await world.settle();
    await settled(world, stream.end());
    const records = (await world.records("s")).filter((record) => "id" in record);
    expect(records.map(({ kind, id }) => [kind, id])).toEqual([
      ["entry", whole],
      ["entry", stream.id],
      ["append", stream.id],
      ["append", stream.id],
      ["append", stream.id],
    ]);
    expect(records.map((record) => ("status" in record ? record.status : undefined))).toEqual([
      "complete",
      "streaming",
      undefined,
      undefined,
      "complete",
    ]);
  });

  test("[S1] over real sockets: token by token to the last append, which ends it; one message (6, 7)", async () => {
    const { url, session: writing, view: own } = await openDir(undefined);
    const { view: seen } = await openSession(connectTo(url, { token: "bob" }));
    const [prompt] = await sayAll(own, "prompt");
    const stream = writing.stream({}, { after: prompt as EntryId });
    let said = "";
    const seenEntry = () => seen.at(1)?.entry;
    for (const token of ["An ", "es", "pal", "ier", "."]) {
      stream.append(token);
      said += token;
      await until(() => seen.snapshot.length === 2 && textOf(seen.at(1)?.entry as never) === said);
      expect(seenEntry()).toMatchObject({ id: stream.id, status: "streaming", size: said.length });
    }
    expect(await stream.end()).toMatchObject({ ok: true });
    await until(() => seenEntry()?.status === "complete");
    expect(seenEntry()).toMatchObject({ id: stream.id, parts: [{ type: "text", text: said }] });
    expect(seen.snapshot.ids).toEqual([prompt, stream.id]);
  });
});

describe("the tree", () => {
  test("[T1] every message that ever was is a node, whether anybody shows it or not (8)", async () => {
    await say(world, view, "one", "two", "three");
    view.edit(idOf(view, "two"), "other two");
    await settled(world, view.rewind(idOf(view, "one")));
    await say(world, view, "begun again");
    expect(textsOf(view)).toEqual(["begun again"]);
    const nodes = [...(await world.fold("s")).nodes()].map(({ entry }) => textOf(entry));
    expect(nodes).toEqual(["one", "two", "three", "other two", "begun again"]);
  });

  test("[V12] regenerating gives a response a sibling, and does not take its place (9)", async () => {
    await serveEcho(world);
    view.send("ask", { run: true });
    await world.settle();
    const first = idOf(view, "ask!");
    view.regenerate(first);
    await world.settle();
    const [, second] = view.snapshot.ids;
    expect(second).not.toBe(first);
    const children = (await world.fold("s")).children(idOf(view, "ask")).map(({ entry }) => entry.id);
    expect(children).toEqual([first, second]);
  });

  test("[P2] an edited message has its original's parent, and the original stays beside it (10)", async () => {
    const [one, two] = (await say(world, view, "one", "two", "three")) as [EntryId, EntryId];
    const edited = view.edit(two, "other two");
    expect(await settled(world, edited.settled)).toMatchObject({ ok: true, parentId: one });
    expect(placeOf(view, edited.id as EntryId)).toBe("2 of 2");
    expect(childTexts((await world.fold("s")).children(one))).toEqual(["two", "other two"]);
  });

  test("[V9] from sibling to sibling, there and back (11)", async () => {
    await say(world, view, "one");
    for (const text of ["two", "three"]) view.edit(view.at(0)?.id as EntryId, text);
    await world.settle();
    const seen: string[] = [];
    for (const by of [-1, -1, 1, 1] as const) {
      view.step(view.at(0)?.id as EntryId, by);
      await world.settle();
      seen.push(`${textsOf(view)}: ${placeOf(view, view.at(0)?.id as EntryId)}`);
    }
    expect(seen).toEqual(["two: 2 of 3", "one: 1 of 3", "two: 2 of 3", "three: 3 of 3"]);
  });

  test("[T2] siblings stand in the order of their serials, which the server gives as they arrive (12)", async () => {
    const [one] = (await say(world, view, "one")) as [EntryId];
    const others = await Promise.all(
      ["bob", "cid", "dan"].map(async (name) => (await open(world, world.client(name))).view),
    );
    // Written in one order, and let arrive in another.
    for (const other of others)
      other.edit(one, `by ${world.network.pairs.length} at ${others.indexOf(other)}`);
    for (const owner of ["dan", "bob", "cid"]) {
      const pair = world.network.pairs.find((candidate) => candidate.owner === owner);
      while ((pair?.toServer ?? 0) > 0) pair?.deliverToServer();
    }
    await world.settle();
    const roots = (await world.fold("s")).roots.map(({ entry }) => entry);
    expect(roots.map(({ author }) => author)).toEqual(["ann", "dan", "bob", "cid"]);
    expect(roots.map(({ seq }) => seq as number)).toEqual(
      roots.map(({ seq }) => seq as number).sort((a, b) => a - b),
    );
  });

  /** All that a tree says of itself, as text. */
  const written = (tree: Tree): string =>
    JSON.stringify([...tree.nodes()].map(({ entry, children }) => [entry, children.map((c) => c.entry.id)]));

  test("[T1] the same messages give the same tree, however often one makes it (13)", async () => {
    const random = seededRandom(7);
    for (let turn = 0; turn < 60; turn += 1) {
      const { ids } = view.snapshot;
      const at = ids[Math.floor(random() * ids.length)];
      if (at !== undefined && random() < 0.4) view.edit(at, `edit ${turn}`);
      else view.send(`message ${turn}`);
      await world.settle();
    }
    const records = await world.records("s");
    const fold = (of: readonly LogRecord[]): string => {
      const tree = createTree();
      for (const record of of) tree.apply(record);
      return written(tree);
    };
    const once = fold(records);
    expect(fold(JSON.parse(JSON.stringify(records)) as LogRecord[])).toBe(once);
    // Told twice, it is still the same.
    expect(fold(records.flatMap((record) => [record, record]))).toBe(once);
  });

  test("[T1] clients that were there, came back, or came late agree on its shape (13)", async () => {
    const bob = (await open(world, world.client("bob"))).view;
    await say(world, view, "one", "two");
    drop(world, "bob");
    view.edit(idOf(view, "two"), "other two");
    await say(world, view, "below");
    view.edit(idOf(view, "below"), "other below");
    await world.advance(60_000);
    const late = (await open(world, world.client("late"))).view;
    for (const each of [view, bob, late]) {
      each.branch(view.snapshot.leafId);
      await world.settle();
    }
    const shapeOf = (of: View) => of.snapshot.ids.map((id) => [id, of.branchInfo(id)]);
    expect(shapeOf(bob)).toEqual(shapeOf(view));
    expect(shapeOf(late)).toEqual(shapeOf(view));
    const node = (await world.fold("s")).get(view.snapshot.leafId as EntryId);
    expect(pathTo(node as NonNullable<typeof node>).map(({ entry }) => entry.id)).toEqual(view.snapshot.ids);
  });
});

describe("what the tree belongs to", () => {
  test("[D1] a session, which is kept, and which all its clients share (25)", async () => {
    const dir = createDir();
    const first = await openDir(dir);
    const { view: bob } = await openSession(connectTo(first.url, { token: "bob" }));
    await sayAll(first.view, "from ann");
    await sayAll(bob, "from bob");
    await until(() => first.view.snapshot.length === 2);
    expect(first.view.getMessages().map(({ entry }) => entry.author)).toEqual(["ann", "bob"]);
    await first.server.close();
    const again = await openDir(dir);
    expect(again.view.getMessages().map(({ entry }) => textOf(entry))).toEqual(["from ann", "from bob"]);
    expect(entriesOf(readLog(dir).records)).toHaveLength(2);
  });

  test("[R1] agents' work is in runs: what asked for it, where it writes, how it ended (26)", async () => {
    await serveEcho(world);
    const { id, runId } = view.send("ask", { run: true });
    await world.settle();
    const records = (await world.records("s")).filter((record) => record.kind === "run");
    expect(records.map(({ status }) => status)).toEqual(["requested", "active", "done"]);
    expect(records[0]).toMatchObject({ id: runId, inputId: id, author: "ann" });
    expect(view.at(1)?.entry).toMatchObject({ runId, parentId: id, author: "agent" });
  });

  test("[O1] what is written is shown at once, and gives way to what the server made of it (27)", async () => {
    const [one] = await say(world, view, "one");
    const records = await world.records("s");
    const sent = view.send("two");
    expect(textsOf(view)).toEqual(["one", "two (pending)"]);
    expect(await world.records("s")).toEqual(records);
    const seen: string[][] = [];
    view.subscribe(() => seen.push(textsOf(view)));
    await world.settle();
    expect(seen).toEqual([["one", "two"]]);
    expect(view.at(1)).toMatchObject({ id: sent.id, entry: { parentId: one } });
    expect(view.at(1)?.entry.seq).toBeGreaterThan(0);
  });

  test("[V12] a response with calls and results is regenerated as a whole, from wherever in it (28)", async () => {
    serveRuns(ann, async (run) => {
      await run.publish({ type: "message", role: "assistant", parts: [toolCall("c")] });
      await run.publish({ type: "message", role: "tool", parts: [toolResult("c")] });
      await run.publish({ type: "message", role: "assistant", parts: [{ type: "text", text: "found" }] });
    });
    await world.settle();
    view.send("ask", { run: true });
    await world.settle();
    const shown = ["ask", "[tool-call]", "[tool-result]", "found"];
    expect(textsOf(view)).toEqual(shown);
    view.regenerate(idOf(view, "[tool-result]"));
    await world.settle();
    expect(textsOf(view)).toEqual(shown);
    const prompt = idOf(view, "ask");
    expect(childTexts((await world.fold("s")).children(prompt))).toEqual(["[tool-call]", "[tool-call]"]);
    expect(view.snapshot.ids.map((id) => placeOf(view, id))).toEqual([
      "1 of 1",
      "2 of 2",
      "1 of 1",
      "1 of 1",
    ]);
  });
});
