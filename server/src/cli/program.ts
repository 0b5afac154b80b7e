/**
 * The command line: what may be asked, and how it is understood. Codes: 0, 1 for a failure, 2 for a misuse, 130
 * where it was stopped before it was done.
 * A command's own code is loaded when it is asked for.
 */
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { FormatName } from "../import/detect.js";
import type { Format } from "./export.js";
import { lineOf } from "./failure.js";
import { Interrupted } from "./interrupted.js";
import { say } from "./output.js";
import type { Terminal } from "./terminal.js";

const FAILURE = 1;
const MISUSE = 2;
const INTERRUPTED = 130;

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
    if (error instanceof Interrupted) return INTERRUPTED;
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
        "espalier show plans",
        "espalier export plans --all --out plans.html",
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
    .description("list the sessions, the newest change first, forks below what they were forked from")
    .option("--all", "list archived sessions as well")
    .option("--sidechains", "list sidechains below their sessions")
    .option("-n, --limit <number>", "only so many, those that changed last", toLimit)
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

  readingCommand(program, "show <session>")
    .description("show one line of a session as text: the one that is shown where none is asked for")
    .option("--leaf <entry>", "the line that ends with this entry")
    .option("--context", "show what the model would read there, and the model and options in force")
    .addHelpText("after", example("espalier show plans", "espalier show plans --leaf e17 --context --json"))
    .action(async (session, options) => (await import("./show.js")).runShow(session, options, terminal));

  readingCommand(program, "export <session>")
    .description("write a session as a document, or as a file that can be imported again")
    .addOption(
      new Option("--format <format>", "what to write; told by the ending of --out, else espalier").choices(
        EXPORT_FORMATS,
      ),
    )
    .option("--leaf <entry>", "only the line that ends with this entry")
    .addOption(
      new Option("--all", "every branch, also in markdown and html, which have one line otherwise").conflicts(
        "leaf",
      ),
    )
    .option("--out <file>", "write to this file")
    .addHelpText(
      "after",
      example(
        "espalier export plans --out plans.jsonl",
        "espalier export plans --all --out plans.html",
        "espalier export plans --leaf e17 --format markdown",
      ),
    )
    .addHelpText(
      "after",
      "\nA running server does not tell what came before the last reset, nor all runs that have ended; what lacks\nof an espalier file is said on stderr, and all of it is exported when the server is stopped.\n",
    )
    .action(async (session, options) => (await import("./export.js")).runExport(session, options, terminal));

  readingCommand(program, "fork <session>")
    .description("make a session of one line of another; both share what was said so far")
    .option(
      "--at <entry>",
      "the last entry to take over; the end of the line that is shown, if none is named",
    )
    .option("--as <session>", "the id of the new session; a fresh one, if none is named")
    .option("--copy", "copy the entries, under ids of their own")
    .addHelpText("after", example("espalier fork plans", "espalier fork plans --at e17 --as plan-b"))
    .action(async (session, options) => (await import("./fork.js")).runFork(session, options, terminal));

  readingCommand(program, "rm <session...>")
    .description("delete sessions and their sidechains for good; forks of them stay whole")
    .option("--yes", "do not ask")
    .addHelpText("after", example("espalier rm plans", "espalier rm plan-a plan-b --yes"))
    .action(async (sessions, options) => (await import("./rm.js")).runRm(sessions, options, terminal));

  readingCommand(program, "tail <session>")
    .description("follow a session of a running server, each token as it comes")
    .option("-n, --lines <number>", "entries of the past to begin with", toCount, 10)
    .addHelpText("after", example("espalier tail plans", "espalier tail plans --json | jq .type"))
    .action(async (session, options) => (await import("./tail.js")).runTail(session, options, terminal));

  program
    .command("import <path...>")
    .description("take in conversations of other programs: files, or folders with all the files in them")
    .addOption(dirOption("the directory to import into"))
    .addOption(new Option("--format <format>", "what the files are; told by themselves").choices(FORMATS))
    .option("--json", "print what was imported as JSON")
    .addHelpText(
      "after",
      example(
        "espalier import ~/Downloads/chatgpt/conversations.json --dir ./data",
        "espalier import ~/.claude/projects --format claude-code",
      ),
    )
    .action(async (paths, options) => (await import("./import.js")).runImport(paths, options, terminal));

  return program;
};

/** As in `import/detect.ts`, which is loaded for an import only. */
const FORMATS = ["chatgpt", "claude-code", "pi", "librechat", "openwebui", "espalier"] satisfies FormatName[];

/** As in `export.ts`. */
const EXPORT_FORMATS = ["espalier", "markdown", "html", "chatgpt"] satisfies Format[];

const misuse = (text: string): string => {
  const reason = text
    .replace(/^error: /, "")
    .trim()
    .replace(/\.$/, "");
  return `unable to understand the command line; ${reason} (--help shows what is possible)`;
};

const dirOption = (description: string): Option =>
  new Option("--dir <directory>", description).default("./data");

/** A command that looks into a directory, or asks the server that has it. */
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
const MAX_SESSIONS = 1_000_000;

const toPort = (text: string): number => toNumber(text, MAX_PORT);
const toCount = (text: string): number => toNumber(text, MAX_LINES);
const toLimit = (text: string): number => toNumber(text, MAX_SESSIONS);

const toNumber = (text: string, highest: number): number => {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= highest) return number;
  throw new InvalidArgumentError(`It is a number from 0 to ${highest}.`);
};

const version = (): string => {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
};
