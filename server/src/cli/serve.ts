/** `espalier serve`: runs a server until it is stopped. */
import { EspalierError } from "@espalier/shared";
import { createServer, type EspalierServer } from "../server.js";
import { CommandError } from "./failure.js";
import { say } from "./output.js";
import { createStyle } from "./style.js";
import type { Terminal } from "./terminal.js";

export type ServeOptions = {
  readonly dir?: string;
  readonly port: number;
  readonly host?: string;
  readonly json?: boolean;
};

export const runServe = async (options: ServeOptions, terminal: Terminal): Promise<void> => {
  const { dir, port, host } = options;
  const { out, err } = terminal;
  const stopped = terminal.untilStopped();
  const server = await createServer({
    ...(dir === undefined ? {} : { dir }),
    onTrouble: ({ message }) => say(err, message),
  });
  try {
    const { url } = await server.listen(port, host).catch(readable(port));
    if (options.json === true) out.write(`${JSON.stringify({ url, dir: dir ?? null, pid: process.pid })}\n`);
    else out.write(greeting(url, dir, createStyle(out).bold));
    await stopped;
    say(err, "stopping …");
  } finally {
    await server.close();
  }
};

const greeting = (url: string, dir: string | undefined, bold: (text: string) => string): string =>
  [
    `Espalier listens on ${bold(url)}`,
    dir === undefined
      ? "Sessions are kept in memory, and are gone when it stops; --dir keeps them."
      : `Sessions are kept in ${dir}`,
    "Open development mode: everyone on this machine may read and write; nobody else gets in.",
    "Ctrl-C stops it.",
    "",
  ].join("\n");

const readable =
  (port: number) =>
  (error: unknown): Awaited<ReturnType<EspalierServer["listen"]>> => {
    if (!(error instanceof EspalierError)) throw error;
    const isTaken = (error.cause as NodeJS.ErrnoException | undefined)?.code === "EADDRINUSE";
    const advice = isTaken ? `stop what uses ${port}, or set another --port` : undefined;
    if (error.code === "forbidden")
      throw new CommandError(error.message, "to serve others, use `createServer({ authenticate })`");
    throw new CommandError(error.message, advice ?? "set another --host or --port", { cause: error });
  };
