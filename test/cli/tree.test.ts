/** `espalier tree` and `espalier ls`: from files, and the same from a server that has them. */
import { spawn } from "node:child_process";
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { register } from "../shared/records.js";
import { cleanUp, createFolder, MAIN, run, serve } from "./command.js";
import { chain, fill, reply, title } from "./logs.js";

afterEach(cleanUp);

const GARDEN = [
  title(1, "The garden"),
  reply(2, 0, "What grows in shade?", { role: "user" }),
  reply(3, 2, "Ferns.", { role: "assistant" }),
  reply(4, 2, "Ivy.", { role: "assistant" }),
  reply(5, 4, "And on clay?", { role: "user" }),
  reply(6, 3, "How tall?", { role: "user" }),
  reply(7, 5, "Hosta", { role: "assistant", status: "aborted" }),
  reply(8, 0, "Another start", { role: "user" }),
  reply(9, 4, "And in pots?", { role: "user" }),
];

/** Without times, and with runs of spaces made one. */
const drawn = (stdout: string): string[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ 2023-11-14 22:13 /, " ").replace(/ +/g, " "));

const EXPECTED = [
  "The garden (garden)",
  "8 entries · 4 lines · 2 roots · ● marks the newest line (3)",
  "",
  "● 1/2 user What grows in shade? e2",
  "├─○ 1/2 assistant Ferns. e3",
  "│ ○ user How tall? e6",
  "● 2/2 assistant Ivy. e4",
  "├─○ 1/2 user And on clay? e5",
  "│ ○ assistant Hosta [aborted] e7",
  "● 2/2 user And in pots? e9",
  "",
  "○ 2/2 user Another start e8",
];

test("it draws roots, branches, the newest line, and what is not complete", async () => {
  const dir = createFolder();
  await fill(dir, { garden: GARDEN });
  const { code, stdout, stderr } = await run(["tree", "garden", "--dir", dir]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(drawn(stdout)).toEqual(EXPECTED);
});

test("it draws the same from the server that has the directory, found by itself or named", async () => {
  const dir = createFolder();
  await fill(dir, { garden: GARDEN });
  const { url } = await serve(["--dir", dir]);
  expect(drawn((await run(["tree", "garden", "--dir", dir])).stdout)).toEqual(EXPECTED);
  expect(drawn((await run(["tree", "garden", "--url", url])).stdout)).toEqual(EXPECTED);
  const missing = await run(["tree", "none", "--dir", dir]);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/there is no such session/) });
});

test("[G1] named branches and labels stand by their entries, the same from the server", async () => {
  const dir = createFolder();
  const names = [register("branch:shade", 10, "e6"), register("label:e3", 11, "good\x1b[31m")];
  await fill(dir, { garden: [...GARDEN, ...names] });
  const { stdout } = await run(["tree", "garden", "--dir", dir]);
  expect(drawn(stdout)).toContain("├─○ 1/2 assistant ‹good\\x1b[31m› Ferns. e3");
  expect(drawn(stdout)).toContain("│ ○ user ‹shade› How tall? e6");
  await serve(["--dir", dir]);
  expect((await run(["tree", "garden", "--dir", dir])).stdout).toBe(stdout);
});

test("--json tells every entry and what is derived, the same from both", async () => {
  const dir = createFolder();
  await fill(dir, { garden: GARDEN });
  const fromFiles = JSON.parse((await run(["tree", "garden", "--dir", dir, "--json"])).stdout);
  expect(fromFiles).toMatchObject({
    id: "garden",
    title: "The garden",
    count: 8,
    roots: ["e2", "e8"],
    branchPoints: [
      { parent: null, children: ["e2", "e8"] },
      { parent: "e2", children: ["e3", "e4"] },
      { parent: "e4", children: ["e5", "e9"] },
    ],
    newestLine: ["e2", "e4", "e9"],
  });
  await serve(["--dir", dir]);
  const fromServer = JSON.parse((await run(["tree", "garden", "--dir", dir, "--json"])).stdout);
  const sorted = (tree: typeof fromFiles) => ({
    ...tree,
    entries: tree.entries.toSorted((a: { seq: number }, b: { seq: number }) => a.seq - b.seq),
    branchPoints: tree.branchPoints.map((point: unknown) => JSON.stringify(point)).toSorted(),
  });
  expect(sorted(fromServer)).toEqual(sorted(fromFiles));
});

test("[F8] what a running server does not tell of a session that was reset is said on stderr", async () => {
  const dir = createFolder();
  await fill(dir, { garden: [...GARDEN, register("reset", 10, "r"), reply(11, 0)], other: GARDEN });
  const ask = ["tree", "garden", "--dir", dir];
  expect((await run(ask)).stderr).toBe("");
  await serve(["--dir", dir]);
  for (const more of [[], ["--json"]]) {
    const { code, stderr } = await run([...ask, ...more]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^espalier: this is not all of garden; .+ before its last reset \(.+ stopped\)\n$/,
    );
  }
  expect((await run(["tree", "other", "--dir", dir])).stderr).toBe("");
});

describe("[T5] size", () => {
  test("a chain of 200,000 is drawn straight down", async () => {
    const dir = createFolder();
    await fill(dir, { long: chain(200_000) });
    const { code, stdout } = await run(["tree", "long", "--dir", dir]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n").slice(3);
    expect(lines).toHaveLength(200_000);
    expect(lines.every((line) => line.startsWith("● "))).toBe(true);
  }, 60_000);

  test("a long session with wide branches comes whole from a server", async () => {
    const dir = createFolder();
    const wide = Array.from({ length: 100 }, (_, index) => reply(3001 + index, 1500));
    const roots = Array.from({ length: 40 }, (_, index) => reply(3101 + index, 0));
    await fill(dir, { long: [...chain(3000), ...wide, ...roots] });
    const fromFiles = await run(["tree", "long", "--dir", dir]);
    await serve(["--dir", dir]);
    const fromServer = await run(["tree", "long", "--dir", dir]);
    expect(fromServer.stdout.split("\n")).toHaveLength(3 + 3000 + 100 + 2 * 40 + 1);
    expect(fromServer.stdout).toBe(fromFiles.stdout);
  }, 60_000);

  test("branches within branches are never indented deeper than the logarithm of the tree", async () => {
    const dir = createFolder();
    // Each entry of a line of 500 has a younger alternative that goes nowhere.
    const line = chain(500);
    const stubs = line.map((_, index) => reply(1000 - index, 499 - index));
    await fill(dir, { comb: [...line, ...stubs.toReversed()] });
    const { stdout } = await run(["tree", "comb", "--dir", dir]);
    const deepest = Math.max(
      ...stdout
        .split("\n")
        .slice(3)
        .map((line) => line.search(/[●○]/)),
    );
    expect(deepest).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(1000)));
  });
});

describe("what content can do to a terminal", () => {
  const HOSTILE =
    "red \x1b[31m bell \x07 title \x1b]0;x\x07 back\r\nC1 \x9b2J turned \u202eabc\u2028 del \x7f";

  test.each([[[]], [["--json"]]])("escape sequences and controls come out as text %j", async (more) => {
    const dir = createFolder();
    await fill(dir, { s: [title(1, HOSTILE), reply(2, 0, HOSTILE)] });
    const shown = await run(["tree", "s", "--dir", dir, ...more]);
    const listed = await run(["ls", "--dir", dir, ...more]);
    for (const { stdout } of [shown, listed])
      expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e\u2028]/u);
    if (more.length > 0) expect(JSON.parse(shown.stdout).title).toBe(HOSTILE);
    else expect(shown.stdout).toContain("red \\x1b[31m bell \\x07");
  });

  test("a line is cut to the width, wide characters counted as two", async () => {
    const dir = createFolder();
    await fill(dir, { s: [reply(1, 0, "日本語の木".repeat(40)), reply(2, 1, "ä🌳".repeat(100))] });
    const { stdout } = await run(["tree", "s", "--dir", dir], { env: { COLUMNS: "72" } });
    const [, , , first = "", second = ""] = stdout.split("\n");
    const wide = (text: string): number =>
      [...text].reduce((sum, char) => sum + (/[\u3000-\u9fff🌳]/u.test(char) ? 2 : 1), 0);
    expect([wide(first), wide(second)]).toEqual([72, 72]);
    expect(first).toContain("…");
  });

  test("a reader that has enough ends it quietly", async () => {
    const dir = createFolder();
    await fill(dir, { long: chain(20_000) });
    const command = `"$0" "$1" tree long --dir "$2" | head -n 1; echo "$\{PIPESTATUS[0]}"`;
    const child = spawn("bash", ["-c", command, process.execPath, MAIN, dir]);
    let all = "";
    child.stdout.on("data", (text) => (all += text));
    child.stderr.on("data", (text) => (all += text));
    await new Promise((resolve) => child.once("close", resolve));
    expect(all).toBe("long\n0\n");
    // The directory was given up as at any other end.
    expect(readdirSync(join(dir, ".espalier")).filter((name) => name.startsWith("lock-"))).toEqual([]);
  });
});

describe("ls", () => {
  test("it lists sessions, the newest change first, and marks the damaged", async () => {
    const dir = createFolder();
    await fill(dir, {
      old: [reply(1, 0), title(2, "An old one")],
      new: [reply(5, 0), reply(6, 5)],
      broken: [reply(3, 0)],
    });
    appendFileSync(join(dir, "broken.jsonl"), '{"kind":\n{"kind":"entry"}\n');
    const { code, stdout } = await run(["ls", "--dir", dir]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^ID +ENTRIES +CREATED +CHANGED +TITLE$/);
    expect(
      lines
        .slice(1)
        .map((line) => line.split(" ")[0])
        .toSorted(),
    ).toEqual(["broken", "new", "old"]);
    expect(lines.find((line) => line.startsWith("new"))).toMatch(
      /^new +2 +2023-11-14 22:13 +2023-11-14 22:13/,
    );
    expect(lines.find((line) => line.startsWith("old"))).toMatch(/An old one$/);
    expect(lines.find((line) => line.startsWith("broken"))).toMatch(/damaged: .*line \d/);
    const { sessions } = JSON.parse((await run(["ls", "--json", "--dir", dir])).stdout);
    for (const { changedAt } of sessions) expect(changedAt).toSatisfy(Number.isInteger);
    const refused = await run(["tree", "broken", "--dir", dir]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^espalier: unable to .+line \d.+\n$/),
    });
  });

  test("--json is the same from files and from their server; an empty directory is no failure", async () => {
    const dir = createFolder();
    expect(await run(["ls", "--dir", dir])).toMatchObject({ code: 0, stdout: "" });
    expect((await run(["ls", "--dir", dir, "--json"])).stdout).toBe('{"sessions":[]}\n');
    await fill(dir, { a: [reply(1, 0), title(2, "A")], b: [reply(3, 0)] });
    const fromFiles = await run(["ls", "--dir", dir, "--json"]);
    expect(JSON.parse(fromFiles.stdout).sessions).toMatchObject([
      { id: "b", title: null, entries: 1 },
      { id: "a", title: "A", entries: 1 },
    ]);
    await serve(["--dir", dir]);
    expect((await run(["ls", "--dir", dir, "--json"])).stdout).toBe(fromFiles.stdout);
  });
});
