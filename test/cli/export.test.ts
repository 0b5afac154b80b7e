/** `espalier export`: every format, to a file and to the output, from files and from their server. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunId } from "@espalier/shared";
import { afterEach, expect, test } from "vitest";
import { GARDEN } from "../export/garden.js";
import { recordsIn } from "../export/kit.js";
import { register, run as runRecord } from "../shared/records.js";
import { cleanUp, createFolder, run, serve } from "./command.js";
import { fill, reply } from "./logs.js";

afterEach(cleanUp);

const filled = async (): Promise<string> => {
  const dir = createFolder();
  await fill(dir, { plans: GARDEN });
  return dir;
};

test.each([
  ["espalier", /^\{"kind":"espalier-export","version":1,"id":"plans"/],
  ["markdown", /^# An espalier for the south wall\n/],
  ["html", /^<!doctype html>/],
  ["chatgpt", /^\[\{"title":"An espalier/],
])("--format %s", async (format, beginning) => {
  const { code, stdout, stderr } = await run([
    "export",
    "plans",
    "--format",
    format,
    "--dir",
    await filled(),
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(beginning);
});

test("--out writes a file whole; its ending tells the format, and --json what was written", async () => {
  const dir = await filled();
  const cwd = createFolder();
  const beginnings = {
    "a.jsonl": '{"kind"',
    "a.md": "# An",
    "a.html": "<!doctype",
    "a.json": '[{"title"',
    a: '{"kind"',
  };
  for (const [file, beginning] of Object.entries(beginnings)) {
    const { stdout } = await run(["export", "plans", "--out", file, "--json", "--dir", dir], { cwd });
    const text = readFileSync(join(cwd, file), "utf8");
    expect(text.startsWith(beginning)).toBe(true);
    expect(JSON.parse(stdout)).toMatchObject({
      session: "plans",
      leaf: null,
      file,
      bytes: Buffer.byteLength(text),
    });
  }
  expect(readdirSync(cwd).toSorted()).toEqual(Object.keys(beginnings).toSorted());
});

test("--leaf is one line, --all is every branch; both at once is a misuse", async () => {
  const dir = await filled();
  const count = async (...more: string[]): Promise<number> =>
    (await run(["export", "plans", "--dir", dir, ...more])).stdout.match(/<article/g)?.length ?? 0;
  expect(await count("--format", "html")).toBe(12);
  expect(await count("--format", "html", "--leaf", "a4")).toBe(4);
  expect(await count("--format", "html", "--all")).toBe(17);
  expect(await run(["export", "plans", "--all", "--leaf", "a4", "--dir", dir])).toMatchObject({
    code: 2,
    stdout: "",
  });
});

test("what cannot be written, or is not there, leaves what was there before", async () => {
  const dir = await filled();
  const cwd = createFolder();
  expect(await run(["export", "plans", "--out", "no/such/folder/x.md", "--dir", dir], { cwd })).toMatchObject(
    {
      code: 1,
      stderr: expect.stringMatching(
        /^espalier: unable to write no\/such\/folder\/x\.md; ENOENT.+ \(.+--out\)\n$/,
      ),
    },
  );
  writeFileSync(join(cwd, "kept.md"), "before");
  for (const ask of [["none"], ["plans", "--leaf", "zz"]])
    expect(await run(["export", ...ask, "--out", "kept.md", "--dir", dir], { cwd })).toMatchObject({
      code: 1,
      stdout: "",
    });
  expect(readFileSync(join(cwd, "kept.md"), "utf8")).toBe("before");
  expect(readdirSync(cwd)).toEqual(["kept.md"]);
  const beside = await run(["export", "plans", "--json", "--dir", dir]);
  expect(beside).toMatchObject({ code: 1, stderr: expect.stringContaining("--out") });
});

test("[T1] an export is imported into another directory, and exported again as the same text", async () => {
  const dir = await filled();
  const other = createFolder();
  const file = join(createFolder(), "plans.jsonl");
  await run(["export", "plans", "--out", file, "--dir", dir]);
  expect(await run(["import", file, "--dir", other])).toMatchObject({ code: 0, stderr: "" });
  expect((await run(["export", "plans", "--dir", other])).stdout).toBe(readFileSync(file, "utf8"));
  expect((await run(["tree", "plans", "--json", "--dir", other])).stdout).toBe(
    (await run(["tree", "plans", "--json", "--dir", dir])).stdout,
  );
  // What is written on there gets a seq above all that was folded.
  const revs = recordsIn(readFileSync(file, "utf8")).map((record) => ("rev" in record ? record.rev : 0));
  expect(recordsIn(readFileSync(file, "utf8")).at(-1)?.seq).toBeGreaterThanOrEqual(Math.max(...revs));
});

test("a server gives the same entries, registers and origin, and documents to the letter", async () => {
  const dir = await filled();
  await run(["fork", "plans", "--at", "a5", "--as", "fork", "--dir", dir]);
  const asks = [
    ["plans", "--format", "html", "--all"],
    ["plans", "--format", "markdown"],
    ["fork", "--format", "markdown", "--all"],
    ["plans", "--leaf", "a4"],
    ["fork"],
  ].map((ask) => ["export", ...ask, "--dir", dir]);
  const fromFiles: string[] = [];
  for (const ask of asks) fromFiles.push((await run(ask)).stdout);
  await serve(["--dir", dir]);
  for (const [index, ask] of asks.entries()) {
    const { stdout, stderr } = await run(ask);
    expect(stderr).toBe("");
    expect(stdout).toBe(fromFiles[index]);
  }
}, 60_000);

test("what a running server does not tell is said on stderr, and is exported when it is stopped", async () => {
  const dir = createFolder();
  const answered = [runRecord("r1", 1, "done"), reply(2, 0, "first", { runId: "r1" as RunId })];
  const long = Array.from({ length: 1100 }, (_, index) => reply(index + 3, index + 2));
  await fill(dir, {
    long: [...answered, ...long],
    anew: [...answered, register("reset", 3, "r"), reply(4, 0)],
    plans: GARDEN,
  });
  const server = await serve(["--dir", dir]);
  const { code, stderr } = await run(["export", "long", "--dir", dir]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr:
      "espalier: this is not all of long; its running server does not tell 1 run that has ended" +
      " (all of it is exported when the server is stopped)\n",
  });
  const file = join(createFolder(), "anew.jsonl");
  const reset = await run(["export", "anew", "--out", file, "--json", "--dir", dir]);
  expect(JSON.parse(reset.stdout)).toMatchObject({ session: "anew" });
  expect(reset.stderr).toMatch(
    /^espalier: this is not all of anew; .+ what came before its last reset \(.+\)\n$/,
  );
  for (const ask of [["plans"], ["anew", "--format", "markdown"], ["anew", "--leaf", "e4"]])
    expect((await run(["export", ...ask, "--dir", dir])).stderr).toBe("");
  await server.stop();
  const whole = await run(["export", "anew", "--dir", dir]);
  expect(whole.stderr).toBe("");
  expect(recordsIn(whole.stdout).length).toBeGreaterThan(recordsIn(readFileSync(file, "utf8")).length);
  expect((await run(["export", "--help"])).stdout).toMatch(/running server does not tell/);
}, 30_000);

test("[F2] a fork that shares is exported with what it shares, and needs nobody else", async () => {
  const dir = await filled();
  await run(["fork", "plans", "--at", "a5", "--as", "fork", "--dir", dir]);
  const { stdout } = await run(["export", "fork", "--dir", dir]);
  expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({
    id: "fork",
    origin: { session: "plans", entry: "a5" },
    leaf: "a5",
  });
  expect(stdout).not.toContain("isShared");
  expect(recordsIn(stdout).filter(({ kind }) => kind === "entry")).toHaveLength(10);
});
