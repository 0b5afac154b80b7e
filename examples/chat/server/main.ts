/**
 * The chat example: a page, a server and an agent. `PORT` (4400) and `DATA` (./data) say where.
 *
 * There is no sign-in: everyone who reaches it may do everything, so it listens on loopback only.
 */
import { createServer as createHttpServer, type Server } from "node:http";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createServer, EspalierError } from "@espalier/server";
import sirv from "sirv";
import { startAgent } from "./agent-process.js";

const LOOPBACK = "127.0.0.1";
const DEFAULT_PORT = 4400;
const PAGE_PATH = fileURLToPath(new URL("../page", import.meta.url));

const fail = (reason: string): never => {
  console.error(`Unable to start; ${reason}`);
  process.exit(1);
};

const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/^unable to [^;]*; /, "");

const portOf = (text: string | undefined): number => {
  if (text === undefined || text === "") return DEFAULT_PORT;
  const port = Number(text);
  return Number.isInteger(port) && port >= 0 && port < 65_536 ? port : fail(`PORT=${text} is no port.`);
};

/** Resolves with the port; 0 asks for any free one. */
const listen = (http: Server, port: number): Promise<number> =>
  new Promise((onListening) => {
    http.once("error", (cause: NodeJS.ErrnoException) =>
      fail(cause.code === "EADDRINUSE" ? `port ${port} is taken. Set PORT to another one.` : cause.message),
    );
    http.listen(port, LOOPBACK, () => {
      const address = http.address();
      onListening(typeof address === "object" && address !== null ? address.port : port);
    });
  });

const servePage = sirv(PAGE_PATH, { etag: true });
const http = createHttpServer((request, response) =>
  servePage(request, response, () => {
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("There is nothing here.\n");
  }),
);
const dir = resolve(process.env.DATA || "data");
const port = await listen(http, portOf(process.env.PORT));
const server = await createServer({ http, dir }).catch((cause) =>
  fail(
    cause instanceof EspalierError && cause.code === "locked"
      ? `${dir} is in use: ${reasonOf(cause)}. Set DATA to another directory.`
      : reasonOf(cause),
  ),
);
const agent = startAgent(`ws://${LOOPBACK}:${port}${server.path}`);

console.log(`Chat is at http://localhost:${port}`);
console.log(`Conversations are kept in ${dir}`);
console.log("Open development mode: no sign-in, and this machine only.");

let isStopping = false;
const stop = async (): Promise<void> => {
  if (isStopping) process.exit(1);
  isStopping = true;
  await agent.stop();
  http.close();
  http.closeAllConnections();
  await server.close();
  process.exit(0);
};
process.on("SIGINT", () => void stop());
process.on("SIGTERM", () => void stop());
