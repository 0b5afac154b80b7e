/**
 * [D2, D3] What a store finds when the one before it was not closed. A copy of the folder stands for the
 * death of the process: the system keeps all that was written.
 */
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createNodeDisk } from "../../../server/src/store/file/disk.js";
import { readJournal, redo } from "../../../server/src/store/file/recovery.js";
import type { LogStore } from "../../../server/src/store/log-store.js";
import { createFolder, type Folder } from "./folder.js";
import { append, headOf, message, put, recordsOf, sessionId } from "./records.js";

let folder: Folder;
beforeEach(() => {
  folder = createFolder();
});
afterEach(() => folder.dispose());

/** Ten records in each of three sessions, all appended and some not synced. */
const fill = async (store: LogStore): Promise<void> => {
  for (let head = 0; head < 10; head += 1) {
    for (const id of ["a", "b", "a/sub"]) {
      const outcome = await store.append(sessionId(id), head, [message(head + 1, `${id} ${head}`)]);
      expect(outcome.type).toBe("ok");
    }
  }
};

const expectFilled = async (store: LogStore): Promise<void> => {
  for (const id of ["a", "b", "a/sub"]) {
    const expected = Array.from({ length: 10 }, (_, head) => message(head + 1, `${id} ${head}`));
    expect(await recordsOf(store, id)).toEqual(expected);
  }
};

const flipByte = (path: string, at: number): void => {
  const bytes = readFileSync(path);
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  writeFileSync(path, bytes);
};

describe("[D3] after the death of the process", () => {
  test("[D3] everything that was appended is there, in the same epoch", async () => {
    const before = await folder.open();
    await fill(before);
    const after = await folder.copy().open();
    await expectFilled(after);
    expect(after.epoch).toBe(before.epoch);
    expect((await after.list({ limit: 9 })).sessions.map(({ entries }) => entries)).toEqual([10, 10]);
    expect((await after.summary(sessionId("a/sub")))?.entries).toBe(10);
  });

  test("[D3] the same, when lines had reached the files already and segments were removed", async () => {
    await fill(await folder.open({ segmentBytes: 1500, writeBehindMs: 1 }));
    const store = await folder.copy().open();
    await expectFilled(store);
  });

  test("[D3] redoing the journal again changes nothing", async () => {
    await fill(await folder.open({ segmentBytes: 2000 }));
    const crashed = folder.copy();
    const disk = createNodeDisk();
    const { segments } = await readJournal(disk, `${crashed.dir}/.espalier`);
    await redo(disk, crashed.dir, segments);
    const once = crashed.read("a.jsonl");
    await redo(disk, crashed.dir, segments);
    expect(crashed.read("a.jsonl")).toBe(once);
    await expectFilled(await crashed.open());
  });

  test("[D3] a redo that was interrupted anywhere is finished by the next", async () => {
    await fill(await folder.open());
    const crashed = folder.copy();
    const store = await crashed.copy().open();
    await store.close();
    const whole = folder.copy();
    await (await whole.open()).close();
    const text = Buffer.from(whole.read("a.jsonl"));
    for (const length of [0, 1, 200, text.length - 1, text.length]) {
      const interrupted = crashed.copy();
      writeFileSync(join(interrupted.dir, "a.jsonl"), text.subarray(0, length));
      await expectFilled(await interrupted.open());
    }
  });

  test("[D3] a frame that was cut off at the end of the journal is dropped, wherever it was cut", async () => {
    const store = await folder.open();
    await put(store, "a", 0, message(1));
    const whole = readFileSync(join(folder.dir, folder.segments()[0]!)).length;
    await put(store, "a", 1, message(2));
    const full = readFileSync(join(folder.dir, folder.segments()[0]!)).length;
    for (const length of [whole, whole + 1, whole + 7, whole + 8, whole + 30, full - 1]) {
      const crashed = folder.copy();
      truncateSync(join(crashed.dir, crashed.segments()[0]!), length);
      const after = await crashed.open();
      expect(await recordsOf(after, "a")).toEqual([message(1)]);
      await put(after, "a", 1, message(2, "again"));
      expect(await recordsOf(after, "a")).toEqual([message(1), message(2, "again")]);
    }
  });

  test("[D3] a segment whose header was never finished holds nothing", async () => {
    const store = await folder.open();
    await put(store, "a", 0, message(1));
    const crashed = folder.copy();
    crashed.add(".espalier/journal-00000002", "\u0001");
    const after = await crashed.open();
    expect(after.epoch).toBe(store.epoch);
    expect(await recordsOf(after, "a")).toEqual([message(1)]);
  });

  test("[D3] a bad frame in a segment that is not the newest is damage, told with its place", async () => {
    // The files cannot be written, so that the full segment stays.
    const store = await folder.open({ segmentBytes: 300, onTrouble: () => {} });
    folder.add("blocker", "");
    await put(store, "blocker/x", 0, message(1)).catch(() => {});
    await put(store, "a", 0, message(1));
    const crashed = folder.copy();
    const [first] = crashed.segments() as [string];
    appendFileSync(join(crashed.dir, ".espalier/journal-00000009"), readFileSync(join(crashed.dir, first)));
    flipByte(join(crashed.dir, first), -3);
    await expect(crashed.open()).rejects.toMatchObject({
      code: "damaged",
      message: expect.stringContaining("byte"),
    });
  });

  test("[D3] segments and sessions of the new store follow those of the old one", async () => {
    let crashed = folder;
    for (let head = 0; head < 6; head += 1) {
      const store = await crashed.open({ segmentBytes: 1 });
      await put(store, "a", head, message(head + 1));
      crashed = crashed.copy();
    }
    expect(await recordsOf(await crashed.open(), "a")).toHaveLength(6);
  });

  test("[D3] the journal keeps no more than a few segments, and none after a close", async () => {
    const store = await folder.open({ segmentBytes: 500 });
    for (let head = 0; head < 40; head += 1) await put(store, "a", head, message(head + 1));
    expect(folder.segments().length).toBeLessThanOrEqual(6);
    await store.close();
    expect(folder.segments()).toEqual([]);
    expect(await recordsOf(await folder.open(), "a")).toHaveLength(40);
  });

  test("[D3] an unfinished last line that no journal finishes is dropped, in a new epoch", async () => {
    const store = await folder.open();
    await put(store, "a", 0, message(1), message(2));
    await store.close();
    const crashed = folder.copy();
    crashed.remove(".espalier/catalogue.jsonl");
    crashed.add("a.jsonl", '{"kind":"entry","id":"e3","par');
    const after = await crashed.open();
    expect(await recordsOf(after, "a")).toEqual([message(1), message(2)]);
    expect(after.epoch).not.toBe(store.epoch);
    await put(after, "a", await headOf(after, "a"), message(2_000_000_000));
    await after.close();
    expect(await recordsOf(await crashed.open(), "a")).toHaveLength(3);
  });

  test("[D3] a last line that lacks only its end is kept", async () => {
    const store = await folder.open();
    await put(store, "a", 0, message(1));
    await store.close();
    folder.add("a.jsonl", JSON.stringify(append(2, "e1", "x")));
    const after = await folder.open();
    expect(await recordsOf(after, "a")).toEqual([message(1), append(2, "e1", "x")]);
    await put(after, "a", 2, message(3));
    await after.close();
    expect(await recordsOf(await folder.open(), "a")).toHaveLength(3);
  });
});

describe("[D2] epochs", () => {
  test("[D2] after another boot of the machine a new epoch begins, above all that could have been given", async () => {
    const before = await folder.open({ bootId: "boot1" });
    await put(before, "a", 0, message(1), message(2));
    const crashed = folder.copy();
    const after = await crashed.open({ bootId: "boot2" });
    expect(after.epoch).not.toBe(before.epoch);
    const loaded = await after.load(sessionId("a"));
    if (loaded.type !== "ok") throw new Error(loaded.type);
    expect(loaded.log.epoch).toBe(after.epoch);
    expect(loaded.log.records).toEqual([message(1), message(2)]);
    expect(loaded.log.head).toBeGreaterThan(1_000_000);
  });

  test("[D2] the line that begins it is on disk before the session is shown, and is written once", async () => {
    const before = await folder.open({ bootId: "boot1" });
    await put(before, "a", 0, message(1));
    const crashed = folder.copy();
    const after = await crashed.open({ bootId: "boot2" });
    const loads = Array.from({ length: 20 }, async (_, turns) => {
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return headOf(after, "a");
    });
    const heads = await Promise.all(loads);
    expect(new Set(heads).size).toBe(1);
    const again = await crashed.copy().open({ bootId: "boot2" });
    expect(await headOf(again, "a")).toBe(heads[0]);
    await again.close();
    await after.close();
    expect(
      crashed
        .read("a.jsonl")
        .split("\n")
        .filter((line) => line.startsWith('{"kind":"epoch"')),
    ).toEqual([JSON.stringify({ kind: "epoch", epoch: after.epoch, floor: heads[0] })]);
  });

  test("[D2] an append by the head of an earlier epoch is a conflict", async () => {
    const before = await folder.open({ bootId: "boot1" });
    await put(before, "a", 0, message(1));
    const after = await folder.copy().open({ bootId: "boot2" });
    expect(await after.append(sessionId("a"), 1, [message(2)])).toEqual({ type: "conflict" });
    const head = await headOf(after, "a");
    await put(after, "a", head, message(head + 1));
    expect(await headOf(after, "a")).toBe(head + 1);
  });

  test("[D2] a pair of epoch and seq never names two records, over many losses", async () => {
    const given = new Map<string, string>();
    let crashed = folder;
    for (let boot = 0; boot < 8; boot += 1) {
      const store = await crashed.open({ bootId: `boot${boot}` });
      const kept = crashed.copy();
      for (let count = 0; count < 3; count += 1) {
        const head = await headOf(store, "a");
        const text = `${boot} ${count}`;
        await put(store, "a", head, message(head + 1, text));
        const pair = `${store.epoch} ${head + 1}`;
        expect(given.get(pair)).toBeUndefined();
        given.set(pair, text);
      }
      // Every other time all of this run is lost.
      crashed = boot % 2 === 0 ? crashed.copy() : kept;
    }
  });

  test("[D2] where boots cannot be told apart, only a close keeps the epoch", async () => {
    const first = await folder.open({ bootId: null });
    await put(first, "a", 0, message(1));
    const second = await folder.copy().open({ bootId: null });
    expect(second.epoch).not.toBe(first.epoch);
    await first.close();
    expect((await folder.open({ bootId: null })).epoch).toBe(first.epoch);
  });

  test("[D2] a close keeps the epoch, also over another boot", async () => {
    const first = await folder.open({ bootId: "boot1" });
    await put(first, "a", 0, message(1));
    await first.close();
    const second = await folder.open({ bootId: "boot2" });
    expect(second.epoch).toBe(first.epoch);
    expect(await headOf(second, "a")).toBe(1);
  });

  test("[D2] a directory without its control folder begins a new epoch", async () => {
    const first = await folder.open();
    await put(first, "a", 0, message(1));
    await first.close();
    folder.remove(".espalier");
    const second = await folder.open();
    expect(second.epoch).not.toBe(first.epoch);
    expect(await recordsOf(second, "a")).toEqual([message(1)]);
  });

  test("[D2] bytes in the journal that are not as written begin a new epoch, even in the same boot", async () => {
    const before = await folder.open();
    await put(before, "a", 0, message(1));
    await put(before, "a", 1, message(2));
    const crashed = folder.copy();
    flipByte(join(crashed.dir, crashed.segments()[0]!), -3);
    const after = await crashed.open();
    expect(after.epoch).not.toBe(before.epoch);
    expect(await recordsOf(after, "a")).toEqual([message(1)]);
  });
});
