/** The server without sockets or files: it is handed both. */
import { type ErrorBody, type Runtime, refusal } from "@espalier/shared";
import { type Connection, createConnection } from "./connection.js";
import { createForest } from "./forest.js";
import { createHub } from "./hub.js";
import type { Authenticate, AuthRequest } from "./principal.js";
import type { ServerSocket, SocketHandler } from "./socket.js";
import type { LogStore } from "./store/log-store.js";

export type Engine = {
  /** Serves a socket that has just been accepted; its events go to the handler. */
  accept(socket: ServerSocket, request: Omit<AuthRequest, "token">): SocketHandler;
  /** Connections that are open. */
  readonly connections: number;
  /**
   * Finishes what it was told so far, then ends every connection with 1012: the clients come back by
   * themselves (J6). Calling it twice is harmless.
   */
  close(): Promise<void>;
};

export type EngineOptions = {
  readonly store: LogStore;
  /** Clock, timers and chance: `createRuntime()` gives the real ones. */
  readonly runtime: Runtime;
  readonly authenticate: Authenticate;
  /** How long a writer may be away before what it left open is ended (S7). */
  readonly graceMs: number;
  /** Hears what went wrong on this side: an `authenticate` that threw, say. */
  readonly onTrouble?: (error: Error) => void;
};

const SERVICE_RESTART = 1012;
/** A disk that takes longer than this is not waited for. */
const FINISH_MS = 4_000;

/** Sessions with something unfinished are opened before it returns (S7). */
export const createEngine = async ({
  store,
  runtime,
  authenticate,
  graceMs,
  onTrouble = () => {},
}: EngineOptions): Promise<Engine> => {
  const hub = createHub({ store, runtime, graceMs, onTrouble });
  const forest = createForest({ hub, store, runtime });
  const connections = new Set<Connection>();
  await hub.resume();
  let closing: Promise<void> | null = null;

  const turn = (): Promise<void> => new Promise((resolve) => runtime.defer(resolve));

  const finish = async (): Promise<void> => {
    await forest.settled();
    await hub.settled();
    // Acknowledgements of appends go out a turn later.
    await turn();
    await turn();
  };

  const close = async (): Promise<void> => {
    for (const connection of connections) connection.stopHearing();
    let cancelTimer = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancelTimer = runtime.setTimer(FINISH_MS, resolve);
    });
    await Promise.race([finish(), late]);
    cancelTimer();
    const error: ErrorBody = refusal("unavailable", "unable to go on; the server is shutting down");
    for (const connection of [...connections]) connection.close(error, SERVICE_RESTART);
    hub.close();
  };

  return {
    accept: (socket, request) => {
      const connection = createConnection({
        socket,
        request,
        hub,
        forest,
        runtime,
        authenticate,
        graceMs,
        onTrouble,
        onClosed: () => void connections.delete(connection),
      });
      connections.add(connection);
      return connection;
    },
    get connections() {
      return connections.size;
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
};
