/**
 * What a server tells of a session beside its entries, as it stands in the log: where it comes from, its
 * registers, and its runs, as far as a join names them. Views have no use for most of it, so the client does not
 * give it; this asks on a connection of its own.
 */
import {
  type ClientMessage,
  type ErrorBody,
  PROTOCOL_VERSION,
  type Register,
  type Run,
  refusal,
  type ServerMessage,
  type SessionId,
  type WriterId,
} from "@espalier/shared";
import { WebSocket } from "ws";
import type { LogHeader } from "../store/log-store.js";
import { errorOf } from "./failure.js";

type RemoteFacts = {
  readonly header: LogHeader;
  readonly registers: readonly Register[];
  /** Those that have not ended, and those of the newest entries. */
  readonly runs: readonly Run[];
};

type Address = { readonly url: string; readonly token: string | undefined };
type Of<Type extends string> = Extract<ServerMessage, { readonly type: Type }>;

const LIMIT = 1000;

/** @throws CommandError where there is no such session, or it may not be read */
export const readRemoteFacts = async (
  address: Address,
  id: SessionId,
  writer: string,
): Promise<RemoteFacts> => {
  const socket = new WebSocket(address.url);
  try {
    const next = messagesOf(socket, id);
    await opened(socket, id);
    const say = (message: ClientMessage): void => socket.send(JSON.stringify(message));
    const { token } = address;
    say({
      type: "hello",
      protocol: PROTOCOL_VERSION,
      writer: writer as WriterId,
      ...(token === undefined ? {} : { token }),
    });
    say({
      type: "join",
      n: 1,
      session: id,
      lines: [{ candidates: [], walk: "newest", limit: LIMIT }],
    });
    const joined = await next("joined");
    const registers = [...joined.registers];
    let after: string | undefined;
    for (let more = joined.hasMoreRegisters === true; more; ) {
      say({
        type: "registers",
        n: 2,
        ch: joined.ch,
        limit: LIMIT,
        ...(after === undefined ? {} : { after }),
      });
      const page = await next("registers");
      registers.push(...page.registers);
      after = page.registers.at(-1)?.key;
      more = page.more && after !== undefined;
    }
    return { header: headerOf(joined), registers, runs: joined.runs };
  } finally {
    socket.close();
  }
};

const headerOf = ({ createdAt, origin, inherited }: Of<"joined">): LogHeader => ({
  createdAt: createdAt ?? 0,
  ...(origin === undefined ? {} : { origin }),
  ...(inherited === 0 ? {} : { inherited }),
});

const lost = (id: string, reason: string): ErrorBody =>
  refusal("offline", `unable to read ${id}; the connection ended ${reason}`);

const opened = (socket: WebSocket, id: string): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", ({ message }) => reject(errorOf(lost(id, `(${message})`))));
  });

/** Gives the next message of a type; what else comes meanwhile is of no interest. */
const messagesOf = (socket: WebSocket, id: string) => {
  let waiting: { type: string; resolve(message: ServerMessage): void; reject(error: unknown): void } | null =
    null;
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as ServerMessage;
    if (!("type" in message) || waiting === null) return;
    if (message.type === "refused") waiting.reject(errorOf(message.error));
    else if (message.type === waiting.type) waiting.resolve(message);
  });
  socket.on("close", () => waiting?.reject(errorOf(lost(id, "meanwhile"))));
  return <Type extends string>(type: Type): Promise<Of<Type>> =>
    new Promise((resolve, reject) => {
      waiting = { type, resolve: resolve as (message: ServerMessage) => void, reject };
    });
};
