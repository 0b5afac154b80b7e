/** `espalier import` of folders: what is followed, what is passed over, and what is told of it; and stopping. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { conversation, node } from "../import/kit.js";
import { cleanUp, createFolder, run, start } from "./command.js";

afterEach(cleanUp);

const SLIM = fileURLToPath(new URL("../fixtures/chatgpt/slim.json", import.meta.url));

const agentRecord = (agentId: string, sessionId: string): string =>
  `${JSON.stringify({
    ...{ parentUuid: null, isSidechain: true, sessionId, agentId, type: "user", uuid: `${agentId}-1` },
    message: { role: "user", content: "dig" },
  })}\n`;

test("[import] links are followed, each folder once; what is no file or has a dot is told", async () => {
  const [cwd, elsewhere] = [createFolder(), createFolder()];
  for (const name of ["in/deep", "in/.own", "in/.git", "in/node_modules/x"])
    mkdirSync(join(cwd, name), { recursive: true });
  writeFileSync(join(elsewhere, "talks.json"), readFileSync(SLIM));
  writeFileSync(join(cwd, "in/node_modules/x/p.json"), "{}");
  symlinkSync(elsewhere, join(cwd, "in/linked"));
  symlinkSync("..", join(cwd, "in/deep/up"));
  symlinkSync("nowhere", join(cwd, "in/lost"));
  execFileSync("mkfifo", [join(cwd, "in/pipe.json")]);
  const { code, stdout, stderr } = await run(["import", "in", "--dir", "d"], { cwd });
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  expect(stderr).toMatch(/in\/deep\/up: passed over, it is \S+, which was read already\n/);
  expect(stderr).toMatch(/in\/lost: passed over, the link leads nowhere/);
  expect(stderr).toContain("in/pipe.json: passed over, it is no regular file\n");
  expect(stderr).toContain("in/.own: passed over, its name begins with a dot\n");
  expect(stderr).not.toMatch(/\.git|node_modules/);
});

test("[import] what is no regular file is called that", async () => {
  const { code, stderr } = await run(["import", "/dev/null", "--dir", createFolder()]);
  expect(code).toBe(1);
  expect(stderr).toContain("unable to import /dev/null; it is not a regular file");
});

test("[import] faults and reports of files in folders name the path", async () => {
  const cwd = createFolder();
  mkdirSync(join(cwd, "in/deep"), { recursive: true });
  writeFileSync(join(cwd, "in/deep/x.json"), readFileSync(SLIM, "utf8").slice(0, -200));
  const { code, stderr } = await run(["import", "in", "--dir", "d"], { cwd });
  expect(code).toBe(1);
  expect(stderr).toMatch(/unable to import (?:all of )?in\/deep\/x\.json; /);
});

test("[F5] [import] an agent's file comes after its session, and without one it is told that `ls` lists it not", async () => {
  const [cwd, dir] = [createFolder(), createFolder()];
  const session = { parentUuid: null, isSidechain: false, sessionId: "zoo", type: "user", uuid: "u" };
  mkdirSync(join(cwd, "in"));
  writeFileSync(join(cwd, "in/agent-a.jsonl"), agentRecord("a", "zoo"));
  writeFileSync(join(cwd, "in/agent-b.jsonl"), agentRecord("b", "gone"));
  writeFileSync(join(cwd, "in/agent-b.meta.json"), "{}");
  const text = JSON.stringify({ ...session, message: { role: "user", content: "x" } });
  writeFileSync(join(cwd, "in/zoo.jsonl"), `${text}\n`);
  const { code, stdout, stderr } = await run(["import", "in", "--dir", dir, "--json"], { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(stdout).sessions.map(({ id }: { id: string }) => id)).toEqual(["zoo", "zoo/a", "gone/b"]);
  expect(stderr).not.toContain("meta.json");
  expect(stderr.match(/its session \S+ is not in/g)).toEqual(["its session gone is not in"]);
  const again = await run(["import", "in", "--dir", dir], { cwd });
  expect(again.stdout.match(/^left as is/gm)).toHaveLength(3);
});

test("[import] a subagents folder that is none ends nothing but its part, and the code is 1", async () => {
  const cwd = createFolder();
  mkdirSync(join(cwd, "in/s"), { recursive: true });
  symlinkSync("subagents", join(cwd, "in/s/subagents"));
  const text = JSON.stringify({
    ...{ parentUuid: null, isSidechain: false, sessionId: "s", type: "user", uuid: "u" },
    message: { role: "user", content: "x" },
  });
  writeFileSync(join(cwd, "in/s.jsonl"), `${text}\n`);
  writeFileSync(join(cwd, "in/talks.json"), readFileSync(SLIM));
  const { code, stdout, stderr } = await run(["import", "in", "--dir", "d"], { cwd });
  expect(code).toBe(1);
  expect(stdout.match(/^imported/gm)).toHaveLength(3);
  expect(stderr).toMatch(/unable to import all of in\/s\.jsonl; of its subagents: .*ELOOP/);
});

test("[import] --format of another format's file fails, and is told in one line", async () => {
  for (const format of ["pi", "claude-code"]) {
    const { code, stderr } = await run(["import", SLIM, "--format", format, "--dir", createFolder()]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^espalier: unable to import \S+; it holds no record of [^\n]+\n$/);
  }
});

test("[import] Ctrl-C ends the JSON, keeps what was taken, and the code is 130", async () => {
  const [cwd, dir] = [createFolder(), createFolder()];
  const talks = Array.from({ length: 4000 }, (_, index) =>
    conversation([node(`n${index}`, null)], { id: `talk${index}` }),
  );
  writeFileSync(join(cwd, "talks.json"), JSON.stringify(talks));
  const importing = start(["import", join(cwd, "talks.json"), "--dir", dir, "--json"]);
  await importing.said(/"talk20"/);
  const { code, stdout } = await importing.stop("SIGINT");
  expect(code).toBe(130);
  const { sessions } = JSON.parse(stdout);
  expect(sessions.length).toBeLessThan(4000);
  const { stdout: listed } = await run(["ls", "--dir", dir, "--json"]);
  expect(JSON.parse(listed).sessions).toHaveLength(sessions.length);
});

test("[import] a title is told as it is kept", async () => {
  const cwd = createFolder();
  writeFileSync(
    join(cwd, "x.json"),
    JSON.stringify([conversation([node("a", null)], { title: "half \ud800" })]),
  );
  const { stdout } = await run(["import", "x.json", "--dir", "d", "--json"], { cwd });
  expect(JSON.parse(stdout).sessions[0].title).toBe("half \ufffd");
});
