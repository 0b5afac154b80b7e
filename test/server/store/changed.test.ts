/** [D4, D5] Files that somebody else changed, moved, removed or put in the way; and disks that take nothing. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRuntime } from "../../../server/src/runtime.js";
import { explained } from "../../../server/src/store/file/refusing-disk.js";
import type { LogStore } from "../../../server/src/store/log-store.js";
import { createFolder, type Folder } from "./folder.js";
import { message, put, recordsOf, sessionId } from "./records.js";

let folder: Folder;
let troubles: string[];
const heard = { onTrouble: ({ message }: Error) => void troubles.push(message) };
beforeEach(() => {
  folder = createFolder();
  troubles = [];
});
afterEach(() => folder.dispose());

const at = (path: string): string => join(folder.dir, path);
const kept = ({ dir }: Folder): string[] =>
  readdirSync(join(dir, ".espalier")).filter((name) => name.startsWith("kept-"));

/** A runtime whose timers go off when they are told to. */
const createTicks = () => {
  const due = new Set<() => void>();
  const runtime = {
    ...createRuntime(),
    setTimer: (_delayMs: number, run: () => void) => {
      due.add(run);
      return () => void due.delete(run);
    },
  };
  const tick = (): void => {
    const now = [...due];
    due.clear();
    for (const run of now) run();
  };
  return { runtime, tick };
};

const until = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isDone())) await new Promise((resolve) => setImmediate(resolve));
};

const errorOf = async (store: LogStore, id: string) => {
  const loaded = await store.load(sessionId(id));
  return loaded.type === "refused" ? loaded.error : loaded.type;
};

/** Refused on load, on append and in lists. */
const expectDamaged = async (store: LogStore, id: string, head: number, words: string): Promise<void> => {
  const error = { code: "damaged", message: expect.stringContaining(words) };
  expect(await errorOf(store, id)).toEqual(error);
  expect(await store.append(sessionId(id), head, [message(head + 1)])).toEqual({ type: "refused", error });
  expect((await store.list({ limit: 9 })).sessions.find((each) => each.id === id)?.error).toEqual(error);
};

describe("[D5] a folder in the place of a session's file", () => {
  beforeEach(() => mkdirSync(at("y.jsonl")));

  const fill = async (store: LogStore): Promise<void> => {
    await put(store, "good", 0, message(1));
    await put(store, "y", 0, message(1), message(2));
  };

  test("[D5] after a crash fails that session alone, with its reason, and keeps what was acknowledged", async () => {
    await fill(await folder.open());
    const crashed = folder.copy();
    for (const bootId of ["boot1", "boot1", "boot2"]) {
      const store = await crashed.open({ bootId });
      await expectDamaged(store, "y", 2, "EISDIR");
      expect(await recordsOf(store, "good")).toHaveLength(1);
      await store.close();
      expect(crashed.segments()).toEqual([]);
      expect(kept(crashed)).toHaveLength(1);
    }
    crashed.remove("y.jsonl");
    const store = await crashed.open();
    expect(await recordsOf(store, "y")).toEqual([message(1), message(2)]);
    expect(kept(crashed)).toEqual([]);
  });

  test("[D5] while the store runs, and after its close, too", async () => {
    const { runtime, tick } = createTicks();
    const store = await folder.open({ runtime, ...heard });
    await fill(store);
    tick();
    await until(() => troubles.length > 0);
    await expectDamaged(store, "y", 2, "EISDIR");
    await put(store, "good", 1, message(2));
    await store.close();
    const { epoch } = store;
    const second = await folder.open();
    expect(second.epoch).toBe(epoch);
    await expectDamaged(second, "y", 2, "EISDIR");
    expect(await recordsOf(second, "good")).toHaveLength(2);
    await second.close();
    folder.remove("y.jsonl");
    expect(await recordsOf(await folder.open(), "y")).toHaveLength(2);
  });

  test("[D5] what is kept for it is not redone onto other sessions' files", async () => {
    const store = await folder.open(heard);
    await fill(store);
    await store.close();
    const edited = folder.read("good.jsonl").replace("message 1", "message 1, by hand");
    writeFileSync(at("good.jsonl"), edited);
    expect(kept(folder)).toHaveLength(1);
    expect(await recordsOf(await folder.open(), "good")).toEqual([message(1, "message 1, by hand")]);
  });

  test("[D5] a frame cut off behind what is kept is no damage at later starts", async () => {
    await fill(await folder.open());
    const crashed = folder.copy();
    crashed.add(crashed.segments()[0] as string, "cut");
    for (let start = 0; start < 3; start += 1) {
      const store = await crashed.open();
      await put(store, "good", start + 1, message(start + 2));
      await store.close();
    }
    expect(await recordsOf(await crashed.open(), "good")).toHaveLength(4);
  });

  test("[D5] the segments of other sessions go on being removed", async () => {
    const store = await folder.open({ segmentBytes: 600, writeBehindMs: 1, ...heard });
    await fill(store);
    await until(() => troubles.length > 0);
    for (let head = 1; head < 40; head += 1) await put(store, "good", head, message(head + 1));
    await store.close();
    expect(kept(folder)).toHaveLength(1);
    expect(await recordsOf(await folder.open(), "good")).toHaveLength(40);
  });
});

describe("[D5] a session's file that is changed while the store runs", () => {
  const changes: [string, () => void][] = [
    ["cut", () => truncateSync(at("bad.jsonl"), 50)],
    ["removed", () => rmSync(at("bad.jsonl"))],
    [
      "edited",
      () =>
        writeFileSync(at("bad.jsonl"), folder.read("bad.jsonl").replace("message 1", "message 1".repeat(99))),
    ],
  ];
  for (const [name, change] of changes) {
    test(`[D5] ${name}: it is written to no more, its session fails, and others go on`, async () => {
      const { runtime, tick } = createTicks();
      // Its first lines are in the file for good; the journal holds only what comes.
      const before = await folder.open();
      for (const id of ["good", "bad"]) await put(before, id, 0, message(1), message(2));
      await before.close();
      const store = await folder.open({ runtime, ...heard });
      const whole = folder.read("bad.jsonl");
      change();
      const found = folder.exists("bad.jsonl") ? folder.read("bad.jsonl") : null;
      for (const id of ["good", "bad"]) await put(store, id, 2, message(3));
      tick();
      await until(() => troubles.length > 0);
      expect(troubles).toEqual([expect.stringContaining("changed by another program")]);
      await expectDamaged(store, "bad", 3, "changed by another program");
      await put(store, "good", 3, message(4));
      await store.close();
      expect(folder.exists("bad.jsonl") ? folder.read("bad.jsonl") : null).toBe(found);
      const second = await folder.open();
      expect(await errorOf(second, "bad")).toMatchObject({ code: "damaged" });
      expect(await recordsOf(second, "good")).toHaveLength(4);
      await second.close();
      expect(folder.exists("bad.jsonl") ? folder.read("bad.jsonl") : null).toBe(found);
      writeFileSync(at("bad.jsonl"), whole);
      expect(await recordsOf(await folder.open(), "bad")).toHaveLength(3);
      expect(kept(folder)).toEqual([]);
    });
  }

  test("[D5] one that is removed after lines were written to it, before they were safe, gets them again", async () => {
    const { runtime, tick } = createTicks();
    const store = await folder.open({ runtime, ...heard });
    await put(store, "bad", 0, message(1));
    tick();
    await until(() => folder.exists("bad.jsonl") && folder.read("bad.jsonl").endsWith("\n"));
    await until(async () => (await errorOf(store, "bad")) === "ok");
    folder.remove("bad.jsonl");
    await store.close();
    expect(folder.exists("bad.jsonl")).toBe(false);
    expect(await recordsOf(await folder.open(), "bad")).toEqual([message(1)]);
  });
});

describe("[D5] a line of a closed session that was made longer by hand", () => {
  beforeEach(async () => {
    const store = await folder.open();
    await put(store, "a", 0, message(1), message(2), message(3));
    await store.close();
  });
  const edit = (from: string, to: string): void =>
    writeFileSync(at("a.jsonl"), folder.read("a.jsonl").replace(from, to));

  test("[D5] is read as it is now", async () => {
    for (const [index, text] of ["!", " by hand", "x".repeat(2000)].entries()) {
      edit("message 1", `message 1${text}`);
      const store = await folder.open();
      const records = await recordsOf(store, "a");
      expect(records).toHaveLength(3 + index);
      expect((await store.summary(sessionId("a")))?.entries).toBe(3 + index);
      await put(store, "a", 3 + index, message(4 + index));
      await store.close();
    }
  });

  test("[D5] is not taken for an unfinished one where it is the last, and has no end", async () => {
    const lines = folder.read("a.jsonl").replace("message 3", "message 3 by hand").trimEnd();
    writeFileSync(at("a.jsonl"), lines);
    const store = await folder.open();
    expect(await recordsOf(store, "a")).toEqual([message(1), message(2), message(3, "message 3 by hand")]);
  });

  test("[D5] is named by its own line where the edit went wrong", async () => {
    edit('"message 1"', '"message "1" by hand"');
    expect(await errorOf(await folder.open(), "a")).toMatchObject({
      message: expect.stringContaining("line 2 of "),
    });
  });
});

describe("[D4] a directory that is gone while the store runs", () => {
  test("[D4] nothing more is acknowledged, and the error says so", async () => {
    const store = await folder.open(heard);
    await put(store, "a", 0, message(1));
    rmSync(folder.dir, { recursive: true });
    const outcome = await store.append(sessionId("a"), 1, [message(2)]);
    if (outcome.type !== "ok") throw new Error(outcome.type);
    await expect(outcome.durable).rejects.toThrow("is gone");
    const refused = {
      type: "refused",
      error: { code: "unavailable", message: expect.stringContaining("put the directory back") },
    };
    expect(await store.append(sessionId("b"), 0, [message(1)])).toEqual(refused);
    expect(await store.load(sessionId("a"))).toEqual(refused);
    expect(troubles).toHaveLength(1);
    await store.close();
    expect(() => readdirSync(folder.dir)).toThrow("ENOENT");
  });

  test("[D4] one that was moved is found out at the next write behind, and holds all when it is opened", async () => {
    const { runtime, tick } = createTicks();
    const store = await folder.open({ runtime, ...heard });
    await put(store, "a", 0, message(1));
    const around = mkdtempSync(join(tmpdir(), "espalier-test-"));
    const moved = createFolder(join(around, "moved"));
    try {
      renameSync(folder.dir, moved.dir);
      await put(store, "a", 1, message(2));
      tick();
      await until(() => troubles.length > 0);
      expect(await store.append(sessionId("a"), 2, [message(3)])).toMatchObject({ type: "refused" });
      await store.close();
      expect(troubles).toHaveLength(1);
      expect(await recordsOf(await moved.open(), "a")).toEqual([message(1), message(2)]);
    } finally {
      await moved.dispose();
      rmSync(around, { recursive: true, force: true });
    }
  });
});

describe("[D4] a directory that cannot be opened", () => {
  test.skipIf(process.platform !== "linux")(
    "[D4] for want of space says where, and what to do; nothing is lost",
    async () => {
      const before = await folder.open();
      await put(before, "a", 0, message(1));
      const crashed = folder.copy();
      symlinkSync("/dev/full", join(crashed.dir, "a.jsonl"));
      await expect(crashed.open()).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/^unable to open .*a\.jsonl: no space is left/),
        advice: "free space and start again; nothing is lost",
      });
      crashed.remove("a.jsonl");
      expect(await recordsOf(await crashed.open(), "a")).toEqual([message(1)]);
    },
  );

  test("[D4] since it is read-only, or no folder, says so", async () => {
    const refused = Object.assign(new Error("listen EROFS: read-only file system"), { code: "EROFS" });
    expect(explained("/d", refused)).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("unable to open /d; /d: it cannot be written to"),
      advice: expect.stringContaining("make the directory writable"),
    });
    folder.add("file", "");
    await expect(createFolder(at("file")).open()).rejects.toMatchObject({
      code: "unavailable",
      advice: expect.stringContaining("move that file away"),
    });
    expect(readFileSync(at("file"), "utf8")).toBe("");
  });
});
