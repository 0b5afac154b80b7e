/** [D1, D7] Real processes, really killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readBootId } from "../../../server/src/store/file/generation.js";
import { bundle } from "./bundle.js";
import { createFolder, type Folder } from "./folder.js";
import { message, recordsOf } from "./records.js";

type Program = {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves with the first line, once there are as many as asked for, that has the word. */
  until(word: string, count?: number): Promise<string>;
  /** Resolves when the process is gone and its last line was read. */
  kill(): Promise<void>;
};

let program: { dir: string; path: string };
let folder: Folder;
const running: Program[] = [];
beforeAll(async () => {
  program = await bundle("appender.ts");
});
afterAll(() => rmSync(program.dir, { recursive: true }));
beforeEach(() => {
  folder = createFolder();
});
afterEach(async () => {
  for (const started of running.splice(0)) await started.kill();
  await folder.dispose();
});

const start = (dir: string, mode = "append"): Program => {
  const child = spawn(process.execPath, [program.path, dir, mode], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => {
    lines.push(line);
    for (const check of [...waiting]) check();
  });
  const gone = new Promise<void>((resolve) => reader.once("close", resolve));
  const started: Program = {
    child,
    lines,
    until: (word, count = 1) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = lines.filter((line) => line.startsWith(word));
          if (found.length < count) return;
          waiting.delete(check);
          resolve(found[0] as string);
        };
        waiting.add(check);
        void gone.then(() => reject(new Error(`ended with ${lines.at(-1)}`)));
        check();
      }),
    kill: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
  running.push(started);
  return started;
};

describe("[D1] a killed process", () => {
  test("[D1] loses nothing that was shown or acknowledged, over and over, in one epoch", async () => {
    let epoch = "";
    const said: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const running = start(folder.dir);
      epoch ||= await running.until("open");
      expect(await running.until("open")).toBe(epoch);
      await running.until("acked", 100 + round * 150);
      await running.kill();
      said.push(...running.lines);
    }
    const store = await folder.open({ bootId: await readBootId() });
    expect(`open ${store.epoch}`).toBe(epoch);
    for (const id of ["a", "b", "a/sub"]) {
      const records = await recordsOf(store, id);
      const seqs = said.filter((line) => line.split(" ")[1] === id).map((line) => Number(line.split(" ")[2]));
      expect(records.length).toBeGreaterThanOrEqual(Math.max(...seqs));
      expect(records).toEqual(records.map((_, index) => message(index + 1, `${id} ${index + 1}`)));
    }
  });
});

describe("[D7] the lock", () => {
  const locked = { code: "locked", message: expect.stringMatching(/process \d+ has had it since \d{4}-/) };

  test("[D7] a second store is told who has the directory, and gets it after a close", async () => {
    const first = await folder.open();
    await expect(folder.open()).rejects.toMatchObject(locked);
    await expect(folder.open()).rejects.toMatchObject({ message: expect.stringContaining(`${process.pid}`) });
    await first.close();
    await (await folder.open()).close();
  });

  test("[D7] a killed process does not keep it", async () => {
    const holder = start(folder.dir, "hold");
    await holder.until("open");
    await expect(folder.open()).rejects.toMatchObject({
      message: expect.stringContaining(`${holder.child.pid}`),
    });
    await holder.kill();
    await folder.open();
    const locks = readdirSync(join(folder.dir, ".espalier")).filter((name) => name.startsWith("lock-"));
    expect(locks).toHaveLength(1);
  });

  test("[D7] a process that hangs keeps it", async () => {
    const holder = start(folder.dir, "hold");
    await holder.until("open");
    holder.child.kill("SIGSTOP");
    await expect(folder.open()).rejects.toMatchObject(locked);
  });

  test("[D7] of many that start at once behind a killed one, exactly one gets it", async () => {
    const dead = start(folder.dir, "hold");
    await dead.until("open");
    await dead.kill();
    const started = Array.from({ length: 5 }, () => start(folder.dir, "hold"));
    const outcomes = await Promise.all(
      started.map((each) =>
        Promise.race([each.until("open"), each.until("failed")]).then((line) => line.split(" ")[0]),
      ),
    );
    expect(outcomes.sort()).toEqual(["failed", "failed", "failed", "failed", "open"]);
  });

  test("[D7] of many in one process that want it again and again, never two have it", async () => {
    let holders = 0;
    let turns = 0;
    const contend = async (): Promise<void> => {
      for (let turn = 0; turn < 4; turn += 1) {
        const store = await folder.open().catch(() => null);
        if (store === null) continue;
        holders += 1;
        expect(holders).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        holders -= 1;
        turns += 1;
        await store.close();
      }
    };
    await Promise.all(Array.from({ length: 6 }, contend));
    expect(turns).toBeGreaterThan(0);
  });

  test("[D7] holds in a folder whose path is longer than a socket's address may be", async () => {
    const root = mkdtempSync(join(tmpdir(), "espalier-test-"));
    const deep = createFolder(join(root, ...Array.from({ length: 4 }, () => "x".repeat(60))));
    mkdirSync(deep.dir, { recursive: true });
    const holder = start(deep.dir, "hold");
    await holder.until("open");
    await expect(deep.open()).rejects.toMatchObject(locked);
    await holder.kill();
    const store = await deep.open();
    await expect(deep.open()).rejects.toMatchObject(locked);
    await store.close();
    await deep.dispose();
    rmSync(root, { recursive: true });
  });
});
