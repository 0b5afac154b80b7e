/** What every command has in common: help, exit codes, errors in one line, and no colour where none is shown. */
import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { cleanUp, createFolder, MAIN, run } from "./command.js";

afterEach(cleanUp);

const COMMANDS = ["serve", "ls", "tree", "show", "export", "fork", "rm", "tail", "import"];

describe("help", () => {
  test.each(COMMANDS)("%s explains itself, with an example", async (command) => {
    const { code, stdout, stderr } = await run([command, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`Usage: espalier ${command}`));
    expect(stdout).toMatch(new RegExp(`Examples?:\\n {2}\\$ espalier ${command} `.trimEnd()));
  });

  test("espalier --help lists the commands, and --version is one line", async () => {
    const { stdout } = await run(["--help"]);
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${command} .+$`, "m"));
    expect((await run(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("a misuse ends with 2, and says in one line what is wrong", () => {
  test.each([
    ["an unknown command", ["graft"], "unknown command 'graft'"],
    ["an unknown option", ["serve", "--prot", "1"], "unknown option '--prot' (Did you mean --port?)"],
    ["a missing argument", ["tree"], "missing required argument 'session'"],
    ["a surplus argument", ["ls", "x"], "too many arguments"],
    ["a port that is none", ["serve", "--port", "99999"], "It is a number from 0 to 65535"],
    ["two places at once", ["ls", "--url", "ws://localhost", "--dir", "d"], "cannot be used with"],
  ])("%s", async (_, args, reason) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^espalier: unable to understand the command line; [^\n]+\n$/);
    expect(stderr).toContain(reason);
  });

  test("no command at all shows the help", async () => {
    const { code, stderr } = await run([]);
    expect(code).toBe(2);
    expect(stderr).toContain("Usage: espalier");
  });
});

describe("a failure ends with 1, and says in one line what and why, with advice", () => {
  test.each([
    [
      "no such directory",
      ["tree", "s", "--dir", "none"],
      /unable to open none; there is no such directory \(.+\)/,
    ],
    ["no such session", ["tree", "s", "--dir", "."], /unable to open s; there is no such session \(.+\)/],
    ["no id", ["tree", "../s", "--dir", "."], /unable to use "\.\.\/s" .+; it is not an id \(.+\)/],
    [
      "no server to follow",
      ["tail", "s", "--dir", "."],
      /unable to follow; no server runs on \. \(.+serve.+\)/,
    ],
    [
      "nobody there",
      ["ls", "--url", "ws://127.0.0.1:1"],
      /unable to connect to .+; connect ECONNREFUSED .+\(.+\)/,
    ],
    [
      "no address",
      ["ls", "--url", "http://localhost"],
      /unable to connect to http:\/\/localhost; it is no ws/,
    ],
    ["no such file", ["import", "none.json"], /unable to import none\.json; there is no such file \(.+\)/],
    [
      "everybody's address",
      ["serve", "--host", "0.0.0.0"],
      /unable to listen on 0\.0\.0\.0; .+ loopback only \(.+\)/,
    ],
  ])("%s", async (_, args, line) => {
    const { code, stdout, stderr } = await run(args, { cwd: createFolder() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^espalier: ${line.source}`));
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

test("without a terminal there is no colour", async () => {
  const { stdout, stderr } = await run(["--help"], { env: { TERM: "xterm-256color" } });
  expect(stdout + stderr).not.toContain("\x1b");
});

test.skipIf(!existsSync("/dev/full"))("output that cannot be written is a failure", async () => {
  const child = spawn(process.execPath, [MAIN, "--help"], {
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
  });
  let stderr = "";
  child.stderr?.on("data", (text) => {
    stderr += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^espalier: unable to write the output; .*ENOSPC.*\n$/),
  });
});
