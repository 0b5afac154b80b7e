/**
 * A server to run or to attach to one's own: wires http, sockets, engine and store together.
 *
 * Without `authenticate` it is in open development mode: everyone may do everything, so it listens on
 * loopback only, and turns away pages of other origins.
 */
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Epoch,
  EspalierError,
  isPrincipalId,
  type PrincipalId,
  type Runtime,
  refusal,
} from "@espalier/shared";
import { acceptSockets } from "./accept.js";
import { createEngine } from "./engine.js";
import type { Authenticate } from "./principal.js";
import { createRuntime } from "./runtime.js";
import { createFileStore } from "./store/file/file-store.js";
import type { LogStore } from "./store/log-store.js";
import { createMemoryStore } from "./store/memory.js";

export type ServerOptions = {
  /** Keeps the sessions as files below this directory; in memory without it (D8). */
  readonly dir?: string;
  /** Who a connection acts as. Without it: open development mode, on loopback only. */
  readonly authenticate?: Authenticate;
  /** An http server of one's own to attach to; `listen` is then its owner's business. */
  readonly http?: HttpServer;
  /** The path of the sockets; `/espalier` by default. */
  readonly path?: string;
  /** How long a writer may be away before what it left open is ended; 30,000 ms by default (S7). */
  readonly graceMs?: number;
};

export type EspalierServer = {
  readonly isOpen: boolean;
  readonly path: string;
  /** Listens, and resolves with where. @throws EspalierError where the port is taken. */
  listen(port: number, host?: string): Promise<{ host: string; port: number; url: string }>;
  /** Closes connections (their clients come back) and writes behind what is pending. Twice is harmless. */
  close(): Promise<void>;
};

const DEFAULT_GRACE_MS = 30_000;
const DEFAULT_PATH = "/espalier";
const LOOPBACK = "127.0.0.1";

/**
 * @example
 * const server = await createServer({ dir: "./data" });
 * console.log((await server.listen(4400)).url);
 */
export const createServer = async (options: ServerOptions = {}): Promise<EspalierServer> => {
  const { dir, authenticate, path = DEFAULT_PATH, graceMs = DEFAULT_GRACE_MS } = options;
  const runtime = createRuntime();
  const store = await openStore(dir, runtime);
  const isOpen = authenticate === undefined;
  const engine = await createEngine({ store, runtime, graceMs, authenticate: authenticate ?? openMode });
  const http = options.http ?? createHttpServer(notFound);
  const stopAccepting = acceptSockets({
    http,
    engine,
    path,
    turnAway: isOpen ? turnAwayStrangers : () => null,
  });
  let closing: Promise<void> | null = null;

  const close = async (): Promise<void> => {
    stopAccepting();
    engine.close();
    if (options.http === undefined) {
      http.close();
      http.closeAllConnections();
    }
    await store.close();
  };

  return {
    isOpen,
    path,
    listen: async (port, host = LOOPBACK) => {
      if (isOpen && !isLoopback(host))
        throw new EspalierError(
          "forbidden",
          `unable to listen on ${host}; without \`authenticate\` the server is open to everyone, so it listens on loopback only`,
        );
      await listening(http, port, host);
      const address = http.address() as AddressInfo;
      return {
        host,
        port: address.port,
        url: `ws://${host.includes(":") ? `[${host}]` : host}:${address.port}${path}`,
      };
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
};

const openStore = async (dir: string | undefined, runtime: Runtime): Promise<LogStore> => {
  const newEpoch = () => runtime.newId() as Epoch;
  return dir === undefined ? createMemoryStore({ newEpoch }) : createFileStore({ dir, newEpoch, runtime });
};

/** The token names the principal, so that several can be tried without any set-up. */
const openMode: Authenticate = ({ token = "local" }) =>
  isPrincipalId(token)
    ? { id: token as PrincipalId }
    : refusal("unauthorized", "unable to sign in; in open mode the token is the name of the principal");

/** A page of another origin could reach a loopback server through its reader's browser. */
const turnAwayStrangers = ({ headers, socket }: IncomingMessage): string | null => {
  if (!isLoopback(socket.remoteAddress ?? "")) return "open development mode serves loopback only";
  const { origin } = headers;
  if (origin === undefined || isLoopback(hostOf(origin))) return null;
  return "open development mode serves pages of this machine only";
};

const hostOf = (origin: string): string => {
  try {
    return new URL(origin).hostname.replace(/^\[|\]$/g, "");
  } catch {
    return "";
  }
};

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host.startsWith("127.") || host.startsWith("::ffff:127.");

const listening = (http: HttpServer, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => {
      const reason = cause.code === "EADDRINUSE" ? `port ${port} is taken; set another one` : cause.message;
      reject(new EspalierError("unavailable", `unable to listen; ${reason}`, { cause }));
    };
    http.once("error", onError);
    http.listen(port, host, () => {
      http.off("error", onError);
      resolve();
    });
  });

const notFound = (
  _request: IncomingMessage,
  response: { writeHead(code: number): void; end(text: string): void },
): void => {
  response.writeHead(404);
  response.end("There is nothing here but the socket.\n");
};
