/** `espalier fork`, `rm` and `ls`: sessions that come from each other, from files and from their server. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { LogRecord } from "@espalier/shared";
import { afterEach, describe, expect, test } from "vitest";
import { createOutput } from "../../server/src/cli/output.js";
import { runRm } from "../../server/src/cli/rm.js";
import { createRuntime } from "../../server/src/runtime.js";
import { GARDEN } from "../export/garden.js";
import { register, streaming } from "../shared/records.js";
import { cleanUp, createFolder, run, serve } from "./command.js";
import { fill, reply, title } from "./logs.js";

afterEach(cleanUp);

type Mode = "files" | "server";
const MODES: Mode[] = ["files", "server"];

/** A directory with these logs, and with a server on it in that mode. */
const filled = async (
  mode: Mode,
  logs: Record<string, readonly LogRecord[]> = { plans: GARDEN },
): Promise<string> => {
  const dir = createFolder();
  await fill(dir, logs);
  if (mode === "server") await serve(["--dir", dir]);
  return dir;
};

const shown = async (dir: string, id: string): Promise<{ id: string }[]> =>
  JSON.parse((await run(["show", id, "--json", "--dir", dir])).stdout).entries;

describe.each(MODES)("fork, %s", (mode) => {
  test("[F2] it shares by default, up to the end of the line that is shown", async () => {
    const dir = await filled(mode);
    const { code, stdout } = await run(["fork", "plans", "--as", "plan-b", "--dir", dir]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "plan-b is a fork of plans at a6, sharing what was said\n",
    });
    expect(await shown(dir, "plan-b")).toEqual(await shown(dir, "plans"));
  });

  test("[F1] --copy gives ids of their own; --json tells the fork", async () => {
    const dir = await filled(mode);
    const { stdout } = await run(["fork", "plans", "--at", "a1", "--copy", "--json", "--dir", dir]);
    const forked = JSON.parse(stdout);
    expect(forked).toMatchObject({ from: { session: "plans", entry: "a1" }, mode: "copy", isCutBack: false });
    const entries = await shown(dir, forked.session);
    expect(entries).toHaveLength(2);
    expect(entries.map(({ id }) => id)).not.toContain("a1");
  });

  test("[F3] it is cut back to where nothing is open, and says so", async () => {
    const open = { plans: [reply(1, 0), streaming("e2", "e1", 2)] };
    const dir = await filled(mode, open);
    const { stdout } = await run(["fork", "plans", "--as", "plan-b", "--dir", dir]);
    expect(stdout).toMatch(/^plan-b is a fork of plans at e1, .+\nIt was cut back to there: .+\n$/);
  });

  test.each([
    ["an unknown entry", ["plans", "--at", "zz"], /there is no entry zz/],
    ["an unknown session", ["none"], /there is no such session/],
    ["an id that another has", ["plans", "--as", "other"], /unable to fork to other; it is another session/],
    ["no id", ["plans", "--as", "a b"], /unable to use "a b" as a session; it is not an id/],
  ])("%s is a failure", async (_, args, reason) => {
    const dir = await filled(mode, { plans: GARDEN, other: [reply(1, 0)] });
    const { code, stdout, stderr } = await run(["fork", ...args, "--dir", dir]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(reason);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

test.each(MODES)(
  "an unknown entry is told with the way to see those that there are, %s",
  async (mode) => {
    const dir = await filled(mode);
    for (const ask of [
      ["fork", "plans", "--at", "zz"],
      ["show", "plans", "--leaf", "zz"],
      ["export", "plans", "--leaf", "zz"],
      ["export", "plans", "--leaf", "zz", "--format", "html"],
    ])
      expect(await run([...ask, "--dir", dir])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^espalier: .+ no entry zz \(`espalier tree plans` shows its entries\)\n$/,
        ),
      });
  },
  20_000,
);

describe.each(MODES)("rm, %s", (mode) => {
  test("[F4][F8] it deletes for good, with sidechains; what shared with it stays whole", async () => {
    const logs = { plans: GARDEN, "plans/helper": [reply(1, 0)], other: [reply(1, 0)] };
    const dir = await filled(mode, logs);
    await run(["fork", "plans", "--as", "plan-b", "--dir", dir]);
    const before = await shown(dir, "plan-b");
    const { code, stdout, stderr } = await run(["rm", "plans", "other", "--yes", "--dir", dir]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(
      "deleted  plans  An espalier for the south wall  17 entries, 1 sidechain\ndeleted  other  1 entry\n",
    );
    expect(await shown(dir, "plan-b")).toEqual(before);
    const { sessions } = JSON.parse((await run(["ls", "--json", "--sidechains", "--dir", dir])).stdout);
    expect(sessions.map(({ id }: { id: string }) => id)).toEqual(["plan-b"]);
    expect(existsSync(join(dir, "plans.jsonl"))).toBe(false);
    const again = await run(["show", "plans", "--dir", dir]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/deleted/) });
  });

  test("one that is not there is told, and the others are deleted", async () => {
    const dir = await filled(mode, { a: [reply(1, 0)], b: [reply(1, 0)] });
    const { code, stdout, stderr } = await run(["rm", "a", "none", "b", "--yes", "--json", "--dir", dir]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '{"deleted":["a","b"]}\n' });
    expect(stderr).toMatch(/^espalier: unable to delete none; there is no such session \(.+\)\n$/);
  });
});

describe("rm in a directory that is not the server's", () => {
  const copied = async (...how: string[]): Promise<{ dir: string; copy: string }> => {
    const dir = await filled("server");
    const copy = join(createFolder(), "copy");
    execFileSync("cp", [...how, dir, copy]);
    expect(existsSync(join(copy, ".espalier", "server.json"))).toBe(true);
    return { dir, copy };
  };
  const hasPlans = async (dir: string): Promise<boolean> =>
    (await run(["ls", "--json", "--dir", dir])).stdout.includes('"plans"');

  test("of a copy deletes in the copy alone, while the server runs on what it was copied from", async () => {
    const { dir, copy } = await copied("-r");
    expect(await run(["rm", "plans", "--yes", "--dir", copy])).toMatchObject({ code: 0, stderr: "" });
    expect(await hasPlans(copy)).toBe(false);
    expect(await hasPlans(dir)).toBe(true);
    const followed = await run(["tail", "plans", "--dir", copy]);
    expect(followed).toMatchObject({ code: 1, stderr: expect.stringContaining("no server runs on") });
  });

  test("a copy that shares its files is left alone by both", async () => {
    const { dir, copy } = await copied("-al");
    expect(await run(["rm", "plans", "--yes", "--dir", copy])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/unable to open .+copy; process \d+ has had it/),
    });
    rmSync(copy, { recursive: true });
    expect(await hasPlans(dir)).toBe(true);
  });

  test("one that was moved while its server runs is still the server's", async () => {
    const dir = await filled("server");
    const moved = join(createFolder(), "moved");
    renameSync(dir, moved);
    const { code, stdout } = await run(["ls", "--json", "--dir", moved]);
    expect({ code, count: JSON.parse(stdout).sessions.length }).toEqual({ code: 0, count: 1 });
  });
});

describe("rm asks first", () => {
  const remove = async (answer: string | null): Promise<{ dir: string; said: string; error: unknown }> => {
    const dir = await filled("files");
    const err = new PassThrough();
    const error = await runRm(
      ["plans"],
      { dir },
      {
        out: createOutput(new PassThrough().resume(), {}),
        err: createOutput(err, {}),
        runtime: createRuntime(),
        untilStopped: () => new Promise(() => {}),
        ask: async (question) => {
          err.write(question);
          return answer;
        },
      },
    ).catch((cause: unknown) => cause);
    return { dir, said: String(err.read()), error };
  };
  const files = (dir: string): string[] => readdirSync(dir).filter((name) => name.endsWith(".jsonl"));

  test("and says what there is to lose", async () => {
    const { dir, said, error } = await remove("y");
    expect(error).toBeUndefined();
    expect(said).toMatch(
      /^plans {2}An espalier for the south wall {2}17 entries\nDelete this session for good\?/,
    );
    expect(files(dir)).toEqual([]);
  });

  test.each(["", "n", "yesterday", null])("the answer %j keeps everything", async (answer) => {
    const { dir, error } = await remove(answer);
    expect(error).toMatchObject({ message: expect.stringMatching(/^unable to delete; /) });
    expect(files(dir)).toEqual(["plans.jsonl"]);
  });

  test("without a terminal it wants --yes", async () => {
    const dir = await filled("files");
    const { code, stdout, stderr } = await run(["rm", "plans", "--dir", dir]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/unable to delete; there is nobody to confirm it \(.+--yes\)\n$/);
    expect(files(dir)).toEqual(["plans.jsonl"]);
  });
});

describe.each(MODES)("ls, %s", (mode) => {
  const logs = {
    root: [reply(1, 0), title(2, "Root")],
    hidden: [reply(3, 0), register("archived", 4, true)],
    lone: [reply(9, 0)],
    "root/one": [reply(1, 0)],
    "root/two": [reply(1, 0)],
  };

  const listed = async (dir: string, ...more: string[]): Promise<string[]> =>
    (await run(["ls", "--dir", dir, ...more])).stdout
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.replace(/(?<=\S) {2}.*/, ""));

  test("[F4] forks stand below what they were forked from; sidechains are counted, or listed there", async () => {
    const dir = await filled(mode, logs);
    await run(["fork", "root", "--as", "child", "--dir", dir]);
    await run(["fork", "child", "--as", "grandchild", "--dir", dir]);
    expect(await listed(dir)).toEqual(["root", "└─child", "  └─grandchild", "lone"]);
    expect((await run(["ls", "--dir", dir])).stdout).toMatch(/^root .+ \[2 sidechains\] Root$/m);
    expect((await listed(dir, "--sidechains")).toSorted()).toEqual(
      ["root", "├─child", "│ └─grandchild", "├─root/one", "└─root/two", "lone"].toSorted(),
    );
    await run(["rm", "root", "--yes", "--dir", dir]);
    expect(await listed(dir)).toEqual(["child", "└─grandchild", "lone"]);
    expect((await run(["ls", "--dir", dir])).stdout).toMatch(/^child .+ \[from root\] $/m);
  });

  test("[F8] archived ones are listed with --all; --limit ends the list", async () => {
    const dir = await filled(mode, logs);
    expect(await listed(dir)).toEqual(["lone", "root"]);
    expect(await listed(dir, "--all")).toEqual(["lone", "hidden", "root"]);
    expect((await run(["ls", "--all", "--dir", dir])).stdout).toMatch(/^hidden .+ \[archived\]/m);
    expect(await listed(dir, "--limit", "1")).toEqual(["lone"]);
  });
});
