/** `espalier import`: exports in, reports out, and nothing twice. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { cleanUp, createFolder, run, serve } from "./command.js";

afterEach(cleanUp);

const FIXTURES = fileURLToPath(new URL("../fixtures/chatgpt", import.meta.url));
const fixture = (name: string): string => join(FIXTURES, name);
const filesOf = (dir: string): string[] => readdirSync(dir).filter((name) => name.endsWith(".jsonl"));

test("--json prints the shape of every session, as the sample expects it", async () => {
  const dir = createFolder();
  const { code, stdout, stderr } = await run(["import", fixture("branches.json"), "--dir", dir, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { sessions } = JSON.parse(stdout);
  const expected = JSON.parse(readFileSync(fixture("branches.expected.json"), "utf8"));
  expect(Object.keys(sessions[0])).toEqual([
    "id",
    "title",
    "entries",
    "roots",
    "branchPoints",
    "activeLine",
    "reports",
  ]);
  for (const [index, session] of sessions.entries()) {
    const { title, entries, roots, activeLine } = expected.sessions[index];
    expect(session).toMatchObject({ title, entries, roots, activeLine });
  }
  expect(filesOf(dir)).toHaveLength(2);
});

test("what was imported is listed and drawn, its active line as the newest", async () => {
  const dir = createFolder();
  const { sessions } = JSON.parse(
    (await run(["import", fixture("branches.json"), "--dir", dir, "--json"])).stdout,
  );
  const { id, activeLine, title, roots } = sessions[1];
  expect((await run(["ls", "--dir", dir])).stdout).toContain(title);
  const tree = JSON.parse((await run(["tree", id, "--dir", dir, "--json"])).stdout);
  expect(tree).toMatchObject({ title, newestLine: activeLine, roots });
});

test("odd things are told on stderr, a line each, and the rest is taken", async () => {
  const { code, stdout, stderr } = await run(["import", fixture("damaged.json"), "--dir", createFolder()]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^imported {2}\S+ {2}Slugs in the lettuce {2}5 entries, 2 roots\n$/);
  const lines = stderr.trimEnd().split("\n");
  expect(lines).toHaveLength(6);
  expect(lines.every((line) => line.startsWith("espalier: "))).toBe(true);
  expect(stderr).toContain("no mapping; skipped");
  expect(stderr).toContain("becomes a root");
});

test("what is there already is left as it is, and said so", async () => {
  const dir = createFolder();
  const args = ["import", fixture("branches.json"), "--dir", dir];
  await run(args);
  const before = filesOf(dir).map((name) => readFileSync(join(dir, name), "utf8"));
  const again = await run(args);
  expect(again.code).toBe(0);
  expect(
    again.stdout
      .trimEnd()
      .split("\n")
      .every((line) => line.startsWith("left as is")),
  ).toBe(true);
  expect(again.stderr.match(/is in .+ already; left as it is/g)).toHaveLength(2);
  expect(filesOf(dir).map((name) => readFileSync(join(dir, name), "utf8"))).toEqual(before);
  const json = JSON.parse((await run([...args, "--json"])).stdout);
  expect(json.sessions).toHaveLength(2);
  expect(json.sessions[0].reports.at(-1)).toMatch(/already; left as it is/);
});

test.each([
  ["no JSON", "It was a dark night"],
  ["cut off", '[{"title":'],
  ["empty", ""],
  ["another list", '[{"name":"x"}]'],
  ["another object", '{"sessions":[]}'],
])("a file that is no export gets one line, and makes no directory: %s", async (_, text) => {
  const cwd = createFolder();
  writeFileSync(join(cwd, "x.json"), text);
  const { code, stdout, stderr } = await run(["import", "x.json"], { cwd });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^espalier: unable to import x\.json; [^\n]+\n$/);
  expect(readdirSync(cwd)).toEqual(["x.json"]);
});

test("a directory that a server has is not written to, and the message says which server", async () => {
  const dir = createFolder();
  const { url } = await serve(["--dir", dir]);
  const { code, stdout, stderr } = await run(["import", fixture("branches.json"), "--dir", dir]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /^espalier: unable to import into .+; a server has it, at ws:\S+ \(stop the server.+\)\n$/,
  );
  expect(stderr).toContain(url);
  expect(filesOf(dir)).toEqual([]);
});

test("a manifest brings its shards", async () => {
  const dir = createFolder();
  const { code, stdout } = await run(["import", fixture("sharded/export_manifest.json"), "--dir", dir]);
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toHaveLength(filesOf(dir).length);
});
