/**
 * The command line: what may be asked, and how it is understood. Codes: 0, 1 for a failure, 2 for a misuse.
 * A command's own code is loaded when it is asked for.
 */
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { lineOf } from "./failure.js";
import { say } from "./output.js";
import type { Terminal } from "./terminal.js";

const FAILURE = 1;
const MISUSE = 2;

/** Resolves with the exit code; says on stderr what went wrong. */
export const runCommandLine = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  const { out, err } = terminal;
  const code = await codeOf(args, terminal);
  await Promise.all([out.drained(), err.drained()]);
  if (out.fault === null) return code;
  say(err, `unable to write the output; ${out.fault.message}`);
  return FAILURE;
};

const codeOf = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await createProgram(terminal).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSE;
    say(terminal.err, lineOf(error));
    return FAILURE;
  }
};

const createProgram = (terminal: Terminal): Command => {
  const program = new Command("espalier")
    .description("Conversations as trees, live. Runs a server, and looks into what it keeps.")
    .version(version(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.err.write(text),
      getOutHelpWidth: () => terminal.out.columns,
      getErrHelpWidth: () => terminal.err.columns,
      getOutHasColors: () => terminal.out.isColoured,
      getErrHasColors: () => terminal.err.isColoured,
      outputError: (text) => say(terminal.err, misuse(text)),
    })
    .addHelpText(
      "after",
      example(
        "espalier serve --dir ./data",
        "espalier import conversations.json --dir ./data",
        "espalier ls",
        "espalier tree plans",
        "espalier tail plans",
      ),
    );

  program
    .command("serve")
    .description("run a server, in open development mode: for this machine only")
    .option("--dir <directory>", "keep the sessions as files there; without it, in memory")
    .option("--port <number>", "the port to listen on; 0 for any that is free", toPort, 4400)
    .option("--host <address>", "the loopback address to listen on (default: 127.0.0.1)")
    .option("--json", "print where it listens as JSON")
    .addHelpText("after", example("espalier serve --dir ./data --port 4400"))
    .action(async (options) => (await import("./serve.js")).runServe(options, terminal));

  readingCommand(program, "ls")
    .description("list the sessions, the newest change first")
    .addHelpText("after", example("espalier ls", "espalier ls --json | jq -r '.sessions[].id'"))
    .action(async (options) => (await import("./ls.js")).runLs(options, terminal));

  readingCommand(program, "tree <session>")
    .description("draw a session: every branch, the newest line marked")
    .option("--full", "show whole ids, however long")
    .addHelpText(
      "after",
      example("espalier tree plans", "espalier tree plans --url ws://127.0.0.1:4400/espalier"),
    )
    .action(async (session, options) => (await import("./tree.js")).runTree(session, options, terminal));

  readingCommand(program, "tail <session>")
    .description("follow a session of a running server, each token as it comes")
    .option("-n, --lines <number>", "entries of the past to begin with", toCount, 10)
    .addHelpText("after", example("espalier tail plans", "espalier tail plans --json | jq .type"))
    .action(async (session, options) => (await import("./tail.js")).runTail(session, options, terminal));

  program
    .command("import <file>")
    .description("take in the conversations of a ChatGPT export (conversations.json, or its manifest)")
    .addOption(dirOption("the directory to import into"))
    .option("--json", "print what was imported as JSON")
    .addHelpText("after", example("espalier import ~/Downloads/chatgpt/conversations.json --dir ./data"))
    .action(async (file, options) => (await import("./import.js")).runImport(file, options, terminal));

  return program;
};

const misuse = (text: string): string => {
  const reason = text
    .replace(/^error: /, "")
    .trim()
    .replace(/\.$/, "");
  return `unable to understand the command line; ${reason} (--help shows what is possible)`;
};

const dirOption = (description: string): Option =>
  new Option("--dir <directory>", description).default("./data");

/** A command that reads a directory, or from the server that has it. */
const readingCommand = (program: Command, name: string): Command =>
  program
    .command(name)
    .addOption(dirOption("the directory of the sessions; its server is found by itself"))
    .addOption(
      new Option("--url <url>", "a server to ask instead, such as ws://127.0.0.1:4400/espalier").conflicts(
        "dir",
      ),
    )
    .addOption(new Option("--token <token>", "what the server asks for").env("ESPALIER_TOKEN"))
    .option("--json", "print JSON");

const example = (...lines: string[]): string =>
  `\n${lines.length === 1 ? "Example" : "Examples"}:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;

const MAX_PORT = 65_535;
const MAX_LINES = 1000;

const toPort = (text: string): number => toNumber(text, MAX_PORT);
const toCount = (text: string): number => toNumber(text, MAX_LINES);

const toNumber = (text: string, highest: number): number => {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= highest) return number;
  throw new InvalidArgumentError(`It is a number from 0 to ${highest}.`);
};

const version = (): string => {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
};
