#!/usr/bin/env node
/** The command line's composition root: hands the real world to `cli/program.ts`. */
import { createInterface } from "node:readline";
import { createOutput } from "./cli/output.js";
import { runCommandLine } from "./cli/program.js";
import { createRuntime } from "./runtime.js";

const INTERRUPTED = 130;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The first signal asks, the second insists. */
const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    let isAsked = false;
    for (const signal of SIGNALS)
      process.on(signal, () => {
        if (isAsked) process.exit(INTERRUPTED);
        isAsked = true;
        resolve();
      });
  });

/** An end of the input, or Ctrl-C, is no answer. */
const ask = (question: string): Promise<string | null> => {
  if (!process.stdin.isTTY) return Promise.resolve(null);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.on("close", () => resolve(""));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
};

process.exitCode = await runCommandLine(process.argv.slice(2), {
  out: createOutput(process.stdout, process.env),
  err: createOutput(process.stderr, process.env),
  runtime: createRuntime(),
  untilStopped,
  ask,
});
