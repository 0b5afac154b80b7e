/**
 * A client that speaks the protocol itself, word for word: it keeps nothing right by itself, so a test can
 * say what no good client would.
 */
import {
  createTree,
  type Draft,
  type Json,
  type LineAsk,
  PROTOCOL_VERSION,
  type PublishItem,
  type RecordsMessage,
  type RunRequest,
  type ServerMessage,
  type Tree,
} from "@espalier/shared";
import type { Pair } from "./network.js";
import type { World } from "./world.js";

type Typed = Extract<ServerMessage, { type: string }>;
export type Answer<T extends Typed["type"]> = Extract<Typed, { type: T }>;
export type RawClient = {
  readonly name: string;
  /** Everything that came, oldest first. */
  readonly received: readonly ServerMessage[];
  /** The code that the socket was closed with, or null. */
  readonly closeCode: number | null;
  /** Its end of the network; undefined after it was closed. */
  readonly pair: Pair | undefined;
  send(message: object): void;
  sendText(text: string): void;
  /** Sends a command, of whichever shape, and returns its number; the answer comes when the world settles. */
  post(message: object): number;
  /** What a command was answered with. @throws where it was answered more than once */
  answer(n: number): Typed | undefined;
  /** Posts, settles, and gives the answer. */
  ask(message: object): Promise<Typed>;
  /** Those of one type, oldest first. */
  all<T extends Typed["type"]>(type: T): Answer<T>[];
  frames(ch?: number): RecordsMessage[];
  close(): void;
};

type Socket = {
  onopen: (() => void) | null;
  onmessage: ((event: { data: string }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  send(text: string): void;
  close(): void;
};

/** Opens a socket and says nothing. */
export const dial = async (world: World, name: string): Promise<RawClient> => {
  const before = new Set(world.network.pairs);
  const socket = new (world.network.socketFor(name))("ws://world") as Socket;
  const pair = world.network.pairs.find((candidate) => !before.has(candidate));
  const received: ServerMessage[] = [];
  let closeCode: number | null = null;
  let nextN = 1;
  socket.onmessage = ({ data }) => void received.push(JSON.parse(data) as ServerMessage);
  socket.onclose = ({ code }) => {
    closeCode = code;
  };
  await world.settle();

  const typed = (): Typed[] => received.filter((message): message is Typed => "type" in message);
  const client: RawClient = {
    name,
    received,
    get closeCode() {
      return closeCode;
    },
    get pair() {
      return pair?.isOpen === true ? pair : undefined;
    },
    send: (message) => socket.send(JSON.stringify(message)),
    sendText: (text) => socket.send(text),
    post: (message) => {
      const n = nextN;
      nextN += 1;
      client.send({ ...message, n });
      return n;
    },
    answer: (n) => {
      const answers = typed().filter((message) => "n" in message && message.n === n);
      if (answers.length > 1) throw new Error(`answered ${answers.length} times: ${JSON.stringify(answers)}`);
      return answers[0];
    },
    ask: async (message) => {
      const n = client.post(message);
      await world.settle();
      const answer = client.answer(n);
      if (answer === undefined) throw new Error(`not answered: ${JSON.stringify(message)}`);
      return answer;
    },
    all: <T extends Typed["type"]>(type: T) =>
      typed().filter((message): message is Answer<T> => message.type === type),
    frames: (ch) =>
      received.filter(
        (message): message is RecordsMessage =>
          !("type" in message) && (ch === undefined || message.ch === ch),
      ),
    close: () => socket.close(),
  };
  return client;
};

/** A client that was welcomed. Its writer is its name, unless another is given. */
export const hello = async (
  world: World,
  name: string,
  { writer = name, token = name } = {},
): Promise<RawClient> => {
  const client = await dial(world, name);
  client.send({ type: "hello", protocol: PROTOCOL_VERSION, writer, token });
  await world.settle();
  return client;
};

export type JoinOptions = {
  readonly session?: string;
  readonly create?: boolean;
  readonly cursor?: { epoch: string; seq: number };
  readonly lines?: readonly Partial<LineAsk>[];
};

export const joinMessage = ({ session = "s", create = true, cursor, lines = [{}] }: JoinOptions = {}) => ({
  type: "join",
  session,
  ...(create ? { create } : {}),
  ...(cursor === undefined ? {} : { cursor }),
  lines: lines.map((line) => ({ candidates: [], walk: "newest", limit: 50, ...line })),
});

export const join = async (client: RawClient, options: JoinOptions = {}): Promise<Answer<"joined">> =>
  expectType(await client.ask(joinMessage(options)), "joined");

export const expectType = <T extends Typed["type"]>(message: Typed, type: T): Answer<T> => {
  if (message.type !== type) throw new Error(`expected ${type}: ${JSON.stringify(message)}`);
  return message as Answer<T>;
};

/** A client that was welcomed and has joined a session (`s` by default). */
export const joinedAs = async (
  world: World,
  name: string,
  options: JoinOptions & { writer?: string; token?: string } = {},
): Promise<{ client: RawClient; ch: number; joined: Answer<"joined"> }> => {
  const client = await hello(world, name, options);
  const joined = await join(client, options);
  return { client, ch: joined.ch, joined };
};

export const say = (id: string, text = id, more: object = {}): Draft =>
  ({ id, type: "message", role: "user", parts: [{ type: "text", text }], ...more }) as unknown as Draft;

export const streaming = (id: string, more: object = {}): Draft =>
  say(id, "", { role: "assistant", parts: [], status: "streaming", ...more });

export const at = (place: object | undefined, draft: object): PublishItem =>
  (place === undefined ? { draft } : { draft, place }) as PublishItem;

export const follow = (id: string | null, draft: object): PublishItem => at({ after: id }, draft);

export const publish = (ch: number, ...items: PublishItem[]) => ({ type: "publish", ch, items });

export const publishWithRun = (ch: number, run: object, ...items: PublishItem[]) => ({
  type: "publish",
  ch,
  items,
  run: run as RunRequest,
});

export const append = (ch: number, id: string, from: number, text: string, more: object = {}) => ({
  type: "append",
  ch,
  id,
  at: from,
  deltas: text === "" ? [] : [{ text }],
  ...more,
});

export const register = (ch: number, key: string, value: Json) => ({ type: "register", ch, key, value });

/** The fold of what one subscriber was given: a join's answer and the records after it. */
export const treeOf = (joined: Answer<"joined">, frames: readonly RecordsMessage[]): Tree => {
  const tree = createTree();
  for (const entry of joined.entries) tree.apply(entry);
  for (const record of joined.records) tree.apply(record);
  for (const { records } of frames)
    for (const record of records) {
      const applied = tree.apply(record);
      if (applied.type === "missing") throw new Error(`missing before ${JSON.stringify(record)}`);
    }
  return tree;
};

export const textIn = (tree: Tree, id: string): string | undefined => {
  const entry = tree.get(id as never)?.entry;
  if (entry?.type !== "message") return undefined;
  return entry.parts.map((part) => ("text" in part ? part.text : "")).join("");
};
