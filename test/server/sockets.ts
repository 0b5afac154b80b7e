/** Servers and clients on real sockets, and raw sockets that do what no good client would. */
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Client, type ConnectOptions, connect, type Session, type View } from "@espalier/client";
import { createServer, type EspalierServer, type ServerOptions } from "@espalier/server";
import { PROTOCOL_VERSION, type ServerMessage } from "@espalier/shared";
import { type ClientOptions, WebSocket } from "ws";
import { until } from "../kit/until.js";
import { textOf } from "../kit/world.js";

const undos: (() => unknown)[] = [];

/** For `afterEach`: clients first, then their servers. */
export const cleanUp = async (): Promise<void> => {
  for (const undo of undos.splice(0).reverse()) await undo();
};

export const undoLater = (undo: () => unknown): void => void undos.push(undo);

export type RealServer = {
  readonly server: EspalierServer;
  readonly url: string;
  readonly port: number;
  /** The TCP connections, the oldest first. */
  readonly streams: readonly Socket[];
};

/** On a free port, on an http server whose connections a test can break. */
export const startServer = async (options: ServerOptions = {}): Promise<RealServer> => {
  const http = createHttpServer();
  const streams: Socket[] = [];
  http.on("connection", (stream) => {
    streams.push(stream);
    stream.once("close", () => streams.splice(streams.indexOf(stream), 1));
  });
  const server = await createServer({ http, ...options });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  undoLater(async () => {
    await server.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const { port } = http.address() as AddressInfo;
  return { server, url: `ws://127.0.0.1:${port}${server.path}`, port, streams };
};

export const connectTo = (url: string, options: Partial<ConnectOptions> = {}): Client => {
  const client = connect({ url, WebSocket, ...options });
  undoLater(() => client.close());
  return client;
};

/** A session with its default view, joined. */
export const openSession = async (client: Client, id = "s"): Promise<{ session: Session; view: View }> => {
  const session = client.session(id, { create: true });
  const { view } = session;
  await until(() => session.snapshot.status === "live" && !view.snapshot.isLoading);
  return { session, view };
};

/** The texts that a view shows, the oldest first. */
export const textsOf = (view: View): string[] => view.getMessages().map(({ entry }) => textOf(entry));

export const lastText = (view: View): string => textsOf(view).at(-1) ?? "";

export type RawSocket = {
  readonly socket: WebSocket;
  readonly received: readonly ServerMessage[];
  readonly closeCode: number | null;
  send(message: object): void;
};

/** A socket that was opened, and greeted unless `writer` is null. */
export const dial = async (
  url: string,
  writer: string | null = "raw",
  options: ClientOptions = {},
): Promise<RawSocket> => {
  const socket = new WebSocket(url, options);
  undoLater(() => socket.terminate());
  const received: ServerMessage[] = [];
  let closeCode: number | null = null;
  socket.on("message", (data) => received.push(JSON.parse(String(data)) as ServerMessage));
  socket.on("close", (code) => {
    closeCode = code;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => {});
  const raw: RawSocket = {
    socket,
    received,
    get closeCode() {
      return closeCode;
    },
    send: (message) => socket.send(JSON.stringify(message)),
  };
  if (writer !== null) {
    raw.send({ type: "hello", protocol: PROTOCOL_VERSION, writer });
    await until(() => received.some((message) => "type" in message && message.type === "welcome"));
  }
  return raw;
};

export const JOIN = {
  type: "join",
  n: 1,
  session: "s",
  create: true,
  lines: [{ candidates: [], walk: "newest", limit: 50 }],
};
