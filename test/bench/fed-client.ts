/** A client that is fed frames by hand: what a page does with what it receives, without a network. */
import { type Client, connect, type Session, type View } from "@espalier/client";
import {
  type Entry,
  type EntryId,
  type LogRecord,
  PROTOCOL_VERSION,
  type PrincipalId,
  type Runtime,
  type Seq,
} from "@espalier/shared";

export type FedClient = {
  readonly client: Client;
  readonly session: Session;
  readonly view: View;
  /** Hands one frame of records to the client, as the socket would. */
  feed(records: readonly LogRecord[]): void;
  /** The text of the frame, to feed later. */
  frame(records: readonly LogRecord[]): string;
  feedText(text: string): void;
  close(): void;
};

/** Timers never fire and deferred work runs when asked: only what a frame costs is measured. */
const idleRuntime = (deferred: (() => void)[]): Runtime => {
  let ids = 0;
  return {
    now: () => 1_750_000_000_000,
    elapsed: () => 0,
    random: () => 0.5,
    newId: () => {
      ids += 1;
      return `id${ids}`;
    },
    setTimer: () => () => {},
    defer: (callback) => void deferred.push(callback),
  };
};

export const messageEntry = (
  index: number,
  parent: number | null,
  text: string,
  more: Partial<Entry> = {},
): Entry =>
  ({
    kind: "entry",
    id: `e${index}` as EntryId,
    parentId: parent === null ? null : (`e${parent}` as EntryId),
    seq: (index + 1) as Seq,
    rev: (index + 1) as Seq,
    time: 1_750_000_000_000 + index,
    author: "ann" as PrincipalId,
    status: "complete",
    size: 0,
    type: "message",
    role: index % 2 === 0 ? "user" : "assistant",
    parts: [{ type: "text", text }],
    ...more,
  }) as Entry;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Joined to a session whose window holds these entries, all of which the view shows. */
export const createFedClient = async (entries: readonly Entry[]): Promise<FedClient> => {
  const deferred: (() => void)[] = [];
  let socket: { onopen: (() => void) | null; onmessage: ((event: { data: string }) => void) | null } | null =
    null;
  const sent: string[] = [];
  class FedSocket {
    onopen: (() => void) | null = null;
    onmessage: ((event: { data: string }) => void) | null = null;
    onclose = null;
    onerror = null;
    constructor() {
      socket = this;
    }
    send(text: string): void {
      sent.push(text);
    }
    close(): void {}
  }
  const client = connect({ url: "ws://fed", WebSocket: FedSocket, runtime: idleRuntime(deferred) });
  const session = client.session("s");
  const { view } = session;
  await turn();
  const give = (message: unknown): void => socket?.onmessage?.({ data: JSON.stringify(message) });
  (socket as unknown as { onopen: () => void }).onopen();
  give({ type: "welcome", protocol: PROTOCOL_VERSION, principal: "ann", graceMs: 30_000 });
  await turn();
  for (const run of deferred.splice(0)) run();
  const join = sent
    .map((text) => JSON.parse(text) as { type: string; n: number })
    .find(({ type }) => type === "join");
  const last = entries.at(-1);
  give({
    type: "joined",
    n: join?.n,
    ch: 1,
    session: "s",
    epoch: "epoch",
    head: last?.seq ?? 0,
    mode: "fresh",
    lines: [{ leaf: last?.id ?? null }],
    entries,
    alternatives: [],
    open: [],
    runs: [],
    registers: [],
    records: [],
  });
  await turn();
  const frame = (records: readonly LogRecord[]): string =>
    JSON.stringify({ records, ch: 1, upto: records.at(-1)?.seq ?? 0 });
  const feedText = (text: string): void => socket?.onmessage?.({ data: text });
  return {
    client,
    session,
    view,
    frame,
    feedText,
    feed: (records) => feedText(frame(records)),
    close: () => client.close(),
  };
};
