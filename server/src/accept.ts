/** Real sockets: takes upgrades from an http server and hands each to the engine. */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { MESSAGE_BYTES } from "@espalier/shared";
import { type WebSocket, WebSocketServer } from "ws";
import type { Engine } from "./engine.js";
import type { ServerSocket } from "./socket.js";

export type AcceptOptions = {
  readonly http: Server;
  readonly engine: Engine;
  /** Upgrades for other paths are left to others, and turned away where there are none. */
  readonly path: string;
  /** Why a request is turned away before it becomes a socket, or null. */
  readonly turnAway: (request: IncomingMessage) => string | null;
};

export type Acceptor = {
  /** Takes no more sockets; those that are open stay. */
  stop(): void;
  /** Resolves when the last socket is gone. One that was closed is given up after a while. */
  ended(): Promise<void>;
};

/** How long a peer may take to answer a close. */
const CLOSE_MS = 3_000;

export const acceptSockets = ({ http, engine, path, turnAway }: AcceptOptions): Acceptor => {
  // Not a literal: its types do not know `closeTimeout` yet.
  const options = {
    noServer: true,
    maxPayload: MESSAGE_BYTES,
    // Deflate costs ten times the CPU of what it saves.
    perMessageDeflate: false,
    closeTimeout: CLOSE_MS,
  };
  const sockets = new WebSocketServer(options);

  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    if (pathOf(request) !== path) {
      if (http.listenerCount("upgrade") === 1) refuse(stream, "404 Not Found", `the socket is at ${path}`);
      return;
    }
    const reason = turnAway(request);
    if (reason !== null) return refuse(stream, "403 Forbidden", reason);
    sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, request, engine));
  };

  http.on("upgrade", onUpgrade);
  return {
    stop: () => void http.off("upgrade", onUpgrade),
    ended: async () => {
      await Promise.all([...sockets.clients].map(gone));
    },
  };
};

/** By hand: a path that is no part of a URL must not throw. */
const pathOf = ({ url = "/" }: IncomingMessage): string => url.split("?", 1)[0] as string;

const refuse = (stream: Duplex, status: string, reason: string): void => {
  stream.on("error", () => stream.destroy());
  stream.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${reason}\n`);
};

const gone = (socket: WebSocket): Promise<void> =>
  new Promise((resolve) => void socket.once("close", () => resolve()));

const serve = (socket: WebSocket, request: IncomingMessage, engine: Engine): void => {
  const handler = engine.accept(wrap(socket), {
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress,
  });
  socket.on("message", (data, isBinary) => {
    if (!isBinary) return handler.message(data.toString());
    handler.closed();
    socket.close(1003, "text only");
  });
  socket.on("pong", () => handler.heard());
  socket.on("close", () => handler.closed());
  // What cannot be read has been answered with a close; that, or the end of the stream, follows.
  socket.on("error", () => handler.closed());
};

const wrap = (socket: WebSocket): ServerSocket => ({
  send: (text, sent) => socket.send(text, () => sent()),
  ping: () => socket.ping(),
  close: (code, reason) => socket.close(code, reason),
  terminate: () => socket.terminate(),
});
