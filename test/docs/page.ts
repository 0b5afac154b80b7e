/**
 * A page of `docs` as a program: all its blocks in their order, as they stand but for addresses and folders.
 *
 * - ` ```ts ` and ` ```tsx `: code. A line `expression; // → value` says what comes of it: an object has at least
 *   those fields. Where it awaits nothing it is asked until it is so, since a view comes by it live.
 * - ` ```console `: commands, each after a `$`, with what they print. `…` stands for anything, alone on a line
 *   for any number of lines.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Client, connect, serveRuns } from "@espalier/client";
import { createServer } from "@espalier/server";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { MAIN } from "../cli/command.js";

const DOCS = join(import.meta.dirname, "../../docs");

type Block = { readonly language: string; readonly text: string; readonly line: number };

export const readPage = (name: string): string => readFileSync(join(DOCS, name), "utf8");

/** Every fenced block, so that none of another language goes untested. */
export const blocksOf = (page: string): readonly Block[] =>
  [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = "", 2: text = "", index }) => ({
    language,
    text,
    line: page.slice(0, index).split("\n").length,
  }));

const RESULT = /^(\S.*?);? \/\/ → (.+)$/gm;

/** What is written instead of the address and the folder of a page's server. */
export type Place = { readonly url: string; readonly dir: string };

const codeOf = ({ language, text, line }: Block, { url, dir }: Place): string => {
  if (language === "console") return `await shell(${JSON.stringify(text)}, ${line});`;
  return text
    .replaceAll("ws://localhost:4400/espalier", url)
    .replaceAll('"./data"', JSON.stringify(dir))
    .replaceAll("listen(4400)", "listen(0)")
    .replace(RESULT, (_, expression: string, value: string) =>
      /\bawait\b/.test(expression)
        ? `expectResult(${expression}, ${value});`
        : `await untilResult(() => ${expression}, ${value});`,
    );
};

/** The module that a page is, to be written to a folder of `test/dist`. */
export const moduleOf = (page: string, place: Place): string => {
  const code = blocksOf(page)
    .map((block) => codeOf(block, place))
    .join("\n");
  const opened = [...code.matchAll(/^const (?:\{[^}]*\}|(\w+)) = (?:await )?(?:connect|createServer)\(/gm)];
  const names = opened.flatMap(({ 1: name }) => (name === undefined ? [] : [name]));
  const kit = `import { expectResult, shell, untilResult } from "../../docs/page.js";`;
  return `${kit}\n${code}\nexport const opened = [${names.join(", ")}];\nvoid [expectResult, shell, untilResult];\n`;
};

export const fileNameOf = (page: string): string =>
  blocksOf(page).some(({ language }) => language === "tsx") ? "page.tsx" : "page.ts";

/** Where the commands of the page that runs are run. */
let commands = { cwd: "", env: {} as Record<string, string | undefined> };

const WAIT_MS = 5_000;

const compare = (actual: unknown, expected: unknown): void => {
  if (typeof expected === "object" && expected !== null && !Array.isArray(expected))
    expect(actual).toMatchObject(expected);
  else expect(actual).toEqual(expected);
};

export const expectResult = (actual: unknown, expected: unknown): void => compare(actual, expected);

export const untilResult = (read: () => unknown, expected: unknown): Promise<void> =>
  expect.poll(read, { timeout: WAIT_MS, interval: 5 }).toSatisfy((actual) => {
    compare(actual, expected);
    return true;
  });

/** Runs the commands of a block, and compares what they print. */
export const shell = async (text: string, line: number): Promise<void> => {
  for (const part of text.split(/^\$ /m).slice(1)) {
    const [command = "", ...printed] = part.trimEnd().split("\n");
    const { code, output } = await runCommand(command);
    const said = { line, command, code, output };
    expect(said).toEqual({
      line,
      command,
      code: 0,
      output: printed.length === 0 ? expect.any(String) : expect.stringMatching(patternOf(printed)),
    });
  }
};

const patternOf = (lines: readonly string[]): RegExp => {
  const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const patterns = lines.map((line) =>
    line === "…" ? "(?:.*\\n)*" : `${line.trimEnd().split("…").map(literally).join(".*")} *\\n`,
  );
  return new RegExp(`^${patterns.join("")}$`);
};

const runCommand = (command: string): Promise<{ code: number | null; output: string }> =>
  new Promise((resolve) => {
    const child = spawn("bash", ["-c", `exec 2>&1\n${command}`], {
      ...commands,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
    });
    child.once("close", (code) => resolve({ code, output }));
  });

export type Stage = Place & {
  readonly home: string;
  close(): Promise<void>;
};

/** Answers "Answer 1", "Answer 2", … for pages that say so. */
const answerRuns = (agent: Client): void => {
  let answers = 0;
  serveRuns(agent, async (run) => {
    answers += 1;
    const parts = [{ type: "text", text: `Answer ${answers}` } as const];
    await run.publish({ type: "message", role: "assistant", parts });
  });
};

/** A server for a page that makes none of its own. */
const serve = async (dir: string, isAnswering: boolean): Promise<{ url: string; close(): Promise<void> }> => {
  const server = await createServer({ dir });
  const { url } = await server.listen(0);
  const agent = connect({ url, WebSocket, token: "gardener" });
  if (isAnswering) answerRuns(agent);
  return {
    url,
    close: async () => {
      agent.close();
      await server.close();
    },
  };
};

/** A home folder, `espalier` on the path, and a server on `./data` where the page asks for one. */
export const setStage = async (page: string): Promise<Stage> => {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is not built; npm run build`);
  const home = mkdtempSync(join(tmpdir(), "espalier-page-"));
  const bin = join(home, ".bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "espalier"), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 });
  commands = { cwd: home, env: { PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: home, TZ: "UTC" } };
  const dir = join(home, "data");
  const isServed = page.includes("ws://localhost:4400/espalier");
  const server = isServed ? await serve(dir, page.includes("an agent says")) : null;
  return {
    url: server?.url ?? "",
    dir,
    home,
    close: async () => {
      await server?.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
};
