/** The chat example as its users run it: built, in a process of its own, on files of its own. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(ROOT, "examples", "chat", "dist", "server", "main.js");
const BUILD = `
  const { setup } = await import(${JSON.stringify(new URL("../../scripts/setup.mjs", import.meta.url).href)});
  await setup({ projects: ["server", "examples/chat"], withPage: true });`;

export type ChatOptions = {
  /** Tokens a second of the built-in agent. */
  readonly speed?: number;
  readonly env?: Readonly<Record<string, string>>;
};

export type ChatProcess = {
  readonly port: number;
  readonly url: string;
  readonly socketUrl: string;
  /** Ends the server at once, as a crash would; its agent lives on for a while. */
  crash(): Promise<void>;
  /** Starts it again, on the same port and files. */
  start(): Promise<void>;
  /** Stops all of it, and removes its files. */
  stop(): Promise<void>;
};

/** Builds what is out of date, as `npm start` does. */
const build = (): Promise<unknown> =>
  promisify(execFile)(process.execPath, ["--input-type=module", "--eval", BUILD], {
    cwd: ROOT,
    env: ownEnv(),
  });

/** Without what the tests' own runner has put there, and without a key that would cost somebody money. */
const ownEnv = (): NodeJS.ProcessEnv => {
  const { NODE_ENV: _, OPENAI_API_KEY: __, ...rest } = process.env;
  return rest;
};

export const startChat = async ({ speed = 400, env = {} }: ChatOptions = {}): Promise<ChatProcess> => {
  await build();
  const port = await freePort();
  const data = await mkdtemp(join(tmpdir(), "espalier-chat-"));
  const started: ChildProcess[] = [];

  const start = async (): Promise<void> => {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...ownEnv(), PORT: String(port), DATA: data, AGENT_SPEED: String(speed), ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, so that an agent that outlives its server is ended with it at last.
      detached: true,
    });
    started.push(child);
    await saying(child, "Chat is at");
  };

  const signal = async (child: ChildProcess, name: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(name);
    await exited;
  };

  await start();
  return {
    port,
    url: `http://localhost:${port}/`,
    socketUrl: `ws://127.0.0.1:${port}/espalier`,
    start,
    crash: () => signal(started.at(-1) as ChildProcess, "SIGKILL"),
    stop: async () => {
      for (const child of started) {
        await signal(child, "SIGTERM");
        endGroup(child);
      }
      await rm(data, { recursive: true, force: true });
    },
  };
};

const endGroup = ({ pid }: ChildProcess): void => {
  try {
    process.kill(-(pid as number), "SIGKILL");
  } catch {
    // It is gone already.
  }
};

/** Resolves when a process prints a text; rejects with what it said when it ends before. */
const saying = (child: ChildProcess, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = "";
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      if (said.includes(text)) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", () => reject(new Error(`the chat example ended; it said: ${said}`)));
  });

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
};
