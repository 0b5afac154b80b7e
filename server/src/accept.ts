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
  /** Upgrades for other paths are left to others. */
  readonly path: string;
  /** Why a request is turned away before it becomes a socket, or null. */
  readonly turnAway: (request: IncomingMessage) => string | null;
};

/** Returns its undo; sockets that are open stay. */
export const acceptSockets = ({ http, engine, path, turnAway }: AcceptOptions): (() => void) => {
  // Deflate costs ten times the CPU of what it saves.
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname !== path) return;
    const reason = turnAway(request);
    if (reason !== null) {
      stream.end(
        `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${reason}\n`,
      );
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, request, engine));
  };

  http.on("upgrade", onUpgrade);
  return () => {
    http.off("upgrade", onUpgrade);
    sockets.close();
  };
};

const serve = (socket: WebSocket, request: IncomingMessage, engine: Engine): void => {
  const handler = engine.accept(wrap(socket), {
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress,
  });
  socket.on("message", (data, isBinary) => {
    if (isBinary) socket.close(1003, "text only");
    else handler.message(data.toString());
  });
  socket.on("pong", () => handler.heard());
  socket.on("close", () => handler.closed());
  // A close follows every error.
  socket.on("error", () => socket.terminate());
};

const wrap = (socket: WebSocket): ServerSocket => ({
  send: (text, sent) => socket.send(text, () => sent()),
  ping: () => socket.ping(),
  close: (code, reason) => socket.close(code, reason),
  terminate: () => socket.terminate(),
});
