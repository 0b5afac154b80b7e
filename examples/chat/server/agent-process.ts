/** Keeps one agent running as a child process, until it is stopped. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const AGENT_PATH = fileURLToPath(new URL("../agent/main.js", import.meta.url));
const RESTART_MS = 1000;
const STOP_MS = 3000;

export type AgentProcess = {
  /** Resolves when it has ended. */
  stop(): Promise<void>;
};

export const startAgent = (url: string): AgentProcess => {
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;
  let child = start();

  function start(): ChildProcess {
    const started = fork(AGENT_PATH, { env: { ...process.env, ESPALIER_URL: url } });
    started.once("exit", (code, signal) => {
      if (isStopping) return;
      console.error(`The agent ended (${signal ?? code}); starting it again.`);
      timer = setTimeout(() => {
        child = start();
      }, RESTART_MS);
    });
    return started;
  }

  return {
    stop: () => {
      isStopping = true;
      clearTimeout(timer);
      return ended(child);
    },
  };
};

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), STOP_MS).unref();
  });
