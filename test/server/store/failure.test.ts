/** [D4] A disk that refuses: full, or unable to sync. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRuntime } from "../../../server/src/runtime.js";
import { createNodeDisk, type Disk, type DiskFile } from "../../../server/src/store/file/disk.js";
import { openFileStore } from "../../../server/src/store/file/file-store.js";
import type { LogStore } from "../../../server/src/store/log-store.js";
import { createFolder, type Folder } from "./folder.js";
import { countEpochs, headOf, message, put, recordsOf, sessionId } from "./records.js";

type Faults = { write: boolean; truncate: boolean; sync: boolean };
type Operation = keyof Faults;

let folder: Folder;
let store: LogStore;
let faults: Record<"journal" | "sessions", Faults>;
const NO_FAULTS: Faults = { write: false, truncate: false, sync: false };

/** Fails as it is told to; a write that fails has written its first half. */
const faultyDisk = (): Disk => {
  const disk = createNodeDisk();
  const wrap = (file: DiskFile, kind: "journal" | "sessions"): DiskFile => {
    const orFail = async (operation: Operation, work: () => Promise<void>): Promise<void> => {
      if (faults[kind][operation]) throw new Error(`no ${operation}`);
      await work();
    };
    return {
      ...file,
      write: async (bytes, at) => {
        if (faults[kind].write) await file.write(bytes.subarray(0, bytes.length / 2), at);
        await orFail("write", () => file.write(bytes, at));
      },
      truncate: (length) => orFail("truncate", () => file.truncate(length)),
      sync: () => orFail("sync", file.sync),
    };
  };
  return {
    ...disk,
    open: async (path, mode) =>
      wrap(await disk.open(path, mode), path.includes("journal-") ? "journal" : "sessions"),
  };
};

const newEpoch = countEpochs(100);

const openFaulty = (segmentBytes = 1_000_000): Promise<LogStore> =>
  openFileStore(
    faultyDisk(),
    { dir: folder.dir, newEpoch, runtime: createRuntime(), bootId: "boot1", writeBehindMs: 1, segmentBytes },
    async () => {},
  );

beforeEach(async () => {
  folder = createFolder();
  faults = { journal: { ...NO_FAULTS }, sessions: { ...NO_FAULTS } };
  store = await openFaulty();
});
afterEach(async () => {
  await store.close();
  await folder.dispose();
});

test("[D4] a failed write is refused with its reason, reads go on, and it is tried again when asked again", async () => {
  await put(store, "a", 0, message(1));
  faults.journal.write = true;
  const outcomes = await Promise.all([
    store.append(sessionId("a"), 1, [message(2)]),
    store.append(sessionId("a"), 2, [message(3)]),
    store.append(sessionId("new"), 0, [message(1)]),
  ]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({
      type: "refused",
      error: { code: "unavailable", message: expect.stringContaining("no write") },
    });
  }
  expect(await recordsOf(store, "a")).toEqual([message(1)]);
  expect(await store.load(sessionId("new"))).toEqual({ type: "absent" });
  faults.journal.write = false;
  await put(store, "a", 1, message(2, "again"));
  const crashed = await folder.copy().open();
  expect(await recordsOf(crashed, "a")).toEqual([message(1), message(2, "again")]);
  expect(await crashed.load(sessionId("new"))).toEqual({ type: "absent" });
});

test("[D4] a write that can be neither made nor cut back is unknown, and never comes between others", async () => {
  await put(store, "a", 0, message(1));
  faults.journal = { write: true, truncate: true, sync: false };
  expect(await store.append(sessionId("a"), 1, [message(2)])).toMatchObject({ type: "unknown" });
  expect(await headOf(store, "a")).toBe(1);
  expect(await store.append(sessionId("a"), 1, [message(2)])).toMatchObject({ type: "refused" });
  faults.journal = { ...NO_FAULTS };
  await put(store, "a", 1, message(2, "again"));
  expect(await recordsOf(await folder.copy().open(), "a")).toEqual([message(1), message(2, "again")]);
});

test("[D4] a failed sync acknowledges nothing, is never retried, and ends the epoch", async () => {
  await put(store, "a", 0, message(1));
  const { epoch } = store;
  faults.journal.sync = true;
  const outcome = await store.append(sessionId("a"), 1, [message(2)]);
  if (outcome.type !== "ok") throw new Error(outcome.type);
  await expect(outcome.durable).rejects.toThrow("no sync");
  await expect(store.synced(sessionId("a"))).rejects.toThrow("no sync");
  faults.journal.sync = false;
  expect(await store.append(sessionId("a"), 2, [message(3)])).toMatchObject({ type: "refused" });
  expect(await store.load(sessionId("a"))).toMatchObject({ type: "refused", error: { code: "unavailable" } });
  await store.close();
  store = await openFaulty();
  expect(store.epoch).not.toBe(epoch);
  expect(await headOf(store, "a")).toBeGreaterThan(1_000_000);
});

test("[D4] while sessions' files cannot be written the journal holds all, within bounds, and then they catch up", async () => {
  await store.close();
  store = await openFaulty(200);
  faults.sessions.write = true;
  let head = 0;
  for (;;) {
    const outcome = await store.append(sessionId("a"), head, [message(head + 1)]);
    if (outcome.type !== "ok") {
      expect(outcome).toMatchObject({ type: "refused", error: { code: "unavailable" } });
      break;
    }
    head += 1;
    await outcome.durable;
    expect(await headOf(store, "a")).toBe(head);
  }
  expect(folder.segments().length).toBeLessThan(8);
  expect(await recordsOf(await folder.copy().open(), "a")).toHaveLength(head);
  faults.sessions.write = false;
  while ((await store.append(sessionId("a"), head, [message(head + 1)])).type !== "ok") {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await store.close();
  expect(folder.segments()).toEqual([]);
  expect(await recordsOf(await folder.open(), "a")).toHaveLength(head + 1);
});

test("[D4] what a session's failed sync may have lost is written again from the journal", async () => {
  await put(store, "a", 0, message(1));
  faults.sessions.sync = true;
  await store.close();
  expect(folder.segments()).toHaveLength(1);
  faults.sessions.sync = false;
  store = await openFaulty();
  expect(await recordsOf(store, "a")).toEqual([message(1)]);
});

test("[D4] a close that could not write behind loses nothing", async () => {
  await put(store, "a", 0, message(1));
  faults.sessions.write = true;
  await store.close();
  faults.sessions.write = false;
  store = await openFaulty();
  expect(await recordsOf(store, "a")).toEqual([message(1)]);
});
