/** A store that says no, says nothing certain, or breaks: what is told, what is kept, what goes on (N1, N2, D1, D4). */
import { createMemoryStore } from "@espalier/server";
import { type EntryId, type Epoch, refusal, type SessionId } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { type AppendFault, createFaultStore, type FaultStore } from "../kit/fault-store.js";
import {
  append,
  expectType,
  follow,
  joinedAs,
  joinMessage,
  publish,
  publishWithRun,
  register,
  say,
  streaming,
  textIn,
  treeOf,
} from "../kit/raw.js";
import { createWorld } from "../kit/world.js";
import { message } from "./store/records.js";

const begin = async () => {
  const store: FaultStore = createFaultStore(createMemoryStore({ newEpoch: () => "epoch1" as Epoch }));
  const world = await createWorld({ store });
  const ann = await joinedAs(world, "ann");
  const bob = await joinedAs(world, "bob");
  await ann.client.ask(publish(ann.ch, follow(null, say("u"))));
  return { world, store, ...ann, reader: bob };
};

type Begun = Awaited<ReturnType<typeof begin>>;

const shownTo = ({ reader }: Begun) => treeOf(reader.joined, reader.client.frames());
const ids = (tree: ReturnType<typeof shownTo>) => [...tree.nodes()].map(({ entry }) => entry.id);

describe("[N1] the head is compared", () => {
  test("another wrote first: it is read, shown, and the turn is decided again", async () => {
    const begun = await begin();
    const { world, store, client, ch } = begun;
    await store.append("s" as SessionId, 1, [
      message(2, "theirs", { id: "x" as EntryId, parentId: "u" as EntryId }),
    ]);
    const ack = expectType(await client.ask(publish(ch, follow("u", say("a")))), "ack");
    expect(ack.entries).toEqual([{ id: "a", seq: 3, parentId: "x" }]);
    expect(ids(shownTo(begun))).toEqual(["u", "x", "a"]);
    expect(ids(await world.fold("s"))).toEqual(["u", "x", "a"]);
  });

  test("another wrote the same id first: the decision is another", async () => {
    const { store, client, ch } = await begin();
    await store.append("s" as SessionId, 1, [
      message(2, "theirs", { id: "a" as EntryId, parentId: "u" as EntryId }),
    ]);
    expect(await client.ask(publish(ch, follow("u", say("a"))))).toMatchObject({
      error: { code: "conflict" },
    });
  });

  test("a conflict once is nobody's business; for ever, it is refused, and later writes work", async () => {
    const { world, store, client, ch } = await begin();
    store.faults.push("conflict");
    expectType(await client.ask(publish(ch, follow("u", say("a")))), "ack");
    store.faults.push(...Array.from({ length: 5 }, (): AppendFault => "conflict"));
    expect(await client.ask(publish(ch, follow("u", say("b"))))).toMatchObject({
      error: { code: "unavailable" },
    });
    expect(ids(await world.fold("s"))).toEqual(["u", "a"]);
    expectType(await client.ask(publish(ch, follow("u", say("b")))), "ack");
  });
});

test("[N2] a failing turn drops everything that was staged in it, also for what was decided on it", async () => {
  const begun = await begin();
  const { world, store, client, ch } = begun;
  const head = (await world.records("s")).length;
  store.faults.push("refused");
  const numbers = [
    client.post(publishWithRun(ch, { id: "r", place: { after: "a" } }, follow("u", streaming("a")))),
    client.post(publish(ch, follow("u", streaming("a")))),
    client.post({ type: "claim", ch, id: "r" }),
    client.post(register(ch, "title", "T")),
    client.post(register(ch, "title", "T")),
    client.post(publish(ch, follow("a", say("b")))),
  ];
  client.send(append(ch, "a", 0, "text"));
  await world.settle();
  for (const n of numbers)
    expect(client.answer(n)).toMatchObject({ type: "refused", error: { code: "unavailable", message: "unable to write; the disk is full" } }); // biome-ignore format: one line
  expect(client.all("refused").at(-1)).toMatchObject({ ch, id: "a", error: { code: "unavailable" } });
  expect(await world.records("s")).toHaveLength(head);
  expect(ids(shownTo(begun))).toEqual(["u"]);
  // The state is as before: reads see nothing, and the same ids are free for others.
  const { joined } = await joinedAs(world, "cid");
  expect(joined).toMatchObject({ head, runs: [], registers: [], open: [], entries: [{ id: "u" }] });
  expectType(await client.ask(publish(ch, follow("u", say("a", "other")))), "ack");
  expect(textIn(await world.fold("s"), "a")).toBe("other");
});

test("[N2] [D4] a full disk refuses writes with a reason, and reads go on", async () => {
  const { store, client, ch } = await begin();
  store.faults.push("refused", "refused");
  for (let times = 0; times < 2; times += 1) {
    expect(await client.ask(publish(ch, follow("u", say("a"))))).toMatchObject({
      error: { code: "unavailable" },
    });
    expectType(await client.ask({ type: "line", ch, candidates: [], walk: "newest", limit: 5 }), "window");
  }
  expectType(await client.ask(publish(ch, follow("u", say("a")))), "ack");
});

describe("[N1] after `unknown` it is read before it is decided", () => {
  test.each<AppendFault>(["landed", "lost"])("%s: exactly once", async (fault) => {
    const begun = await begin();
    const { world, store, client, ch } = begun;
    await client.ask(publish(ch, follow("u", streaming("m"))));
    store.faults.push(fault, fault);
    const numbers = [
      client.post(publishWithRun(ch, { id: "r", place: { after: "a" } }, follow("u", say("a")))),
      client.post({ type: "claim", ch, id: "r" }),
      client.post(register(ch, "title", "T")),
      client.post(publish(ch, follow("a", say("b")))),
    ];
    client.send(append(ch, "m", 0, "token"));
    await world.settle();
    for (const n of numbers) expect(client.answer(n)?.type).toBe("ack");
    expect(client.all("appended")).toMatchObject([{ id: "m", size: 5 }]);
    const records = await world.records("s");
    expect(records.map(({ kind }) => kind)).toEqual(["entry", "entry", "entry", "run", "run", "register", "entry", "append"]); // biome-ignore format: one line
    expect(textIn(shownTo(begun), "m")).toBe("token");
    const shown = begun.reader.client.frames().flatMap((frame) => frame.records.map(({ seq }) => seq));
    expect(shown).toEqual(records.map(({ seq }) => seq));
  });

  test("where it stays unknown nobody is told that it was refused: join and ask again", async () => {
    const { world, store, client, ch } = await begin();
    store.faults.push(...Array.from({ length: 5 }, (): AppendFault => "landed"), "lost");
    store.faults.splice(0, 4, "lost", "lost", "lost", "lost");
    const refused = await client.ask(publish(ch, follow("u", say("a"))));
    expect(refused).toMatchObject({ error: { code: "not_joined" } });
    expect(client.all("left")).toMatchObject([{ ch, error: { code: "unavailable" } }]);
    store.faults.length = 0;
    const again = await joinedAs(world, "ann");
    expect(again.joined.entries.map(({ id }) => id)).toEqual(["u", "a"]);
    expectType(await again.client.ask(publish(again.ch, follow("u", say("a")))), "ack");
    expect(await world.records("s")).toHaveLength(2);
  });

  test("where it cannot be read either, the same", async () => {
    const { world, store, client, ch, reader } = await begin();
    store.faults.push("landed");
    store.loadError = refusal("unavailable", "unable to read");
    const n = client.post(publish(ch, follow("u", say("a"))));
    await world.settle();
    expect(client.answer(n)).toMatchObject({ error: { code: "not_joined" } });
    for (const each of [client, reader.client])
      expect(each.all("left")).toMatchObject([{ error: { code: "unavailable" } }]);
    expect(await client.ask(joinMessage())).toMatchObject({ error: { code: "unavailable" } });
    store.loadError = null;
    const again = await joinedAs(world, "ann");
    expectType(await again.client.ask(publish(again.ch, follow("u", say("a")))), "ack");
    expect(await world.records("s")).toHaveLength(2);
  });
});

test("[N2] a store that breaks ends the session, answers everybody, and the next join opens it anew", async () => {
  const { world, store, client, ch, reader } = await begin();
  store.faults.push("throws");
  const numbers = [
    client.post(publish(ch, follow("u", say("a")))),
    client.post(joinMessage()),
    client.post({ type: "line", ch, candidates: [], walk: "newest", limit: 5 }),
  ];
  await world.settle();
  expect(numbers.map((n) => (client.answer(n) as { error?: { code: string } }).error?.code)).toEqual([
    "not_joined",
    "internal",
    "not_joined",
  ]);
  for (const each of [client, reader.client])
    expect(each.all("left")).toMatchObject([{ error: { code: "internal" } }]);
  const again = await joinedAs(world, "ann");
  expect(again.ch).not.toBe(ch);
  expectType(await again.client.ask(publish(again.ch, follow("u", say("a")))), "ack");
});

describe("[D1] acknowledged means on disk", () => {
  test("shown before, acknowledged after", async () => {
    const { world, store, client, ch, reader } = await begin();
    store.isSyncHeld = true;
    const n = client.post(publish(ch, follow("u", streaming("a"))));
    client.send(append(ch, "a", 0, "token"));
    await world.settle();
    expect(textIn(treeOf(reader.joined, reader.client.frames()), "a")).toBe("token");
    expect(client.answer(n)).toBeUndefined();
    expect(client.all("appended")).toEqual([]);
    store.sync();
    await world.settle();
    expect(client.answer(n)?.type).toBe("ack");
    expect(client.all("appended")).toMatchObject([{ size: 5 }]);
  });

  test("also repeats, refusals' neighbours and no-ops, decided on what is not on disk yet", async () => {
    const { world, store, client, ch } = await begin();
    store.isSyncHeld = true;
    const first = [client.post(publish(ch, follow("u", say("a")))), client.post(register(ch, "title", "T"))];
    await world.settle();
    const repeats = [
      client.post(publish(ch, follow("u", say("a")))),
      client.post(register(ch, "title", "T")),
    ];
    await world.settle();
    for (const n of [...first, ...repeats]) expect(client.answer(n)).toBeUndefined();
    store.sync();
    await world.settle();
    for (const n of [...first, ...repeats]) expect(client.answer(n)?.type).toBe("ack");
  });

  test("turns follow each other without waiting for the disk", async () => {
    const { world, store, client, ch, reader } = await begin();
    store.isSyncHeld = true;
    for (const id of ["a", "b", "c"]) {
      client.post(publish(ch, follow("u", say(id))));
      await world.settle();
    }
    expect(ids(treeOf(reader.joined, reader.client.frames()))).toEqual(["u", "a", "b", "c"]);
    expectType(await client.ask({ type: "line", ch, candidates: [], walk: "newest", limit: 5 }), "window");
  });
});

test("[J7] who writes faster than the disk takes it is closed with 1013, and finds what was kept", async () => {
  const { world, store, client, ch } = await begin();
  store.isSyncHeld = true;
  for (let index = 0; index < 80; index += 1)
    client.post(publish(ch, follow("u", say(`a${index}`, "x".repeat(1_000_000)))));
  await world.settle();
  expect(client.closeCode).toBe(1013);
  store.isSyncHeld = false;
  store.sync();
  const again = await joinedAs(world, "ann");
  for (let index = 0; index < 80; index += 1)
    expectType(
      await again.client.ask(publish(again.ch, follow("u", say(`a${index}`, "x".repeat(1_000_000))))),
      "ack",
    );
  expect((await world.fold("s")).size).toBe(81);
});

describe("[D4] a sync that fails", () => {
  test("acknowledges nothing, ends the session with `left`, and it is opened again in a new epoch", async () => {
    const { world, store, client, ch, reader, joined } = await begin();
    store.isSyncHeld = true;
    const numbers = [client.post(publish(ch, follow("u", say("a"))))];
    await world.settle();
    numbers.push(client.post(publish(ch, follow("u", say("b")))), client.post(register(ch, "title", "T")));
    await world.settle();
    store.failSync();
    await world.settle();
    for (const n of numbers)
      expect(client.answer(n)).toMatchObject({ type: "refused", error: { code: "not_joined" } });
    for (const each of [client, reader.client])
      expect(each.all("left")).toMatchObject([{ ch, error: { code: "unavailable" } }]);
    store.isSyncHeld = false;
    const cursor = { epoch: joined.epoch, seq: 1 };
    const again = await joinedAs(world, "ann", { cursor });
    expect(again.joined.mode).toBe("reset");
    expect(again.joined.epoch).not.toBe(joined.epoch);
    expectType(await again.client.ask(publish(again.ch, follow("u", say("a")))), "ack");
  });

  test("also where nobody waits for an answer", async () => {
    const { world, store, client, ch, reader } = await begin();
    await client.ask(publish(ch, follow("u", streaming("a"))));
    client.close();
    store.isSyncHeld = true;
    // The lease runs out: the server itself writes, and nobody is to be answered.
    await world.advance(30_000);
    expect(reader.client.frames().at(-1)?.records).toMatchObject([{ id: "a", status: "aborted" }]);
    store.failSync();
    await world.settle();
    expect(reader.client.all("left")).toHaveLength(1);
  });

  test("what was on disk before stays acknowledged", async () => {
    const { world, store, client, ch } = await begin();
    store.isSyncHeld = true;
    const first = client.post(publish(ch, follow("u", say("a"))));
    await world.settle();
    store.sync();
    await world.settle();
    const second = client.post(publish(ch, follow("u", say("b"))));
    await world.settle();
    store.failSync();
    await world.settle();
    expect(client.answer(first)?.type).toBe("ack");
    expect(client.answer(second)?.type).toBe("refused");
  });
});

describe("[S7] a lease that runs out while the store fails is not forgotten", () => {
  test.each<AppendFault>(["refused", "lost", "landed", "conflict"])("%s", async (fault) => {
    const { world, store, client, ch } = await begin();
    await client.ask(publish(ch, follow("u", streaming("a"))));
    client.close();
    store.faults.push(fault);
    await world.advance(90_000);
    expect((await world.fold("s")).get("a" as EntryId)?.entry.status).toBe("aborted");
    expect((await world.records("s")).filter(({ kind }) => kind === "append")).toHaveLength(1);
  });
});
