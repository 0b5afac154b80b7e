/**
 * The command line as a child process: what `npm test` has built (after an edit: `npm run build`), with
 * real files and real signals. It is waited for by what it says, never by time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What the bin runs. */
export const MAIN = fileURLToPath(new URL("../../server/dist/main.js", import.meta.url));

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Running = {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves with what matches in its output, once it does. Rejects where it ends before. */
  said(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Resolves when it has ended by itself. */
  ended: Promise<Ended>;
  /** Sends a signal, and resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
};

export type RunOptions = { readonly cwd?: string; readonly env?: Record<string, string> };

const running = new Set<Running>();
const folders: string[] = [];

/** Starts `espalier` with these arguments. */
export const start = (args: readonly string[], { cwd, env = {} }: RunOptions = {}): Running => {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is not built; npm run build`);
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, TZ: "UTC", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const checks = new Set<() => void>();
  const check = (): void => {
    for (const each of [...checks]) each();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    check();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    check();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => {
      running.delete(started);
      resolve({ code, stdout, stderr });
    });
  });
  const started: Running = {
    child,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = stdout.match(pattern) ?? stderr.match(pattern);
          if (match === null) return;
          checks.delete(look);
          resolve(match);
        };
        checks.add(look);
        void ended.then(() => reject(new Error(`ended before it said ${pattern}:\n${stdout}\n${stderr}`)));
        look();
      }),
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
  running.add(started);
  return started;
};

/** Runs `espalier` to its end. */
export const run = (args: readonly string[], options?: RunOptions): Promise<Ended> =>
  start(args, options).ended;

export type Served = Running & { readonly url: string; readonly port: number };

/** A server of its own process, on a free port unless one is named; resolves when it listens. */
export const serve = async (args: readonly string[] = [], port = 0): Promise<Served> => {
  const started = start(["serve", "--port", String(port), ...args]);
  const [, url = ""] = await started.said(/listens on (ws:\/\/\S+)/);
  return Object.defineProperties(started, {
    url: { value: url },
    port: { value: Number(new URL(url).port) },
  }) as Served;
};

/** An empty folder, removed by `cleanUp`. */
export const createFolder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "espalier-test-"));
  folders.push(dir);
  return dir;
};

/** For `afterEach`: ends what still runs, and removes the folders. */
export const cleanUp = async (): Promise<void> => {
  await Promise.all([...running].map((each) => each.stop("SIGKILL")));
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
};
