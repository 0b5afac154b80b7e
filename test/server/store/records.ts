/** Small records, and short ways to put them in a store and get them out. */
import type {
  Append,
  EntryId,
  Epoch,
  Erase,
  Json,
  LogRecord,
  MessageEntry,
  PrincipalId,
  Register,
  Run,
  RunId,
  RunStatus,
  Seq,
  SessionId,
} from "@espalier/shared";
import type { LogHeader, LogStore } from "../../../server/src/store/log-store.js";

export const sessionId = (id: string): SessionId => id as SessionId;

/** Epochs that tell their order: `epoch1`, `epoch2`, … */
export const countEpochs = (from = 0): (() => Epoch) => {
  let count = from;
  return () => {
    count += 1;
    return `epoch${count}` as Epoch;
  };
};

const timeOf = (seq: number): number => 1_700_000_000_000 + seq;

export const message = (
  seq: number,
  text = `message ${seq}`,
  more: Partial<MessageEntry> = {},
): MessageEntry => ({
  kind: "entry",
  id: `e${seq}` as EntryId,
  parentId: null,
  seq: seq as Seq,
  rev: seq as Seq,
  time: timeOf(seq),
  author: "ann" as PrincipalId,
  status: "complete",
  size: 0,
  type: "message",
  role: "user",
  parts: [{ type: "text", text }],
  ...more,
});

export const append = (seq: number, id: string, text: string, more: Partial<Append> = {}): Append => ({
  kind: "append",
  id: id as EntryId,
  seq: seq as Seq,
  time: timeOf(seq),
  at: 0,
  deltas: [{ text }],
  ...more,
});

export const run = (seq: number, id: string, status: RunStatus): Run => ({
  kind: "run",
  id: id as RunId,
  seq: seq as Seq,
  rev: seq as Seq,
  time: timeOf(seq),
  status,
  inputId: null,
  place: { after: null },
});

export const register = (seq: number, key: string, value: Json): Register => ({
  kind: "register",
  key,
  value,
  seq: seq as Seq,
  time: timeOf(seq),
  author: "ann" as PrincipalId,
});

export const title = (seq: number, value: string | null): Register => register(seq, "title", value);

export const erase = (seq: number, id: string): Erase => ({
  kind: "erase",
  id: id as EntryId,
  seq: seq as Seq,
  time: timeOf(seq),
  author: "admin" as PrincipalId,
});

/** The header of a log that shares its beginning, up to a seq, with another. */
export const shared = (session: string, inherited: number, entry = `e${inherited}`): LogHeader => ({
  createdAt: timeOf(inherited + 1),
  origin: { session: sessionId(session), entry: entry as EntryId, isShared: true },
  inherited,
});

/** Appends and waits until it is on disk. Throws where it was not taken. */
export const put = async (
  store: LogStore,
  id: string,
  expectedHead: number,
  ...records: LogRecord[]
): Promise<void> => {
  const outcome = await store.append(sessionId(id), expectedHead, records);
  if (outcome.type !== "ok") throw new Error(`not taken: ${JSON.stringify(outcome)}`);
  await outcome.durable;
};

export const recordsOf = async (store: LogStore, id: string): Promise<readonly LogRecord[]> => {
  const loaded = await store.load(sessionId(id));
  if (loaded.type !== "ok") throw new Error(`not loaded: ${JSON.stringify(loaded)}`);
  return loaded.log.records;
};

/** Erases, and waits until it is gone from the disk. Throws where it was not taken. */
export const erased = async (store: LogStore, id: string, head: number, record: Erase): Promise<void> => {
  const outcome = await store.erase(sessionId(id), head, record);
  if (outcome.type !== "ok") throw new Error(`not taken: ${JSON.stringify(outcome)}`);
  await outcome.durable;
};

export const headOf = async (store: LogStore, id: string): Promise<number> => {
  const loaded = await store.load(sessionId(id));
  return loaded.type === "ok" ? loaded.log.head : 0;
};
