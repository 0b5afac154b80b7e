/**
 * Sockets in memory: what is sent waits until it is delivered, so a test decides what arrives, in which
 * order over all connections, and what is lost when a connection breaks.
 */
import type { ServerSocket, SocketHandler } from "@espalier/server";

export type Accept = (socket: ServerSocket, writer: string) => SocketHandler;

export type Pair = {
  /** Which client opened it. */
  readonly owner: string;
  readonly isOpen: boolean;
  /** Messages on their way, to the server and to the client. */
  readonly toServer: number;
  readonly toClient: number;
  deliverToServer(): void;
  deliverToClient(): void;
  /** Loses what is on its way, and tells both ends. */
  break(): void;
  /** While it is set the client's end takes nothing: a slow reader. */
  isHeld: boolean;
  /** The client's end hears of nothing any more, and nothing that it sends arrives. */
  silence(): void;
};

export type Network = {
  readonly pairs: readonly Pair[];
  /** Connections that are tried while it is down fail. */
  isDown: boolean;
  /** A WebSocket constructor for one client. */
  socketFor(owner: string): new (url: string) => unknown;
  /** The server's end says something that no server would. */
  say(owner: string, text: string): void;
  /** The next text that a client sends throws. */
  failSends(owner: string): void;
  /** Every text that was delivered to clients, newest last. */
  readonly log: { readonly to: "server" | "client"; readonly owner: string; readonly text: string }[];
};

export const createNetwork = (
  getAccept: () => Accept | null,
  defer: (callback: () => void) => void,
): Network => {
  const pairs: Pair[] = [];
  const log: Network["log"] = [];

  const sayById = new Map<string, (text: string) => void>();
  const failing = new Set<string>();

  const network: Network = {
    pairs,
    log,
    isDown: false,
    say: (owner, text) => sayById.get(owner)?.(text),
    failSends: (owner) => void failing.add(owner),
    socketFor: (owner) =>
      class {
        onopen: ((event: unknown) => void) | null = null;
        onmessage: ((event: { data: unknown }) => void) | null = null;
        onclose: ((event: { code: number; reason: string }) => void) | null = null;
        onerror: ((event: unknown) => void) | null = null;
        send: (text: string) => void = () => {};
        close: () => void = () => {};

        constructor() {
          const accept = getAccept();
          if (network.isDown || accept === null) {
            defer(() => this.onclose?.({ code: 1006, reason: "" }));
            return;
          }
          this.#open(accept);
        }

        #open(accept: Accept): void {
          const toServer: string[] = [];
          const toClient: { text: string; sent: () => void }[] = [];
          let isOpen = true;
          let isSilent = false;
          const end = (code: number): void => {
            if (!isOpen) return;
            isOpen = false;
            toServer.length = 0;
            toClient.length = 0;
            pairs.splice(pairs.indexOf(pair), 1);
            handler.closed();
            if (!isSilent) this.onclose?.({ code, reason: "" });
          };
          const handler = accept(
            {
              send: (text, sent) => void (isOpen && toClient.push({ text, sent })),
              ping: () => void (isSilent || defer(() => handler.heard())),
              // What was sent before a close still arrives, as on a real socket.
              close: (code) =>
                defer(() => {
                  while (toClient.length > 0 && !isSilent) pair.deliverToClient();
                  end(code);
                }),
              terminate: () => end(1006),
            },
            owner,
          );
          this.send = (text) => {
            if (failing.delete(owner)) throw new Error("the socket is broken");
            if (isOpen && !isSilent) toServer.push(text);
          };
          sayById.set(owner, (text) => this.onmessage?.({ data: text }));
          this.close = () => end(1000);
          const pair: Pair = {
            owner,
            get isOpen() {
              return isOpen;
            },
            get toServer() {
              return toServer.length;
            },
            get toClient() {
              return isSilent || pair.isHeld ? 0 : toClient.length;
            },
            isHeld: false,
            deliverToServer: () => {
              const text = toServer.shift();
              if (text === undefined) return;
              log.push({ to: "server", owner, text });
              handler.message(text);
            },
            deliverToClient: () => {
              const message = toClient.shift();
              if (message === undefined) return;
              message.sent();
              log.push({ to: "client", owner, text: message.text });
              this.onmessage?.({ data: message.text });
            },
            break: () => end(1006),
            silence: () => {
              isSilent = true;
            },
          };
          pairs.push(pair);
          defer(() => void (isOpen && this.onopen?.({})));
        }
      },
  };
  return network;
};
