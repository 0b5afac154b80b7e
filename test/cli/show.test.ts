/** `espalier show`: a line as text and as JSON, from files and from their server; and what a model would read. */
import { afterEach, describe, expect, test } from "vitest";
import { GARDEN } from "../export/garden.js";
import { cleanUp, createFolder, run, serve } from "./command.js";
import { chain, fill, reply, title } from "./logs.js";

afterEach(cleanUp);

const filled = async (): Promise<string> => {
  const dir = createFolder();
  await fill(dir, { plans: GARDEN });
  return dir;
};

/** `Speaker place · id` of each heading. */
const headings = (stdout: string): string[] =>
  [...stdout.matchAll(/^(\S+)( \d+\/\d+)?(?: \[\w+\])? · .{16} · (\w+)$/gm)].map(
    ([, speaker, place = "", id]) => `${speaker}${place} ${id}`,
  );

test("the line that is shown where none is asked for, each entry with its place among its alternatives", async () => {
  const dir = await filled();
  const { code, stdout, stderr } = await run(["show", "plans", "--dir", dir]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^An espalier for the south wall {2}\(plans\)\n12 entries\n/);
  expect(headings(stdout)).toEqual([
    "user q1",
    "assistant 1/2 a1",
    "user 1/2 q2",
    "assistant t1",
    "tool t2",
    "assistant a3",
    "model-change m1",
    "compaction s1",
    "user q4",
    "assistant a5",
    "user 3/3 q6",
    "assistant a6",
  ]);
  expect(stdout).toContain('[search_almanac: done] {"query":"espalier wire distance","limit":3}');
});

test("--leaf ends it, also where the entry has children; an unknown one is a failure", async () => {
  const dir = await filled();
  expect(headings((await run(["show", "plans", "--leaf", "q2", "--dir", dir])).stdout)).toEqual([
    "user q1",
    "assistant 1/2 a1",
    "user 1/2 q2",
  ]);
  const { stdout } = await run(["show", "plans", "--leaf", "q5", "--dir", dir]);
  expect(stdout).toMatch(/user 2\/3 · .+ · q5\nerased on .+ by admin\n/);
  expect(await run(["show", "plans", "--leaf", "zz", "--dir", dir])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^espalier: unable to read plans; it has no entry zz \(.+\)\n$/),
  });
});

test("--context shows what the model reads: the summary in place of what came before, and the settings", async () => {
  const dir = await filled();
  const { stdout } = await run(["show", "plans", "--context", "--dir", dir]);
  expect(stdout).toMatch(
    /^acme elm-2 · 9 messages for the model\n\nuser · s1\nThe user has a \*\*south wall/,
  );
  expect(stdout).not.toContain("What is an espalier");
  const json = JSON.parse((await run(["show", "plans", "--context", "--json", "--dir", dir])).stdout);
  expect(json).toMatchObject({ id: "plans", leaf: "a6", settings: { provider: "acme", modelId: "elm-2" } });
  expect(json.messages.map(({ entryId }: { entryId: string }) => entryId)).toEqual([
    ..."s1 q2 t1 t2 a3 q4 a5 q6 a6".split(" "),
  ]);
});

test("all of it is the same from the server that has the directory", async () => {
  const dir = await filled();
  await fill(dir, {
    long: [title(1, "Long"), ...chain(2500).map((_, index) => reply(index + 2, index === 0 ? 0 : index + 1))],
  });
  const asks = [
    ["plans"],
    ["plans", "--json"],
    ["plans", "--leaf", "a4", "--json"],
    ["plans", "--leaf", "q2"],
    ["plans", "--context", "--json"],
    ["long", "--json"],
  ].map((ask) => ["show", ...ask, "--dir", dir]);
  const fromFiles: string[] = [];
  for (const ask of asks) fromFiles.push((await run(ask)).stdout);
  await serve(["--dir", dir]);
  for (const [index, ask] of asks.entries()) expect((await run(ask)).stdout).toBe(fromFiles[index]);
  expect(await run(["show", "plans", "--leaf", "zz", "--dir", dir])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/unable to read plans; it has no entry zz/),
  });
  expect(JSON.parse(fromFiles[5] ?? "").entries).toHaveLength(2500);
}, 60_000);

describe("what content can do to a terminal", () => {
  const HOSTILE = "red \x1b[31m bell \x07 C1 \x9b2J turned \u202eabc\u2028 del \x7f";

  test.each([[[]], [["--json"]], [["--context"]], [["--context", "--json"]]])("nothing %j", async (more) => {
    const dir = createFolder();
    const parts = [
      { type: "text", text: HOSTILE },
      { type: "tool-call", callId: HOSTILE, name: HOSTILE, input: HOSTILE, state: "done", output: [HOSTILE] },
      { type: "source", url: HOSTILE },
    ] as const;
    await fill(dir, { s: [title(1, HOSTILE), reply(2, 0, "", { parts })] });
    const { code, stdout } = await run(["show", "s", "--dir", dir, ...more]);
    expect(code).toBe(0);
    expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e\u2028]/u);
  });
});
