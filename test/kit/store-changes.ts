/** The operations of every store that do more than append: install, make whole, erase, remove. */
import { createTree, type Erase, type LogRecord, type MessageEntry } from "@espalier/shared";
import { expect, test } from "vitest";
import type { LogStore, StoredLog } from "../../server/src/store/log-store.js";
import {
  append,
  erase,
  erased,
  headOf,
  message,
  put,
  recordsOf,
  register,
  sessionId,
  shared,
} from "../server/store/records.js";
import type { StoreHarness } from "./store-contract.js";

const logOf = async (store: LogStore, id: string): Promise<StoredLog> => {
  const loaded = await store.load(sessionId(id));
  if (loaded.type !== "ok") throw new Error(`not loaded: ${JSON.stringify(loaded)}`);
  return loaded.log;
};

/** The entries as a tree that lived through it has them. */
const entriesAfter = (records: readonly LogRecord[]): unknown[] => {
  const tree = createTree();
  for (const record of records) tree.apply(record);
  return [...tree.nodes()].map(({ entry }) => entry);
};

async function* slowly<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) {
    await new Promise((resolve) => setImmediate(resolve));
    yield item;
  }
}

const DELETED = { type: "refused", error: { code: "deleted" } };
const USAGE = { input: 3, output: 4, model: "m" };

export const changeTests = (at: StoreHarness): void => {
  test("[F1] a whole log is installed, and goes on like any other", async () => {
    const records = [message(1), append(2, "e1", "x"), register(7, "title", "T")];
    const header = { createdAt: 3, origin: { session: sessionId("other"), entry: null }, inherited: 2 };
    expect(await at.store.install(sessionId("s1"), header, slowly(records))).toEqual({ type: "ok" });
    expect(await logOf(at.store, "s1")).toEqual({ header, epoch: at.store.epoch, head: 7, records });
    await put(at.store, "s1", 7, message(8));
    await at.reopen();
    expect(await recordsOf(at.store, "s1")).toEqual([...records, message(8)]);
    expect(await at.store.summary(sessionId("s1"))).toMatchObject({ title: "T", createdAt: 3, entries: 1 });
  });

  test("[F2] a log that shares its beginning is installed without a record, and goes on above that", async () => {
    await put(at.store, "parent", 0, message(1), message(2));
    expect(await at.store.install(sessionId("child"), shared("parent", 2), [])).toEqual({ type: "ok" });
    await at.reopen();
    const empty = { header: shared("parent", 2), epoch: at.store.epoch, head: 2, records: [] };
    expect(await logOf(at.store, "child")).toEqual(empty);
    expect(await at.store.append(sessionId("child"), 0, [message(3)])).toEqual({ type: "conflict" });
    await put(at.store, "child", 2, message(3));
    await at.reopen();
    expect(await logOf(at.store, "child")).toEqual({ ...empty, head: 3, records: [message(3)] });
  });

  test("[F2] so does one that begins with an append", async () => {
    const header = shared("parent", 2);
    const id = sessionId("child");
    expect(await at.store.append(id, 0, [message(3)], header)).toEqual({ type: "conflict" });
    expect(await at.store.append(id, 2, [message(3)], header)).toMatchObject({ type: "ok" });
    await at.reopen();
    expect(await logOf(at.store, "child")).toMatchObject({ header, head: 3, records: [message(3)] });
  });

  test("[F1] nothing takes the place of a log that is there, or that is being installed", async () => {
    await put(at.store, "s1", 0, message(1));
    expect(await at.store.install(sessionId("s1"), { createdAt: 1 }, [])).toEqual({ type: "conflict" });
    const twice = ["one", "two"].map((text) =>
      at.store.install(sessionId("s2"), { createdAt: 1 }, slowly([message(1, text), message(2)])),
    );
    expect(await at.store.load(sessionId("s2"))).toEqual({ type: "absent" });
    expect(await at.store.append(sessionId("s2"), 0, [message(1)])).toEqual({ type: "conflict" });
    expect(await Promise.all(twice)).toEqual([{ type: "ok" }, { type: "conflict" }]);
    expect(await recordsOf(at.store, "s2")).toEqual([message(1, "one"), message(2)]);
  });

  test("[F1] of a log whose records break off nothing is installed", async () => {
    async function* breaking(): AsyncGenerator<LogRecord> {
      yield message(1);
      throw Object.assign(new Error("the source ended"), { code: "internal" });
    }
    await expect(at.store.install(sessionId("s1"), { createdAt: 1 }, breaking())).rejects.toThrow(
      "the source",
    );
    expect(await at.store.load(sessionId("s1"))).toEqual({ type: "absent" });
    await put(at.store, "s1", 0, message(1, "again"));
    expect(await recordsOf(at.store, "s1")).toEqual([message(1, "again")]);
  });

  test("[F4] a log that shares its beginning is made whole, and needs its origin no more", async () => {
    const { isShared: _, ...origin } = shared("parent", 4).origin ?? { session: null, entry: null };
    await at.store.install(sessionId("child"), shared("parent", 4), []);
    await put(at.store, "child", 4, message(5), append(6, "e5", "x"));
    const whole = at.store.makeWhole(sessionId("child"), [message(1), message(3)]);
    const follows = at.store.append(sessionId("child"), 6, [message(7)]);
    expect(await whole).toEqual({ type: "ok" });
    expect(await follows).toMatchObject({ type: "ok" });
    const records = [message(1), message(3), message(5), append(6, "e5", "x"), message(7)];
    const log = { header: { ...shared("parent", 4), origin }, head: 7, records };
    for (let round = 0; round < 2; round += 1) {
      expect(await logOf(at.store, "child")).toEqual({ ...log, epoch: at.store.epoch });
      expect(await at.store.sharing(sessionId("parent"))).toEqual([]);
      const summary = await at.store.summary(sessionId("child"));
      expect(summary).toMatchObject({ origin, entries: 2 });
      expect(summary).not.toHaveProperty("error");
      await at.reopen();
    }
    expect(await at.store.makeWhole(sessionId("child"), [])).toEqual({ type: "conflict" });
    await put(at.store, "child", 7, message(8));
    expect(await headOf(at.store, "child")).toBe(8);
  });

  test("[F4] made whole by nothing, its head stays above what it shared", async () => {
    await at.store.install(sessionId("child"), shared("parent", 4), []);
    expect(await at.store.makeWhole(sessionId("child"), [])).toEqual({ type: "ok" });
    expect(await headOf(at.store, "child")).toBe(4);
    await at.reopen();
    expect(await headOf(at.store, "child")).toBe(4);
    await put(at.store, "child", 4, message(5));
    expect(await recordsOf(at.store, "child")).toEqual([message(5)]);
  });

  test("[F4] only a log that shares is made whole, and only by what it inherits", async () => {
    await put(at.store, "s1", 0, message(1));
    for (const id of ["s1", "absent"])
      expect(await at.store.makeWhole(sessionId(id), [])).toEqual({ type: "conflict" });
    await at.store.install(sessionId("child"), shared("parent", 4), []);
    const wrong = at.store.makeWhole(sessionId("child"), [message(5)]);
    await expect(wrong).rejects.toMatchObject({ code: "internal" });
    expect(await logOf(at.store, "child")).toMatchObject({ header: shared("parent", 4), records: [] });
  });

  const erasures: [string, readonly LogRecord[], Erase][] = [
    ["of one word", [message(1, "x"), message(2)], erase(9, "e1")],
    ["of no word", [message(1, ""), message(2)], erase(9, "e1")],
    ["of a reader", [message(1, "secret", { audience: "reader", meta: { mood: 1 } })], erase(9, "e1")],
    [
      "that grew",
      [
        message(1, "", { status: "streaming", parts: [], role: "assistant" }),
        append(2, "e1", "s"),
        message(3),
        append(4, "e1", "ecret".repeat(99), { at: 1 }),
        append(5, "e1", "", { at: 496, deltas: [], status: "complete", usage: USAGE }),
      ],
      erase(9, "e1"),
    ],
    ["that streams", [message(1, "", { status: "streaming" }), append(2, "e1", "secret")], erase(9, "e1")],
    [
      "with usage",
      [message(1, "secret", { usage: USAGE, runId: "r1" as MessageEntry["runId"] as never })],
      erase(9, "e1"),
    ],
    [
      "of another kind",
      [
        { ...message(1), type: "custom", name: "n", data: null, role: undefined, parts: undefined } as never,
        {
          ...message(2),
          type: "option-change",
          option: "",
          value: 0,
          role: undefined,
          parts: undefined,
        } as never,
      ],
      erase(9, "e2"),
    ],
    ["under a seq of a later epoch", [message(1, "x")], erase(3_000_000_009, "e1")],
  ];
  for (const [name, records, record] of erasures) {
    test(`[L2] an entry ${name} is erased: its tombstone stands as in a tree that saw it, and nothing else is left`, async () => {
      await put(at.store, "s1", 0, ...records);
      const head = records.at(-1)?.seq ?? 0;
      await erased(at.store, "s1", head, record);
      const expected = entriesAfter(JSON.parse(JSON.stringify([...records, record])));
      for (let round = 0; round < 2; round += 1) {
        const found = await recordsOf(at.store, "s1");
        expect(found).toHaveLength(records.length + 1);
        expect(entriesAfter(found)).toEqual(expected);
        expect(
          found.find(({ seq }) => seq === records.find((each) => "id" in each && each.id === record.id)?.seq),
        ).toEqual(expected.find((entry) => (entry as MessageEntry).id === record.id));
        expect(JSON.stringify(found)).not.toContain("ecret");
        for (const each of found) if (each.kind === "append") expect(each.deltas).toEqual([]);
        await at.reopen();
      }
      await put(at.store, "s1", record.seq, message(record.seq + 1));
    });
  }

  test("[L2] content is gone from what is read as soon as the erase may be shown", async () => {
    await put(at.store, "s1", 0, message(1, "secret"));
    const outcome = await at.store.erase(sessionId("s1"), 1, erase(2, "e1"));
    expect(JSON.stringify(await recordsOf(at.store, "s1"))).not.toContain("secret");
    await put(at.store, "s1", 2, message(3));
    if (outcome.type === "ok") await outcome.durable;
    expect(await headOf(at.store, "s1")).toBe(3);
  });

  test("[L2] an entry is erased twice, and others beside it", async () => {
    await put(at.store, "s1", 0, message(1, "secret"), message(2), message(3, "secret"));
    await Promise.all([
      erased(at.store, "s1", 3, erase(4, "e1")),
      at.store.synced(sessionId("s1")).then(() => new Promise((resolve) => setImmediate(resolve))),
    ]);
    await erased(at.store, "s1", 4, erase(5, "e3"));
    await erased(at.store, "s1", 5, erase(6, "e1"));
    await at.reopen();
    const found = await recordsOf(at.store, "s1");
    expect(found.map((record) => ("type" in record ? record.type : record.kind))).toEqual([
      "erased",
      "message",
      "erased",
      "erase",
      "erase",
      "erase",
    ]);
    expect(found[0]).toMatchObject({ rev: 6, erasedAt: erase(6, "e1").time });
  });

  test("[L2] an erase by another head changes nothing, and of one that is not here only the record is kept", async () => {
    await put(at.store, "s1", 0, message(1));
    expect(await at.store.erase(sessionId("s1"), 0, erase(2, "e1"))).toEqual({ type: "conflict" });
    expect(await at.store.erase(sessionId("absent"), 1, erase(2, "e1"))).toEqual({ type: "conflict" });
    expect(await recordsOf(at.store, "s1")).toEqual([message(1)]);
    await at.store.install(sessionId("child"), shared("s1", 1), []);
    await erased(at.store, "child", 1, erase(2, "e1"));
    expect(await recordsOf(at.store, "child")).toEqual([erase(2, "e1")]);
    expect(await recordsOf(at.store, "s1")).toEqual([message(1)]);
  });

  test("[L2] [F4] what a log erased of its origin's is no content when it is made whole", async () => {
    await at.store.install(sessionId("child"), shared("parent", 2), []);
    await erased(at.store, "child", 2, erase(3, "e1"));
    await at.store.makeWhole(sessionId("child"), [message(1, "secret"), message(2)]);
    await at.reopen();
    const found = await recordsOf(at.store, "child");
    expect(found.map((record) => ("type" in record ? record.type : record.kind))).toEqual([
      "erased",
      "message",
      "erase",
    ]);
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  test("[F8] a log is removed for good: its id is refused, and it is in no list", async () => {
    for (const id of ["a", "b", "a/x"]) await put(at.store, id, 0, message(1));
    expect(await at.store.remove(sessionId("a"))).toEqual({ type: "ok" });
    for (let round = 0; round < 2; round += 1) {
      expect(await at.store.load(sessionId("a"))).toMatchObject(DELETED);
      expect(await at.store.append(sessionId("a"), 0, [message(1)])).toMatchObject(DELETED);
      expect(await at.store.append(sessionId("a"), 1, [message(2)])).toMatchObject(DELETED);
      expect(await at.store.install(sessionId("a"), { createdAt: 1 }, [])).toMatchObject(DELETED);
      expect(await at.store.remove(sessionId("a"))).toEqual({ type: "conflict" });
      expect(await at.store.summary(sessionId("a"))).toBeNull();
      expect((await at.store.list({ limit: 9 })).sessions.map(({ id }) => id)).toEqual(["b"]);
      await at.reopen();
    }
    expect(await recordsOf(at.store, "a/x")).toEqual([message(1)]);
    expect(await at.store.remove(sessionId("absent"))).toEqual({ type: "conflict" });
  });

  test("[F8] of two removes at once one removes; an append that meets them is taken or refused as a whole", async () => {
    await put(at.store, "a", 0, message(1));
    const [first, second, outcome] = await Promise.all([
      at.store.remove(sessionId("a")),
      at.store.remove(sessionId("a")),
      at.store.append(sessionId("a"), 1, [message(2)]),
    ]);
    expect([first, second]).toEqual([{ type: "ok" }, { type: "conflict" }]);
    expect(outcome).toMatchObject(DELETED);
    expect(await at.store.load(sessionId("a"))).toMatchObject(DELETED);
  });

  test("[N1] a session goes on while others are installed, erased in, made whole and removed", async () => {
    await put(at.store, "erased", 0, ...Array.from({ length: 10 }, (_, index) => message(index + 1)));
    for (let index = 0; index < 5; index += 1) {
      await at.store.install(sessionId(`child${index}`), shared("erased", 10), []);
      await put(at.store, `gone${index}`, 0, message(1));
    }
    const writes = async (): Promise<void> => {
      for (let head = 0; head < 50; head += 1) await put(at.store, "busy", head, message(head + 1));
    };
    const erases = async (): Promise<void> => {
      for (let index = 1; index <= 5; index += 1) {
        await erased(at.store, "erased", 9 + index, erase(10 + index, `e${index}`));
      }
    };
    const each = (work: (index: number) => Promise<unknown>) =>
      Array.from({ length: 5 }, (_, index) => work(index));
    await Promise.all([
      writes(),
      erases(),
      ...each((index) => at.store.makeWhole(sessionId(`child${index}`), [message(1), message(10)])),
      ...each((index) => at.store.remove(sessionId(`gone${index}`))),
      ...each((index) => at.store.install(sessionId(`new${index}`), { createdAt: 1 }, slowly([message(1)]))),
    ]);
    await at.reopen();
    expect(await recordsOf(at.store, "busy")).toHaveLength(50);
    expect(
      (await recordsOf(at.store, "erased")).filter((record) => "type" in record && record.type === "erased"),
    ).toHaveLength(5);
    for (let index = 0; index < 5; index += 1) {
      expect(await recordsOf(at.store, `child${index}`)).toEqual([message(1), message(10)]);
      expect(await recordsOf(at.store, `new${index}`)).toEqual([message(1)]);
      expect(await at.store.load(sessionId(`gone${index}`))).toMatchObject(DELETED);
    }
  });
};
