// Runs programs for the commands: seen or unseen, with signals handed on, and a calm line while one works.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

const PARENT_POLL_MS = 500;
const LINE_REFRESH_MS = 1000;

/** Absolute path of something in the workspace. */
export const at = (...parts) => join(ROOT, ...parts);

/** Prints one sentence and ends the command. */
export function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Calls `onOrphaned` once the parent is gone. npm told to stop ends the shell in between, and passes nothing on. */
function watchParent(onOrphaned) {
  if (!process.env.npm_lifecycle_event) return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onOrphaned();
  }, PARENT_POLL_MS);
  return () => clearInterval(timer);
}

/** Hands signals on to a child. Returns its undo. */
function forwardSignals(child) {
  const isAtTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  // A terminal gives Ctrl-C to the whole group itself; passing it on would press it twice.
  const onInterrupt = () => isAtTerminal || child.kill("SIGINT");
  const onTerminate = () => child.kill("SIGTERM");
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  const stopWatching = watchParent(onTerminate);
  return () => {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onTerminate);
    stopWatching();
  };
}

/** Starts a program; signals that reach this process are handed on. Resolves to its exit code. */
export function run(command, args, { onStart, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, ...options });
    const stopForwarding = forwardSignals(child);
    const settle = (code) => {
      stopForwarding();
      resolve(code);
    };
    onStart?.(child);
    child.once("error", (error) => {
      process.stderr.write(`Unable to run ${command}; ${error.message}\n`);
      settle(127);
    });
    child.once("close", (code, signal) => settle(code ?? 128 + constants.signals[signal]));
  });
}

/** Runs a program with this process's own stdin, stdout and stderr. */
export const runVisibly = (command, args, options) =>
  run(command, args, { stdio: "inherit", cwd: process.cwd(), ...options });

/** Runs a program unseen; resolves to its exit code and all that it printed. */
export async function runUnseen(command, args, options) {
  const chunks = [];
  const code = await run(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    onStart: (child) => {
      child.stdout?.on("data", (chunk) => chunks.push(chunk));
      child.stderr?.on("data", (chunk) => chunks.push(chunk));
    },
  });
  return { code, output: Buffer.concat(chunks).toString() };
}

/** Shows one calm line while `work` goes on. Resolves to whether it succeeded. */
export async function step(title, work) {
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const isLive = process.stderr.isTTY;
  const draw = (text) => process.stderr.write(isLive ? `\r\x1b[K${text}` : `${text}\n`);
  draw(`${title} …`);
  const timer = isLive ? setInterval(() => draw(`${title} … ${seconds()}`), LINE_REFRESH_MS) : undefined;
  const { code, output } = await work();
  clearInterval(timer);
  const outcome = code === 0 ? "done in" : "failed after";
  draw(`${title} … ${outcome} ${seconds()}${isLive ? "\n" : ""}`);
  if (code !== 0) process.stderr.write(output.endsWith("\n") ? output : `${output}\n`);
  return code === 0;
}
