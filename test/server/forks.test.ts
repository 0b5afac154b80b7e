/** Forking: by copy, by sharing, cut where nothing is open, and the forest that comes of it (F1–F4). */
import { createMemoryStore } from "@espalier/server";
import {
  type EntryId,
  type Epoch,
  type PrincipalId,
  refusal,
  type SessionId,
  type ToolState,
} from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { createFaultStore, type FaultStore } from "../kit/fault-store.js";
import {
  append,
  at,
  expectType,
  follow,
  hello,
  join,
  joinedAs,
  joinMessage,
  publish,
  register,
  say,
  streaming,
} from "../kit/raw.js";
import {
  begin,
  createForestWorld,
  fork,
  forkMessage,
  grow,
  headerOf,
  heldBy,
  lineOf,
  list,
  look,
  textsOf,
} from "./forest.js";
import { message } from "./store/records.js";

const MODES = ["copy", "share"] as const;

const withStore = async () => {
  const store: FaultStore = createFaultStore(createMemoryStore({ newEpoch: () => "epoch1" as Epoch }));
  return { store, ...(await begin(await createForestWorld({ store }))) };
};

const call = (callId: string, state: ToolState = "ready") => ({
  type: "tool-call",
  callId,
  name: "find",
  input: "{}",
  state,
});
const result = (callId: string) => ({ type: "tool-result", callId, output: 1 });

describe.each(MODES)("[F1] [F2] by %s", (mode) => {
  test("the new session has the line up to the entry, and no other branch", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    await grow(client, ch, "a", "other", "more");
    expect(await fork(client, "t", { entry: "b" }, mode)).toBe("b");
    expect(await lineOf(world, "t")).toEqual(["a", "b"]);
    const joined = await look(world, "t", { lines: [{ limit: 1000 }] });
    expect(joined.alternatives).toEqual([]);
    expect(joined.entries.map(({ time, author }) => [time, author])).toEqual(
      (
        await look(world, "s", { lines: [{ limit: 1000, candidates: ["b" as EntryId], walk: "stay" }] })
      ).entries.map(({ time, author }) => [time, author]),
    );
  });

  test("the two go on apart", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    await fork(client, "t", { entry: "b" }, mode);
    const joined = await join(client, { session: "t" });
    await client.ask(publish(joined.ch, follow(null, say("mine"))));
    await grow(client, ch, "c", "theirs");
    expect(await lineOf(world, "t")).toEqual(["a", "b", "mine"]);
    expect(await lineOf(world, "s")).toEqual(["a", "b", "c", "theirs"]);
    expect(heldBy(joined, client).size).toBe(3);
  });

  test("[F4] it says where it comes from, and how far it was taken over", async () => {
    const { world, client } = await begin(await createForestWorld());
    await fork(client, "t", { entry: "b" }, mode);
    const joined = await look(world, "t");
    const origin = { session: "s", entry: "b", ...(mode === "share" ? { isShared: true } : {}) };
    expect(joined).toMatchObject({ origin, inherited: mode === "share" ? 3 : 2, createdAt: world.clock.now });
    expect(await list(client)).toMatchObject([{ id: "s" }, { id: "t", origin, entries: 0 }]);
  });

  test("[F4] who watches the list hears of it, once", async () => {
    const { world, client } = await begin(await createForestWorld());
    const ann = await hello(world, "ann");
    await list(ann, { watch: true });
    for (let times = 0; times < 2; times += 1) await fork(client, "t", { entry: "b" }, mode);
    expect(ann.all("sessions").flatMap(({ sessions }) => sessions)).toMatchObject([
      { id: "t", origin: { session: "s", entry: "b" } },
    ]);
  });

  test("registers start empty", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    await client.ask(register(ch, "title", "T"));
    await fork(client, "t", { entry: "b" }, mode);
    expect((await look(world, "t")).registers).toEqual([]);
  });

  test("from before the first entry: of nothing", async () => {
    const { world, client } = await begin(await createForestWorld());
    expect(await fork(client, "t", { entry: null }, mode)).toBeNull();
    expect(await lineOf(world, "t")).toEqual([]);
    expect(await headerOf(world, "t")).toMatchObject({ origin: { session: "s", entry: null } });
    const joined = await join(client, { session: "t" });
    await client.ask(publish(joined.ch, follow(null, say("mine"))));
    expect(await lineOf(world, "t")).toEqual(["mine"]);
  });

  test("[L4] its repeat is acknowledged; another entry, mode or origin under its id is a conflict", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    await grow(client, ch, "a", "other");
    for (let times = 0; times < 2; times += 1)
      expect(await fork(client, "t", { entry: "b" }, mode)).toBe("b");
    for (const entry of ["b", "c"])
      expect(await client.ask(forkMessage("t", { entry }, mode === "copy" ? "share" : "copy"))).toMatchObject(
        { error: { code: "conflict" } },
      );
    for (const entry of ["a", "c", "other", null])
      expect(await client.ask(forkMessage("t", { entry }, mode))).toMatchObject({
        error: { code: "conflict" },
      });
    await begin(world, "root", ["x"], "u");
    expect(await client.ask(forkMessage("t", { session: "u", entry: "x" }, mode))).toMatchObject({
      error: { code: "conflict" },
    });
    expect(await client.ask(forkMessage("u", { entry: "b" }, mode))).toMatchObject({
      error: { code: "conflict" },
    });
    expect(await lineOf(world, "t")).toEqual(["a", "b"]);
  });

  test("its repeat is acknowledged after a restart, and after its origin was deleted", async () => {
    const { world, client } = await begin(await createForestWorld());
    await fork(client, "t", { entry: "b" }, mode);
    world.stopServer();
    await world.startServer();
    const again = await hello(world, "root");
    expect(await fork(again, "t", { entry: "b" }, mode)).toBe("b");
    expectType(await again.ask({ type: "delete", session: "s" }), "ack");
    expect(await fork(again, "t", { entry: "b" }, mode)).toBe("b");
    expect(await lineOf(world, "t")).toEqual(["a", "b"]);
  });

  test("two who fork to one id at once get one session", async () => {
    const { world, client } = await begin(await createForestWorld());
    const other = await hello(world, "ann");
    const numbers = [
      client.post(forkMessage("t", { entry: "b" }, mode)),
      other.post(forkMessage("t", { entry: "b" }, mode)),
    ];
    await world.settle();
    const answers = [client.answer(numbers[0] as number), other.answer(numbers[1] as number)];
    for (const answer of answers)
      if (answer?.type !== "forked") expect(answer).toMatchObject({ error: { code: "unavailable" } });
    expect(answers.some((answer) => answer?.type === "forked")).toBe(true);
    expect(await lineOf(world, "t")).toEqual(["a", "b"]);
  });

  test("what is not there cannot be forked, nor forked to what is no session of its own", async () => {
    const { client } = await begin(await createForestWorld());
    const codeOf = async (message: object) => {
      const answer = await client.ask(message);
      return answer.type === "refused" ? answer.error.code : answer.type;
    };
    expect(await codeOf(forkMessage("t", { entry: "nope" }, mode))).toBe("not_found");
    expect(await codeOf(forkMessage("t", { session: "nope", entry: "a" }, mode))).toBe("not_found");
    expect(await codeOf(forkMessage("s", { entry: "a" }, mode))).toBe("invalid");
    expect(await codeOf(forkMessage("s/side", { entry: "a" }, mode))).toBe("invalid");
  });

  test("to read the one and to create the other has to be allowed", async () => {
    const world = await createForestWorld({
      authenticate: ({ token }) => ({
        id: (token ?? "") as PrincipalId,
        may: (right, session) =>
          token !== "ann" || `${right} ${session}` === "read s" || `${right} ${session}` === "create t",
      }),
    });
    await begin(world, "root");
    await begin(world, "root", ["x"], "hidden");
    const ann = await hello(world, "ann");
    for (const message of [
      forkMessage("u", { entry: "b" }, mode),
      forkMessage("t", { session: "hidden", entry: "x" }, mode),
    ])
      expect(await ann.ask(message)).toMatchObject({ error: { code: "forbidden" } });
    expect(await fork(ann, "t", { entry: "b" }, mode)).toBe("b");
  });

  test("[F3] inside a streaming message or an open tool call it is cut before it, and says so", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    const reply = (id: string, ...parts: object[]) => say(id, "", { role: "assistant", parts });
    await client.ask(publish(ch, at({ under: "c" }, reply("calls", call("c1"), call("c2")))));
    await client.ask(
      publish(ch, at({ under: "calls" }, say("one", "", { role: "tool", parts: [result("c1")] }))),
    );
    expect(await fork(client, "t1", { entry: "one" }, mode)).toBe("c");
    await client.ask(
      publish(ch, at({ under: "one" }, say("two", "", { role: "tool", parts: [result("c2")] }))),
    );
    expect(await fork(client, "t2", { entry: "two" }, mode)).toBe("two");
    await client.ask(
      publish(ch, at({ under: "two" }, streaming("stream")), at({ under: "stream" }, say("under"))),
    );
    expect(await fork(client, "t3", { entry: "under" }, mode)).toBe("two");
    expect(await fork(client, "t3", { entry: "under" }, mode)).toBe("two");
    expect((await lineOf(world, "t3")).length).toBe(6);
    const [, , , third] = await Promise.all(
      ["t1", "t2", "t3"].map((id) => headerOf(world, id)).concat([headerOf(world, "t3")]),
    );
    expect(third?.origin?.entry).toBe("two");
  });

  test("somebody who waits to begin the session joins it as it has come to be", async () => {
    const { world, client } = await begin(await createForestWorld());
    const ann = await joinedAs(world, "ann", { session: "t" });
    await fork(client, "t", { entry: "b" }, mode);
    expect(ann.client.all("left")).toMatchObject([{ ch: ann.ch, error: { code: "unavailable" } }]);
    const joined = await join(ann.client, { session: "t" });
    expect(textsOf(joined.entries)).toEqual(["a", "b"]);
  });

  test("where a write began it first, the fork is refused", async () => {
    const { world, client } = await begin(await createForestWorld());
    await begin(world, "ann", ["x"], "t");
    expect(await client.ask(forkMessage("t", { entry: "b" }, mode))).toMatchObject({
      error: { code: "conflict" },
    });
    expect(await lineOf(world, "t")).toEqual(["x"]);
  });
});

describe("[F1] by copy", () => {
  test("ids are its own, and what names another entry names its copy", async () => {
    const { world, client, ch } = await begin(await createForestWorld());
    const compaction = { id: "k", type: "compaction", summary: "S", firstKeptId: "c", upToId: "b" };
    await client.ask(publish(ch, at({ under: "c" }, compaction)));
    await fork(client, "t", { entry: "k" }, "copy");
    const { entries } = await look(world, "t", { lines: [{ limit: 1000 }] });
    const [a, b, c, k] = entries;
    for (const id of ["a", "b", "c", "k"]) expect(entries.map((entry) => entry.id)).not.toContain(id);
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, a?.id, b?.id, c?.id]);
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(k).toMatchObject({ firstKeptId: c?.id, upToId: b?.id });
  });

  test("a long line is copied in many turns, and others are served meanwhile", async () => {
    const { world, client, ch } = await begin(await createForestWorld(), "root", ["a"]);
    for (let from = 0; from < 3000; from += 1000)
      await client.ask(
        publish(ch, ...Array.from({ length: 1000 }, (_, index) => follow(null, say(`e${from + index}`)))),
      );
    const ann = await joinedAs(world, "ann");
    const forked = client.post(forkMessage("t", { entry: "e2999" }, "copy"));
    while (client.answer(forked) === undefined) {
      ann.client.post(publish(ann.ch, follow(null, say(`n${ann.client.received.length}`))));
      for (const pair of world.network.pairs) {
        while (pair.toServer > 0) pair.deliverToServer();
        while (pair.toClient > 0) pair.deliverToClient();
      }
      world.clock.runDeferred();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ann.client.all("ack").length).toBeGreaterThan(3);
    expect((await look(world, "t")).inherited).toBe(3001);
  });
});

describe("[F2] by sharing", () => {
  test("nothing is copied: the log has its own records alone, and seqs above its origin's head", async () => {
    const { world, client } = await begin(await createForestWorld());
    await fork(client, "t", { entry: "b" });
    expect(await world.records("t")).toEqual([]);
    const joined = await join(client, { session: "t" });
    expect(joined).toMatchObject({ head: 3, inherited: 3 });
    const ack = expectType(await client.ask(publish(joined.ch, follow(null, say("mine")))), "ack");
    expect(ack.entries).toEqual([{ id: "mine", seq: 4, parentId: "b" }]);
    expect(await world.records("t")).toHaveLength(1);
  });

  test("a right to the fork suffices to read what it shares; its origin is masked", async () => {
    const world = await createForestWorld({
      authenticate: ({ token }) => ({
        id: (token ?? "") as PrincipalId,
        may: (_right, session) => token !== "ann" || session !== "s",
      }),
    });
    const { client } = await begin(world, "root");
    await fork(client, "t", { entry: "b" });
    const joined = await look(world, "t", { name: "ann" });
    expect(textsOf(joined.entries)).toEqual(["a", "b"]);
    expect(joined.origin).toEqual({ session: null, entry: "b", isShared: true });
    const ann = await hello(world, "ann");
    const watching = await list(ann, { watch: true });
    expect(watching).toMatchObject([{ id: "t", origin: { session: null } }]);
    const { ch } = await join(ann, { session: "t" });
    await ann.ask(register(ch, "title", "T"));
    expect(ann.all("sessions").at(-1)?.sessions).toMatchObject([
      { id: "t", title: "T", origin: { session: null } },
    ]);
    expect((await look(world, "t", { name: "root" })).origin?.session).toBe("s");
  });

  test.each(["memory", "the store"])("its state is the same from %s", async (where) => {
    const { world, client, ch } = await begin(await createForestWorld());
    await client.ask(publish(ch, at({ under: "c" }, streaming("d"))));
    client.send(append(ch, "d", 0, "text", { status: "complete" }));
    await world.settle();
    await fork(client, "t", { entry: "d" });
    if (where === "the store") {
      world.stopServer();
      await world.startServer();
    }
    const joined = await look(world, "t", { lines: [{ limit: 1000 }] });
    expect(joined.entries).toEqual((await look(world, "s", { lines: [{ limit: 1000 }] })).entries);
  });

  test("[L4] an id that is shared is used: its repeat is acknowledged, anything else a conflict", async () => {
    const { world, client } = await begin(await createForestWorld());
    await fork(client, "t", { entry: "b" });
    const joined = await join(client, { session: "t" });
    const again = expectType(await client.ask(publish(joined.ch, follow(null, say("a")))), "ack");
    expect(again.entries).toEqual([{ id: "a", seq: 1, parentId: null }]);
    expect(await client.ask(publish(joined.ch, follow(null, say("a", "else"))))).toMatchObject({
      error: { code: "conflict" },
    });
    expect(await world.records("t")).toEqual([]);
  });

  test("[J2] who was here gets what came after; who has less than what is shared, a window", async () => {
    const { world, client } = await begin(await createForestWorld());
    await fork(client, "t", { entry: "b" });
    const joined = await join(client, { session: "t" });
    await grow(client, joined.ch, "b", "x", "y");
    const ann = await hello(world, "ann");
    const tail = await join(ann, { session: "t", cursor: { epoch: joined.epoch, seq: 4 } });
    expect(tail).toMatchObject({ mode: "tail", records: [{ id: "y" }], createdAt: world.clock.now });
    const less = await join(ann, { session: "t", cursor: { epoch: joined.epoch, seq: 1 } });
    expect(less).toMatchObject({ mode: "reset" });
    expect(less.entries).toHaveLength(4);
  });

  test("[N1] after a conflict, what is shared is still there", async () => {
    const { store, world, client } = await withStore();
    await fork(client, "t", { entry: "b" });
    const joined = await join(client, { session: "t" });
    store.faults.push("conflict", "lost", "landed", "refused");
    expectType(await client.ask(publish(joined.ch, follow(null, say("x")))), "ack");
    expectType(await client.ask(publish(joined.ch, follow(null, say("y")))), "refused");
    expectType(await client.ask(publish(joined.ch, follow(null, say("z")))), "ack");
    expect(await lineOf(world, "t")).toEqual(["a", "b", "x", "z"]);
    expect(heldBy(joined, client).get("b" as EntryId)?.children).toHaveLength(1);
  });

  test("[D1] it is acknowledged when what it shares is on disk, and not made where that fails", async () => {
    const { store, world, client, ch } = await withStore();
    store.isSyncHeld = true;
    client.post(publish(ch, at({ under: "c" }, say("d"))));
    await world.settle();
    const n = client.post(forkMessage("t", { entry: "d" }));
    await world.settle();
    expect(client.answer(n)).toBeUndefined();
    expect(await store.summary("t" as SessionId)).toBeNull();
    store.failSync();
    await world.settle();
    expect(client.answer(n)).toMatchObject({ error: { code: "unavailable" } });
    expect(await store.summary("t" as SessionId)).toBeNull();
  });

  test("forks of forks, a thousand deep, are a loop", async () => {
    const { world } = await begin(await createForestWorld());
    const { store } = world;
    for (let depth = 0; depth < 1000; depth += 1) {
      const session = (depth === 0 ? "s" : `t${depth - 1}`) as SessionId;
      // Every third one goes on from what the first one had.
      const entry = (depth % 3 === 0 ? "c" : `e${depth - 1}`) as EntryId;
      const origin = { session, entry, isShared: true } as const;
      const own = message(4 + depth, `e${depth}`, { id: `e${depth}` as EntryId, parentId: entry });
      await store.install(`t${depth}` as SessionId, { createdAt: 1, origin, inherited: 3 + depth }, [own]);
    }
    expect(await lineOf(world, "t999")).toEqual(["a", "b", "c", "e999"]);
    const again = await hello(world, "root");
    expect(await fork(again, "top", { session: "t998", entry: "e998" })).toBe("e998");
    expect(await lineOf(world, "top")).toEqual(["a", "b", "c", "e996", "e997", "e998"]);
  });

  test("[F4] where its origin cannot be read it is refused as damaged, and says which", async () => {
    const { store, world, client } = await withStore();
    await fork(client, "t", { entry: "b" });
    await fork(client, "u", { session: "t", entry: "b" });
    world.stopServer();
    await world.startServer();
    const load = store.load;
    store.load = async (id) =>
      id === "s" ? { type: "refused", error: refusal("damaged", "line 3 of s.jsonl") } : load(id);
    const again = await hello(world, "root");
    for (const session of ["t", "u"]) {
      const answer = expectType(await again.ask(joinMessage({ session })), "refused");
      expect(answer.error.code).toBe("damaged");
      expect(answer.error.message).toContain("s: line 3 of s.jsonl");
    }
  });
});
