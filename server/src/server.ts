/**
 * A server to run or to attach to one's own: wires http, sockets, engine and store together.
 *
 * Without `authenticate` it is in open development mode: everyone may do everything, so it listens on
 * loopback only, and turns away pages of other origins.
 */
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { Server as TlsServer } from "node:tls";
import { type Epoch, EspalierError, type Runtime } from "@espalier/shared";
import { acceptSockets } from "./accept.js";
import { createEngine } from "./engine.js";
import { authenticateAnyone, isLoopback, turnAwayStrangers } from "./open-mode.js";
import type { Authenticate } from "./principal.js";
import { createRuntime } from "./runtime.js";
import { removeAddress, writeAddress } from "./store/file/address.js";
import { createNodeDisk } from "./store/file/disk.js";
import { createFileStore } from "./store/file/file-store.js";
import type { LogStore } from "./store/log-store.js";
import { createMemoryStore } from "./store/memory.js";

export type ServerOptions = {
  /** Keeps the sessions as files below this directory; in memory without it (D8). */
  readonly dir?: string;
  /** Who a connection acts as. Without it: open development mode, on loopback only. */
  readonly authenticate?: Authenticate;
  /** An http server of one's own to attach to; to listen is then its owner's business. */
  readonly http?: HttpServer;
  /** The path of the sockets; `/espalier` by default. */
  readonly path?: string;
  /** How long a writer may be away before what it left open is ended; 30,000 ms by default (S7). */
  readonly graceMs?: number;
  /** Hears what went wrong behind the scenes; nothing is lost by it yet. */
  readonly onTrouble?: (error: Error) => void;
};

export type EspalierServer = {
  /** In open development mode: there was no `authenticate`. */
  readonly isOpen: boolean;
  /** Where on the http server the sockets are. */
  readonly path: string;
  /** Listens, and resolves with where. @throws EspalierError where the port is taken, say. */
  listen(port: number, host?: string): Promise<{ host: string; port: number; url: string }>;
  /**
   * Finishes what it was told so far, closes its connections (their clients come back) and gives up the
   * directory. Twice is harmless.
   */
  close(): Promise<void>;
};

const DEFAULT_GRACE_MS = 30_000;
const DEFAULT_PATH = "/espalier";
const LOOPBACK = "127.0.0.1";

/**
 * Opens the store, and takes sockets from its own http server or from yours.
 *
 * @throws EspalierError `locked` where another process has the directory, `damaged` or `newer_version`
 *   where it cannot be opened
 * @example
 * const server = await createServer({ dir: "./data" });
 * console.log((await server.listen(4400)).url);
 */
export const createServer = async (options: ServerOptions = {}): Promise<EspalierServer> => {
  const {
    dir,
    authenticate,
    path = DEFAULT_PATH,
    graceMs = DEFAULT_GRACE_MS,
    onTrouble = () => {},
  } = options;
  const isOpen = authenticate === undefined;
  const runtime = createRuntime();
  const { store, lock } = await openStore(dir, runtime, onTrouble);
  const engine = await createEngine({
    store,
    runtime,
    graceMs,
    authenticate: authenticate ?? authenticateAnyone,
    onTrouble,
  }).catch(async (cause: unknown) => {
    await store.close();
    throw cause;
  });
  const http = options.http ?? createHttpServer(notFound);
  const turnAway = isOpen ? turnAwayStrangers : () => null;
  const acceptor = acceptSockets({ http, engine, path, turnAway });
  const disk = createNodeDisk();
  let noting = Promise.resolve();
  let closing: Promise<void> | null = null;

  /** So that the command line finds the server by its directory. */
  const noteAddress = (): void => {
    const url = urlOf(http, path);
    if (dir === undefined || lock === null || url === null || closing !== null) return;
    noting = writeAddress(disk, dir, { url, lock }).catch(onTrouble);
  };
  if (http.listening) noteAddress();
  else http.on("listening", noteAddress);

  const close = async (): Promise<void> => {
    http.off("listening", noteAddress);
    acceptor.stop();
    if (options.http === undefined) http.close();
    await engine.close();
    if (options.http === undefined) http.closeAllConnections();
    await acceptor.ended();
    await noting;
    if (dir !== undefined) await removeAddress(disk, dir).catch(onTrouble);
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
      const bound = await listening(http, port, host);
      // Later ones, such as too many open files, end nothing.
      if (options.http === undefined) http.on("error", onTrouble);
      await noting;
      return { host, port: bound, url: urlFor(http, host, bound, path) };
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
};

const openStore = async (
  dir: string | undefined,
  runtime: Runtime,
  onTrouble: (error: Error) => void,
): Promise<{ store: LogStore; lock: string | null }> => {
  const newEpoch = () => runtime.newId() as Epoch;
  if (dir === undefined) return { store: createMemoryStore({ newEpoch }), lock: null };
  const store = await createFileStore({ dir, newEpoch, runtime, onTrouble });
  return { store, lock: store.lock };
};

/** Resolves with the port. */
const listening = (http: HttpServer, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => {
      http.off("listening", onListening);
      const reason = cause.code === "EADDRINUSE" ? "the port is taken" : cause.message;
      reject(new EspalierError("unavailable", `unable to listen on ${host}:${port}; ${reason}`, { cause }));
    };
    const onListening = (): void => {
      http.off("error", onError);
      const address = http.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    };
    http.once("error", onError);
    http.once("listening", onListening);
    http.listen(port, host);
  });

/** Null where it listens on no port. */
const urlOf = (http: HttpServer, path: string): string | null => {
  const address = http.address();
  if (typeof address !== "object" || address === null) return null;
  const isAnywhere = address.address === "::" || address.address === "0.0.0.0";
  return urlFor(http, isAnywhere ? LOOPBACK : address.address, address.port, path);
};

const urlFor = (http: HttpServer, host: string, port: number, path: string): string => {
  const scheme = http instanceof TlsServer ? "wss" : "ws";
  const name = host.includes(":") ? `[${host}]` : host;
  return `${scheme}://${name}:${port}${path === "/" ? "" : path}`;
};

const notFound = (_request: IncomingMessage, response: ServerResponse): void => {
  response.writeHead(404, { "content-type": "text/plain" });
  response.end("There is nothing here but the socket.\n");
};
