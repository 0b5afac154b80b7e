/**
 * The state of a transcript and its transitions. The claims in order, and the tests that prove them; 9 to 28 are in
 * `004-transcript-state-functions.test.ts`, 16 and 29 in `004-transcript-state-marks.test.ts`.
 *
 *  1  entries in order, each with its id, and branches of them      [V1]
 *  2  content and id belong together, and cannot be moved apart     [T1] content and id …
 *  3  branches hold the same entry values                           [S8]
 *  4  no id is used twice: not after going back, not after changing
 *     branches                                                      [L3] an id …
 *  5  what always works answers with what is next; what can be
 *     refused says so                                               [V5] what can be refused …
 *  6  transitions are pure: no clock, no disk, no timer             [T1] transitions …
 *  7  compaction keeps the named entries in their order, and leaves
 *     branches and pins as they are                                 [C2] compaction keeps …
 *  8  what is kept, and every branch, keeps its ids                 [C2] compaction keeps …
 * 15  a transcript comes back: entries, branches, ids, usage, pins,
 *     times                                                         [D1]
 * 30  one session holds it all                                      [F7]
 */
import {
  type Client,
  compact,
  type EntryId,
  type Session,
  type SessionId,
  type View,
} from "@espalier/client";
import { context, createTree, type LogRecord, pathTo, planCompaction, transcript } from "@espalier/shared";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readTexts, recorder } from "../client/summaries.js";
import { until } from "../kit/until.js";
import { open, say, textOf, textsOf, type World } from "../kit/world.js";
import { cleanUp, textsOf as realTexts } from "../server/sockets.js";
import { createDir, openDir, readLog, sayAll, sendParts } from "./files.js";
import { answer, createStage, entriesOf, granted, idOf, modelReads, pathIn, settled } from "./kit.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;

beforeEach(async () => {
  ({ world, ann, session, view } = await createStage({}, () => Promise.resolve("in short")));
});
afterEach(cleanUp);

const text = (said: string) => [{ type: "text", text: said } as const];

/** Says under a name where the line stands, and goes back to an entry. */
const branchOff = async (name: string, to: EntryId | null): Promise<void> => {
  expect(await settled(world, view.saveBranch(name))).toBeNull();
  view.branch(to);
};

test("[V1] messages are in order, each with its id; so are those of each branch (1)", async () => {
  const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
  await branchOff("first", ids[0] as EntryId);
  const [other] = (await say(world, view, "other two")) as [EntryId];
  const pairs = () => view.getMessages().map(({ id, entry }) => [id, textOf(entry)]);
  expect(pairs()).toEqual([
    [ids[0], "one"],
    [other, "other two"],
  ]);
  expect(view.switchTo("first")).toBeNull();
  expect(pairs()).toEqual(ids.map((id, index) => [id, ["one", "two", "three"][index]]));
});

test("[T1] content and id belong together, wherever an entry is met (2)", async () => {
  const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
  view.edit(ids[1] as EntryId, "other two");
  await say(world, view, "below");
  const known = new Map(entriesOf(await world.records("s")).map((entry) => [entry.id, textOf(entry)]));
  const forked = granted(await settled(world, view.fork()));
  const late = (await open(world, world.client("late"))).view;
  const child = (await open(world, ann, forked.session)).view;
  for (const each of [view, late, child]) {
    expect(each.snapshot.length).toBe(3);
    for (const { id, entry } of each.getMessages()) {
      expect(entry.id).toBe(id);
      expect(textOf(entry)).toBe(known.get(id));
      expect(Reflect.set(entry, "id", "another")).toBe(false);
    }
  }
});

test("[S8] a branch holds the same entry values, which nothing changes (3)", async () => {
  const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
  const values = view.getMessages().map(({ entry }) => entry);
  await branchOff("first", ids[0] as EntryId);
  await say(world, view, "other two");
  granted(await settled(world, compact(view, { keepTurns: 0 })));
  view.switchTo("first");
  for (const [index, { entry }] of view.getMessages().entries()) {
    expect(entry).toBe(values[index]);
    expect(Object.isFrozen(entry)).toBe(true);
  }
});

describe("[L3] an id is used once (4)", () => {
  const publish = (id: EntryId, said: string) =>
    settled(
      world,
      session.publish([
        { draft: { id, type: "message", role: "user", parts: text(said) }, place: { after: null } },
      ]),
    );

  test.each(["going back", "changing branches", "compaction", "a reset", "a restart"])(
    "an id of one that was left is refused to another one, after %s",
    async (what) => {
      const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
      await branchOff("first", ids[0] as EntryId);
      if (what === "changing branches") view.switchTo("first");
      if (what === "compaction") granted(await settled(world, compact(view, { keepTurns: 0 })));
      if (what === "a reset") await settled(world, session.reset());
      if (what === "a restart") {
        world.stopServer();
        await world.startServer();
        await world.advance(60_000);
      }
      for (const id of ids)
        expect(await publish(id, "another")).toMatchObject({ ok: false, error: { code: "conflict" } });
      const before = new Set(entriesOf(await world.records("s")).map(({ id }) => id));
      const fresh = await say(world, view, "four", "five");
      for (const id of fresh) expect(before.has(id as EntryId)).toBe(false);
      expect((await world.fold("s")).get(ids[2] as EntryId)?.entry).toMatchObject({ parts: text("three") });
    },
  );
});

test("[V5] what can be refused says why, throws nothing and changes nothing; what cannot is done at once (5)", async () => {
  await say(world, view, "one");
  const before = [await world.records("s"), view.snapshot];
  const nowhere = "nowhere" as EntryId;
  const refused: [code: string, act: () => unknown][] = [
    ["not_found", () => view.switchTo("nowhere")],
    ["not_found", () => view.rewind(nowhere)],
    ["nothing_to_compact", () => compact(view, { keepTurns: 1 })],
    ["not_found", () => compact(view, { keep: [nowhere] })],
    ["not_found", () => ann.fork({ from: { session: "s" as SessionId, entry: nowhere } })],
    ["not_found", () => session.loadPath(nowhere)],
  ];
  for (const [code, act] of refused)
    expect(await settled(world, Promise.resolve(act()))).toMatchObject({
      code,
      message: expect.stringContaining("unable to"),
    });
  expect([await world.records("s"), view.snapshot]).toEqual(before);
  view.branch(null);
  expect(await view.saveBranch("before everything")).toMatchObject({ code: "invalid" });
  expect(textsOf(view)).toEqual([]);
  view.follow();
  expect(textsOf(view)).toEqual(["one"]);
});

test("[T1] transitions are pure: the same records in, the same out, in any process, at any time (6)", async () => {
  await say(world, view, "one");
  await answer(world, view, "answer");
  await world.advance(5000);
  await say(world, view, "two");
  const deepFreeze = <T>(value: T): T => {
    if (typeof value === "object" && value !== null) {
      Object.freeze(value);
      for (const each of Object.values(value)) deepFreeze(each);
    }
    return value;
  };
  const records = deepFreeze(JSON.parse(JSON.stringify(await world.records("s"))) as LogRecord[]);
  const outcome = (): string => {
    const tree = createTree();
    for (const record of records) tree.apply(record);
    const path = pathTo(tree.newest as NonNullable<typeof tree.newest>).map(({ entry }) => entry);
    const plan = planCompaction(path, { keepTurns: 1 });
    return JSON.stringify([path, context(path), transcript(path), plan]);
  };
  const first = outcome();
  await world.advance(86_400_000);
  expect(outcome()).toBe(first);
  const path = await pathIn(world, view.snapshot.leafId);
  expect(path.map(({ time }) => time - (path[0]?.time ?? 0))).toEqual([0, 0, 5000]);
});

test("[C2] compaction keeps the named entries, in their order, and leaves branches, pins and ids alone (7, 8)", async () => {
  const ids = (await say(world, view, "one", "two", "three", "four")) as EntryId[];
  const [one, two, three] = ids as [EntryId, EntryId, EntryId];
  await settled(world, view.saveBranch("whole"));
  view.edit(two, "other two");
  await settled(world, view.saveBranch("other"));
  view.switchTo("whole");
  for (const id of [three, one]) await settled(world, session.marks.pins.toggle(id));
  const marks = () => [session.marks.branches.list(), session.marks.pins.list()];
  const before = marks();
  const lines = () => Promise.all(session.marks.branches.list().map(({ leafId }) => pathIn(world, leafId)));
  const linesBefore = await lines();
  const keep = [three, one];
  granted(await settled(world, compact(view, { keep, ...recorder("in short") })));
  expect(await modelReads(world, view)).toEqual(["in short", "one", "three"]);
  expect(marks()).toEqual(before);
  expect(await lines()).toEqual(linesBefore);
  expect(view.snapshot.ids.slice(0, 4)).toEqual(ids);
  const read = context(await pathIn(world, view.snapshot.leafId));
  expect(read.map(({ entryId }) => entryId).slice(1)).toEqual([one, three]);
});

test("[D1] a transcript comes back whole: entries, branches, ids, usage, pins, times (15)", async () => {
  const dir = createDir();
  const first = await openDir(dir);
  const [one, two] = (await sayAll(first.view, "one", "two")) as [EntryId, EntryId];
  await sendParts(first.view, text("answer"), { usage: { input: 10, output: 3, model: "elm-2" } });
  await first.view.saveBranch("first");
  first.view.branch(one);
  await sayAll(first.view, "other two");
  await first.session.marks.pins.toggle(two);
  const stateOf = async (of: Session) => ({
    shown: of.view.getMessages().map(({ entry }) => entry),
    branches: of.marks.branches.list(),
    pins: of.marks.pins.list(),
    usage: granted(await of.usage()),
    revision: of.revision,
    createdAt: of.createdAt,
    lastChangedAt: of.lastChangedAt,
  });
  const before = await stateOf(first.session);
  await first.server.close();
  const again = await openDir(dir);
  expect(await stateOf(again.session)).toEqual(before);
  expect(before.usage).toMatchObject({ input: 10, output: 3 });
  expect(again.view.switchTo("first")).toBeNull();
  await until(() => realTexts(again.view).length === 3);
  expect(realTexts(again.view)).toEqual(["one", "two", "answer"]);
  const reused = await again.session.publish([
    { draft: { id: two, type: "message", role: "user", parts: text("another") }, place: { after: null } },
  ]);
  expect(reused).toMatchObject({ ok: false, error: { code: "conflict" } });
  // A branch on disk is a name, the leaf it stands on, and when it was put there; the rest is the leaf's path.
  const named = readLog(dir).records.find(
    (record) => record.kind === "register" && record.key === "branch:first",
  );
  expect(named).toMatchObject({ value: before.branches[0]?.leafId });
  expect(named?.time).toBeGreaterThanOrEqual(before.shown[0]?.time ?? 0);
});

test("[F7] one session holds it all: entries, branches, times, revision, pins, usage (30)", async () => {
  const [one] = (await say(world, view, "one", "two")) as [EntryId];
  await answer(world, view, text("answer"), { usage: { input: 4, output: 2 } });
  await settled(world, view.saveBranch("here"));
  await settled(world, session.marks.pins.toggle(one));
  expect({
    entries: textsOf(session.view),
    branches: session.marks.branches.list(),
    pins: session.marks.pins.list(),
    lastChangedAt: session.lastChangedAt,
    revision: session.revision,
    usage: granted(await settled(world, session.usage())),
    read: readTexts(granted(await session.context(view.snapshot.leafId as EntryId))),
  }).toMatchObject({
    entries: ["one", "two", "answer"],
    branches: [{ name: "here", leafId: idOf(view, "answer") }],
    pins: [one],
    lastChangedAt: world.clock.now,
    revision: (await world.records("s")).at(-1)?.seq,
    usage: { input: 4, output: 2 },
    read: ["one", "two", "answer"],
  });
});
