/** Connects to a running server by the public client, once: a command that cannot reach it says so and ends. */
import { type Client, connect } from "@espalier/client";
import type { Runtime } from "@espalier/shared";
import { WebSocket } from "ws";
import { CommandError, errorOf } from "./failure.js";

export type ReachOptions = {
  readonly url: string;
  readonly token: string | undefined;
  readonly runtime: Runtime;
};

/** Resolves with a client that is connected. @throws CommandError */
export const reach = async ({ url, token, runtime }: ReachOptions): Promise<Client> => {
  if (!/^wss?:\/\/[^/]/.test(url))
    throw new CommandError(`unable to connect to ${url}; it is no ws:// or wss:// address`);
  let reason = "";
  const client = connect({
    url,
    runtime,
    WebSocket: socketThatTells((message) => {
      reason = message;
    }),
    ...(token === undefined ? {} : { token }),
  });
  try {
    await connected(client, url, () => reason);
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
};

const connected = (client: Client, url: string, getReason: () => string): Promise<void> =>
  new Promise((resolve, reject) => {
    const look = (): void => {
      const { status, error } = client.snapshot;
      if (status === "connecting") return;
      undo();
      if (status === "connected") return resolve();
      if (status === "refused" && error !== null) return reject(errorOf(error));
      const reason = getReason() || error?.message || "the server did not answer";
      reject(new CommandError(`unable to connect to ${url}; ${reason}`, "see that the server runs there"));
    };
    const undo = client.subscribe(look);
    look();
  });

/** The interface of sockets in browsers does not say why one could not be opened; `ws` does. */
const socketThatTells = (tell: (reason: string) => void): unknown =>
  function TellingSocket(url: string): WebSocket {
    const socket = new WebSocket(url);
    socket.on("error", ({ message, code }: NodeJS.ErrnoException) => tell(message || (code ?? "")));
    return socket;
  };
