/** The pages of `docs` are run as they stand there, from top to bottom, and their examples are well typed. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { afterEach, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { blocksOf, fileNameOf, moduleOf, readPage, setStage } from "./page.js";

const DIST = join(import.meta.dirname, "../dist");
const FIXTURES = join(import.meta.dirname, "../fixtures");

const PAGES = readdirSync(join(import.meta.dirname, "../../docs"))
  .filter((name) => name.endsWith(".md") && name !== "PROTOCOL.md")
  .sort();

const MAX_LINES = 95;

/** What a page takes as given in the home folder, by where it comes from. */
const GIVEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "import-and-export.md": {
    "Downloads/conversations.json": "chatgpt/branches.json",
    "Downloads/damaged.json": "chatgpt/damaged.json",
    "Downloads/herbs.json": "librechat/tree.json",
    "Downloads/chats.json": "openwebui/export.json",
    ".claude/projects/garden": "claude-code/subagents",
    ".pi/agent/sessions/garden.jsonl": "pi/v2-tree.jsonl",
  },
};

/** For what is not run. */
const NOWHERE = { url: "ws://localhost:4400/espalier", dir: "./data" };

type Closable = { close(): unknown };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const writeModule = (name: string, code: string): string => {
  // Where no build takes it for a source of its own.
  mkdirSync(DIST, { recursive: true });
  const folder = mkdtempSync(join(DIST, "page-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  writeFileSync(file, code);
  return file;
};

describe.each(PAGES)("%s", (name) => {
  const page = readPage(name);

  test("is short, and says nothing in code that is not run", () => {
    expect(page.trimEnd().split("\n").length).toBeLessThanOrEqual(MAX_LINES);
    for (const { language } of blocksOf(page)) expect(["ts", "tsx", "console"]).toContain(language);
    expect(moduleOf(page, NOWHERE)).not.toContain("// →");
  });

  test("works as it stands", { timeout: 60_000 }, async () => {
    // A browser has one, as has a newer Node.
    globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;
    const quiet = vi.spyOn(console, "debug").mockImplementation(() => {});
    cleanups.push(() => quiet.mockRestore());
    const stage = await setStage(page);
    cleanups.push(() => stage.close());
    for (const [to, from] of Object.entries(GIVEN[name] ?? {})) {
      mkdirSync(dirname(join(stage.home, to)), { recursive: true });
      cpSync(join(FIXTURES, from), join(stage.home, to), {
        recursive: true,
        filter: (path) => !path.endsWith(".expected.json"),
      });
    }
    const file = writeModule(fileNameOf(page), moduleOf(page, stage));
    const { opened } = (await import(file)) as { opened: readonly Closable[] };
    for (const each of opened) cleanups.push(() => each.close());
  });
});

test("the examples are well typed", { timeout: 120_000 }, () => {
  const files = PAGES.map((name) =>
    writeModule(fileNameOf(readPage(name)), moduleOf(readPage(name), NOWHERE)),
  );
  const config = join(import.meta.dirname, "../tsconfig.json");
  const read = ts.readConfigFile(config, ts.sys.readFile).config;
  const { rootDir, tsBuildInfoFile, ...options } = ts.parseJsonConfigFileContent(
    read,
    ts.sys,
    dirname(config),
  ).options;
  const program = ts.createProgram(files, {
    ...options,
    customConditions: ["espalier-source"],
    composite: false,
    declaration: false,
    declarationMap: false,
    noEmit: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
  });
  const faults = files.flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)));
  expect(
    faults.map(({ file, start, messageText }) => {
      const line = file === undefined ? "" : file.text.slice(0, start).split("\n").length;
      return `${PAGES[files.indexOf(file?.fileName ?? "")]} ${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    }),
  ).toEqual([]);
});
