/** [L2, F1, F2, F4, F8] What installing, making whole, erasing and removing does to the files of a directory. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { LogRecord } from "@espalier/shared";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { detailOf } from "../../../server/src/origin-fault.js";
import { createRuntime } from "../../../server/src/runtime.js";
import { createNodeDisk, type Disk } from "../../../server/src/store/file/disk.js";
import { openFileStore } from "../../../server/src/store/file/file-store.js";
import type { LogStore } from "../../../server/src/store/log-store.js";
import { createFolder, type Folder } from "./folder.js";
import { append, countEpochs, erase, erased, message, put, recordsOf, sessionId, shared } from "./records.js";

let folder: Folder;
let troubles: string[];
const heard = { onTrouble: ({ message }: Error) => void troubles.push(message) };
beforeEach(() => {
  folder = createFolder();
  troubles = [];
});
afterEach(() => folder.dispose());

const at = (path: string): string => join(folder.dir, path);

const filesOf = ({ dir }: Folder): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name).slice(dir.length + 1));

const bytesOf = (of: Folder): number =>
  filesOf(of).reduce((sum, path) => sum + statSync(join(of.dir, path)).size, 0);

/** The files that hold some text. */
const filesWith = (text: string): string[] =>
  // Some are gone a moment after they were listed.
  filesOf(folder).filter((path) => folder.exists(path) && readFileSync(at(path)).includes(text));

const ok = async (outcome: Promise<{ type: string }>): Promise<void> =>
  expect(await outcome).toEqual({ type: "ok" });

describe("install", () => {
  test("[F2] a fork by sharing of 100,000 entries is one line, of less than a kilobyte", async () => {
    const store = await folder.open();
    function* entries(): Generator<LogRecord> {
      for (let seq = 1; seq <= 100_000; seq += 1) yield message(seq, "some words that somebody wrote");
    }
    await ok(store.install(sessionId("parent"), { createdAt: 1 }, entries()));
    await store.close();
    const before = bytesOf(folder);
    const again = await folder.open();
    await ok(again.install(sessionId("child"), shared("parent", 100_000), []));
    await again.close();
    expect(statSync(at("child.jsonl")).size).toBeLessThan(300);
    expect(bytesOf(folder) - before).toBeLessThan(1000);
    expect(folder.read("child.jsonl").split("\n")).toHaveLength(2);
    expect(statSync(at("child.jsonl")).mode & 0o777).toBe(0o600);
  });

  test("[F1] others go on while one is written, and it is seen when it is there as a whole", async () => {
    const store = await folder.open();
    let goOn = (): void => {};
    async function* held(): AsyncGenerator<LogRecord> {
      for (let seq = 1; seq <= 5000; seq += 1) yield message(seq, "x".repeat(200));
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
    const installed = store.install(sessionId("s1"), { createdAt: 1 }, held());
    for (let head = 0; head < 20; head += 1) await put(store, "other", head, message(head + 1));
    expect(await store.load(sessionId("s1"))).toEqual({ type: "absent" });
    while (!filesOf(folder).some((path) => path.endsWith(".new"))) await new Promise(setImmediate);
    const crashed = folder.copy();
    const after = await crashed.open();
    expect(await after.load(sessionId("s1"))).toEqual({ type: "absent" });
    expect(filesOf(crashed).filter((path) => path.endsWith(".new"))).toEqual([]);
    goOn();
    await ok(installed);
    expect(await recordsOf(store, "s1")).toHaveLength(5000);
    expect(await recordsOf(await folder.copy().open(), "s1")).toHaveLength(5000);
  });

  test("[F1] nothing is written over a file that is not of a session here", async () => {
    const store = await folder.open();
    writeFileSync(at("s1.jsonl"), "mine");
    const outcome = await store.install(sessionId("s1"), { createdAt: 1 }, []);
    expect(outcome).toMatchObject({ type: "refused", error: { code: "unavailable" } });
    expect(folder.read("s1.jsonl")).toBe("mine");
    expect(filesOf(folder).filter((path) => path.endsWith(".new"))).toEqual([]);
  });

  test("[F1] a close ends one that is under way", async () => {
    const store = await folder.open();
    async function* endless(): AsyncGenerator<LogRecord> {
      for (let seq = 1; ; seq += 1) {
        yield message(seq);
        if (seq % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const installed = store.install(sessionId("s1"), { createdAt: 1 }, endless());
    await store.close();
    expect(await installed).toMatchObject({ type: "refused" });
    expect(filesOf(folder).filter((path) => path.includes("s1"))).toEqual([]);
  });
});

describe("erase", () => {
  test("[L2] the text is in no file, and no other line has changed or moved", async () => {
    const store = await folder.open();
    await put(
      store,
      "a",
      0,
      message(1, "hi"),
      message(2, "marker"),
      message(3, "", { status: "streaming", parts: [] }),
    );
    for (let count = 0; count < 5; count += 1)
      await put(store, "a", 3 + count, append(4 + count, "e3", "marker", { at: 6 * count }));
    await put(store, "b", 0, message(1, "with it in a frame"));
    expect(filesWith("marker")).toHaveLength(1);
    await erased(store, "a", 8, erase(9, "e3"));
    expect(filesWith("marker").sort()).toEqual(["a.jsonl"]);
    const before = folder.read("a.jsonl");
    await erased(store, "a", 9, erase(10, "e2"));
    expect(filesWith("marker")).toEqual([]);
    const after = folder.read("a.jsonl");
    expect(after.startsWith(before.slice(0, before.indexOf("marker") - 200))).toBe(true);
    const lines = after.split("\n");
    expect(lines.map((line) => line.length).slice(0, 10)).toEqual(
      before
        .split("\n")
        .map((line) => line.length)
        .slice(0, 10),
    );
    expect(lines.slice(0, 2)).toEqual(before.split("\n").slice(0, 2));
    for (const line of lines.slice(0, -1)) JSON.parse(line);
    expect(folder.read(".espalier/erasures.jsonl")).toBe("");
  });

  test("[L2] it is in no segment that is kept for another session", async () => {
    const store = await folder.open(heard);
    mkdirSync(at("y.jsonl"));
    await Promise.all([put(store, "a", 0, message(1, "marker")), put(store, "y", 0, message(1, "kept"))]);
    await erased(store, "a", 1, erase(2, "e1"));
    expect(filesWith("marker")).toEqual([]);
    expect(filesWith("kept")).toEqual([".espalier/kept-00000001"]);
    await store.close();
    folder.remove("y.jsonl");
    expect(await recordsOf(await folder.open(), "y")).toEqual([message(1, "kept")]);
  });

  test("[L2] a file whose overwriting failed is not read before the next start, which mends it", async () => {
    let isFailing = false;
    const disk = createNodeDisk();
    const failing: Disk = {
      ...disk,
      open: async (path, mode) => {
        const file = await disk.open(path, mode);
        return {
          ...file,
          write: async (bytes, offset) => {
            const isOver = offset + bytes.length <= (await file.size());
            if (!isFailing || !isOver || !path.endsWith("a.jsonl")) return file.write(bytes, offset);
            await file.write(bytes.subarray(0, bytes.length / 2), offset);
            throw new Error("no write");
          },
        };
      },
    };
    const options = { dir: folder.dir, newEpoch: countEpochs(), runtime: createRuntime(), bootId: "boot1" };
    const store = await openFileStore(failing, options, async () => {});
    await put(store, "a", 0, message(1, "marker"), message(2));
    await erased(store, "a", 2, erase(3, "e2"));
    isFailing = true;
    const outcome = await store.erase(sessionId("a"), 3, erase(4, "e1"));
    if (outcome.type !== "ok") throw new Error(outcome.type);
    await expect(outcome.durable).rejects.toThrow("no write");
    await expect(store.synced(sessionId("b"))).resolves.toBeUndefined();
    expect(await store.load(sessionId("a"))).toMatchObject({
      type: "refused",
      error: { code: "unavailable" },
    });
    await store.close();
    const after = await folder.open();
    expect(filesWith("marker")).toEqual([]);
    expect(
      (await recordsOf(after, "a")).map((record) => ("type" in record ? record.type : record.kind)),
    ).toEqual(["erased", "erased", "erase", "erase"]);
    expect(folder.read(".espalier/erasures.jsonl")).toBe("");
  });

  test("[L2] while no file can be written it is tried again, and is done no sooner", async () => {
    let isFailing = false;
    const disk = createNodeDisk();
    const failing: Disk = {
      ...disk,
      open: async (path, mode) => {
        if (isFailing && path.endsWith("a.jsonl")) throw new Error("no space");
        return disk.open(path, mode);
      },
    };
    let goOn = (): void => {};
    const runtime = {
      ...createRuntime(),
      setTimer: (_delayMs: number, run: () => void) => {
        goOn = run;
        return () => {};
      },
    };
    const options = { dir: folder.dir, newEpoch: countEpochs(), runtime, bootId: "boot1", ...heard };
    const store = await openFileStore(failing, options, async () => {});
    await put(store, "a", 0, message(1, "marker"));
    isFailing = true;
    const outcome = await store.erase(sessionId("a"), 1, erase(2, "e1"));
    if (outcome.type !== "ok") throw new Error(outcome.type);
    while (troubles.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      goOn();
    }
    isFailing = false;
    goOn();
    await outcome.durable;
    await store.synced(sessionId("a"));
    expect(filesWith("marker")).toEqual([]);
    await store.close();
  });

  test("[L2] one whose file cannot be read waits for a start at which it can", async () => {
    const store = await folder.open();
    await put(store, "a", 0, message(1, "marker"));
    await store.append(sessionId("a"), 1, [erase(2, "e1")]);
    await store.close();
    const whole = folder.read("a.jsonl");
    const intent = { n: 1, id: "a", entry: "e1", seq: 2 };
    writeFileSync(at(".espalier/erasures.jsonl"), `${JSON.stringify(intent)}\n`);
    writeFileSync(at("a.jsonl"), whole.replace('"kind":"entry"', "no JSON"));
    await (await folder.open(heard)).close();
    expect(troubles).toHaveLength(1);
    writeFileSync(at("a.jsonl"), whole);
    await folder.open();
    expect(filesWith("marker")).toEqual([]);
  });
});

describe("remove", () => {
  test("[F8] nothing of a session is left, not in the journal, not in the catalogue, and no empty folder", async () => {
    const store = await folder.open();
    for (const id of ["a", "a/x", "b/y"])
      await put(store, id, 0, message(1, "marker"), {
        ...message(2),
        kind: "register",
        key: "title",
        value: "marker",
      } as never);
    await store.close();
    const again = await folder.open();
    await put(again, "a/x", 2, message(3, "marker"));
    await ok(again.remove(sessionId("a")));
    expect(readdirSync(folder.dir).sort()).toEqual([".espalier", "a", "b"]);
    await ok(again.remove(sessionId("a/x")));
    await ok(again.remove(sessionId("b/y")));
    expect(filesWith("marker")).toEqual([]);
    expect(readdirSync(folder.dir)).toEqual([".espalier"]);
  });

  test("[F8] those that are removed at once share one purge of the journal", async () => {
    const store = await folder.open();
    const ids = Array.from({ length: 50 }, (_, index) => `s${index}`);
    for (const id of ids) await put(store, id, 0, message(1));
    const before = folder.segments();
    await Promise.all(ids.map((id) => ok(store.remove(sessionId(id)))));
    expect(before).toEqual([".espalier/journal-00000001"]);
    expect(folder.segments()).toEqual([".espalier/journal-00000002"]);
    expect(folder.read(".espalier/deleted.jsonl").trimEnd().split("\n")).toHaveLength(1);
  });

  test("[F8] a damaged session is removed, and what was kept for it", async () => {
    const first = await folder.open();
    await put(first, "a", 0, message(1, "marker"));
    await first.close();
    const store = await folder.open(heard);
    await put(store, "a", 1, message(2, "marker"));
    truncateSync(at("a.jsonl"), 50);
    await put(store, "b", 0, message(1));
    await store.close();
    expect(filesWith("marker")).toEqual([".espalier/kept-00000001"]);
    const again = await folder.open();
    expect((await again.summary(sessionId("a")))?.error?.code).toBe("damaged");
    await ok(again.remove(sessionId("a")));
    expect(filesWith("marker")).toEqual([]);
    expect(folder.exists("a.jsonl")).toBe(false);
    await again.close();
    const { sessions } = await (await folder.open()).list({ limit: 9 });
    expect(sessions.map(({ id }) => id)).toEqual(["b"]);
  });

  test("[F8] a file that comes back under a deleted id is removed at the next start", async () => {
    const store = await folder.open();
    await put(store, "a", 0, message(1));
    await ok(store.remove(sessionId("a")));
    await store.close();
    writeFileSync(at("a.jsonl"), "anything");
    const again = await folder.open();
    expect(folder.exists("a.jsonl")).toBe(false);
    expect(await again.load(sessionId("a"))).toMatchObject({ error: { code: "deleted" } });
  });

  test("[D5] a torn last line of the deleted is dropped; a bad one before it is damage", async () => {
    const store = await folder.open();
    await put(store, "a", 0, message(1));
    await put(store, "b", 0, message(1));
    await ok(store.remove(sessionId("a")));
    await store.close();
    const whole = folder.read(".espalier/deleted.jsonl");
    appendFileSync(at(".espalier/deleted.jsonl"), '{"deletedAt":1,"ids":["b"');
    const again = await folder.open();
    expect(folder.read(".espalier/deleted.jsonl")).toBe(whole);
    expect(await recordsOf(again, "b")).toHaveLength(1);
    await ok(again.remove(sessionId("b")));
    await again.close();
    writeFileSync(at(".espalier/deleted.jsonl"), folder.read(".espalier/deleted.jsonl").replace('"a"', "a"));
    await expect(folder.open()).rejects.toMatchObject({ code: "damaged" });
  });
});

describe("a log that shares its beginning", () => {
  const fork = async (): Promise<LogStore> => {
    const store = await folder.open();
    await put(store, "parent", 0, message(1), message(2));
    await ok(store.install(sessionId("child"), shared("parent", 2), []));
    return store;
  };

  test("[F4] is listed as damaged while its parent is, and is read all the same", async () => {
    const store = await fork();
    await put(store, "child", 2, message(3));
    await store.close();
    writeFileSync(at("parent.jsonl"), folder.read("parent.jsonl").replace('"kind":"entry"', "no JSON"));
    folder.remove(".espalier/catalogue.jsonl");
    const again = await folder.open();
    const error = (await again.summary(sessionId("child")))?.error;
    expect(error?.code).toBe("damaged");
    expect(error === undefined ? null : detailOf(error)).toContain("parent");
    expect(await recordsOf(again, "child")).toEqual([message(3)]);
  });

  test("[F4] has its own lines as they were when it is whole", async () => {
    const store = await fork();
    await put(store, "child", 2, message(3));
    await store.close();
    const strange = folder.read("child.jsonl").replace('"kind":"entry"', '"kind": "entry", "mood": 1');
    writeFileSync(at("child.jsonl"), strange);
    const again = await folder.open();
    await ok(again.makeWhole(sessionId("child"), [message(1), message(2)]));
    const lines = folder.read("child.jsonl").split("\n");
    expect(lines[3]).toBe(strange.split("\n")[1]);
    expect(lines[0]).not.toContain("isShared");
    await put(again, "child", 3, message(4));
    await again.close();
    expect(await recordsOf(await folder.open(), "child")).toHaveLength(4);
  });

  test("[S7] a catalogue of an earlier version is read again from the logs", async () => {
    const store = await fork();
    const { sessions } = await store.list({ limit: 9 });
    await store.close();
    const old = folder.read(".espalier/catalogue.jsonl").replace(/"header":\{[^}]*(\{[^}]*\})?[^}]*\},/g, "");
    expect(old).not.toContain("header");
    writeFileSync(at(".espalier/catalogue.jsonl"), old);
    const again = await folder.open();
    expect((await again.list({ limit: 9 })).sessions).toEqual(sessions);
    expect(await again.sharing(sessionId("parent"))).toEqual(["child"]);
  });
});
