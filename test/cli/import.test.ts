/** `espalier import`: exports in, reports out, and nothing twice. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { cleanUp, createFolder, run, serve } from "./command.js";

afterEach(cleanUp);

const FIXTURES = fileURLToPath(new URL("../fixtures", import.meta.url));
const fixture = (name: string): string => join(FIXTURES, "chatgpt", name);
const sample = (name: string): string => join(FIXTURES, name);
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

test("[import] several files of several formats in one go", async () => {
  const dir = createFolder();
  const files = [
    "librechat/flat.json",
    "openwebui/bare-chat.json",
    "pi/v2-tree.jsonl",
    "claude-code/rewind.jsonl",
  ];
  const { code, stdout } = await run(["import", ...files.map(sample), "--dir", dir]);
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toHaveLength(4);
  expect(filesOf(dir)).toHaveLength(4);
});

test("[import] a folder brings all that is in it, each file once, and says what was passed over", async () => {
  const folder = createFolder();
  cpSync(sample("claude-code/subagents"), join(folder, "project"), { recursive: true });
  cpSync(fixture("sharded"), join(folder, "export"), { recursive: true });
  writeFileSync(join(folder, "notes.txt"), "x");
  mkdirSync(join(folder, ".cache"));
  writeFileSync(join(folder, ".cache", "odd.json"), "{}");
  const dir = createFolder();
  const { code, stdout, stderr } = await run(["import", folder, "--dir", dir]);
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/meta\.json|odd\.json/);
  expect(stderr).toContain("1 file passed over, no JSON by name");
  expect(stderr).toMatch(/project\/\S+\.expected\.json: its format is not known; skipped/);
  expect(stderr).not.toContain("left as it is");
  const expected = JSON.parse(readFileSync(fixture("sharded/export_manifest.expected.json"), "utf8"));
  expect(stdout.trimEnd().split("\n")).toHaveLength(expected.sessions.length + 5);
});

test("[import] [F5] a session's subagents come as its sidechains, with the call that began them", async () => {
  const dir = createFolder();
  const id = "cc0d0001-0000-4000-8000-000000005e55";
  await run(["import", sample(`claude-code/subagents/${id}.jsonl`), "--dir", dir]);
  const subagents = readdirSync(join(dir, id, "subagents"));
  expect(subagents).toHaveLength(4);
  const headers = subagents.map((name) =>
    JSON.parse(readFileSync(join(dir, id, "subagents", name), "utf8").split("\n")[0] as string),
  );
  expect(headers.map(({ origin }) => origin?.callId ?? null).sort()).toEqual(
    [null, "toolu_demo_A", "toolu_demo_B", "toolu_demo_C"].sort(),
  );
});

test.each([[[]], [["--json"]]])(
  "[import] of a file that is cut off what is whole is taken, and the code is 1 %j",
  async (args) => {
    const cwd = createFolder();
    writeFileSync(join(cwd, "x.json"), readFileSync(fixture("branches.json"), "utf8").slice(0, -200));
    const { code, stdout, stderr } = await run(["import", "x.json", "--dir", "d", ...args], { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^espalier: unable to import all of x\.json; it is not JSON, or cut off: [^\n]+\n$/,
    );
    expect(filesOf(join(cwd, "d"))).toHaveLength(1);
    if (args.length > 0) expect(JSON.parse(stdout).sessions).toHaveLength(1);
  },
);

test("[import] one file of several that cannot be read keeps nothing from the others", async () => {
  const dir = createFolder();
  const cwd = createFolder();
  writeFileSync(join(cwd, "a.json"), "nonsense");
  mkdirSync(join(cwd, "b"));
  const args = ["import", "a.json", "none.json", "b", fixture("slim.json"), "--dir", dir];
  const { code, stderr } = await run(args, { cwd });
  expect(code).toBe(1);
  expect(stderr).toContain("unable to import a.json; its format is not known");
  expect(stderr).toContain("unable to import none.json; there is no such file");
  expect(stderr).toMatch(/unable to import everything; 2 files could not be read\n$/);
  expect(filesOf(dir)).toHaveLength(2);
});

test("[import] --format decides where it is given", async () => {
  const dir = createFolder();
  const wrong = await run(["import", fixture("slim.json"), "--format", "librechat", "--dir", dir]);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain("it holds no LibreChat conversation");
  expect((await run(["import", fixture("slim.json"), "--format", "chatgpt", "--dir", dir])).code).toBe(0);
  expect((await run(["import", fixture("slim.json"), "--format", "word", "--dir", dir])).code).toBe(2);
});

test("[import] a session that is stored is imported from its own file as it is", async () => {
  const [first, second] = [createFolder(), createFolder()];
  const { sessions } = JSON.parse(
    (await run(["import", fixture("branches.json"), "--dir", first, "--json"])).stdout,
  );
  const { code, stdout } = await run([
    "import",
    join(first, `${sessions[0].id}.jsonl`),
    "--dir",
    second,
    "--json",
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).sessions[0]).toMatchObject({
    id: sessions[0].id,
    activeLine: sessions[0].activeLine,
  });
});
