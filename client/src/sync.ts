/**
 * Keeps the replica of one session at the server's head (J1–J4): joins on every new connection, applies
 * what comes, and joins again where something is missing.
 *
 *     offline ─► joining ─► live
 *        ▲          └─────► failed      refused for good; `retry` asks again
 *        └─ the connection ended, from any of them
 */
import {
  type ErrorBody,
  type LineAsk,
  type RecordsMessage,
  type Runtime,
  refusal,
  type ServerMessage,
  type SessionId,
  type Start,
} from "@espalier/shared";
import { backoffMs } from "./link-state.js";
import { createPatientAsk } from "./patient-ask.js";
import type { Replica, ReplicaChange } from "./replica.js";
import { type Ask, isPassing, type Reply, type Unnumbered } from "./requests.js";

export type SyncStatus = "offline" | "joining" | "live" | "failed";

type Joined = Extract<ServerMessage, { type: "joined" }>;
/** A command to a joined session, without what the connection adds. */
export type ChannelMessage = Unnumbered extends infer M
  ? M extends { ch: number }
    ? Omit<M, "ch">
    : never
  : never;

export type Sync = {
  readonly status: SyncStatus;
  /** Why it failed, or is tried again. */
  readonly error: ErrorBody | null;
  /** Stands for the session on this connection; null while it is not joined. */
  readonly ch: number | null;
  connected(): void;
  disconnected(): void;
  retry(): void;
  records(message: RecordsMessage): void;
  /** The server ended the subscription. */
  left(error: ErrorBody): void;
  /** The server does not take this connection for joined: join again. */
  lost(): void;
  /** Resolves with null once it is live, or with why it will not be. */
  untilLive(): Promise<ErrorBody | null>;
  /** One try on this connection. */
  readonly ask: Ask<ChannelMessage>;
  /** Waits for a connection, and asks again after a drop or a passing refusal: for what may be asked twice. */
  readonly askUntilAnswered: Ask<ChannelMessage>;
  close(): void;
};

type SyncOptions = {
  readonly id: SessionId;
  readonly create: boolean;
  /** Where it comes from, if this join begins it (F5). */
  readonly origin: Start | undefined;
  readonly replica: Replica;
  readonly runtime: Runtime;
  readonly ask: Ask<Unnumbered>;
  readonly leave: (ch: number) => void;
  /** The lines to ask for, and what takes the answer's leaves. */
  readonly lines: () => { asks: LineAsk[]; restart(leaves: Joined["lines"]): void };
  readonly onChanges: (changes: readonly ReplicaChange[]) => void;
  /** Joined: what is waiting may be sent. */
  readonly onLive: () => void;
  /** Refused for good: what waits cannot be sent. */
  readonly onFailed: (error: ErrorBody) => void;
  readonly onStatus: () => void;
};

/** A session that was put away at rest comes back like one whose server was busy. */
const mayPass = (error: ErrorBody): boolean =>
  isPassing(error) || error.code === "offline" || error.code === "shut";

export const createSync = (options: SyncOptions): Sync => {
  const { id, replica, runtime, lines, onChanges, onLive, onFailed, onStatus } = options;
  let status: SyncStatus = "offline";
  let error: ErrorBody | null = null;
  let ch: number | null = null;
  let failures = 0;
  let joining: symbol | null = null;
  let cancelRetry: (() => void) | null = null;
  const whenLive: (() => void)[] = [];
  let isClosed = false;

  const become = (next: SyncStatus, cause: ErrorBody | null = null): void => {
    status = next;
    error = cause;
    if (next !== "live") ch = null;
    onStatus();
  };

  const join = (useCursor: boolean): void => {
    if (isClosed) return;
    const mine = Symbol("join");
    joining = mine;
    cancelRetry?.();
    become("joining", error);
    // A listener may have acted on that.
    if (joining !== mine || isClosed) return;
    const asked = lines();
    const cursor = useCursor ? replica.cursor : undefined;
    const message: Unnumbered = {
      type: "join",
      session: id,
      lines: asked.asks,
      ...(options.create ? { create: true } : {}),
      ...(options.origin === undefined ? {} : { origin: options.origin }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    void options.ask(message, (reply) => {
      if (joining !== mine || isClosed) {
        if (isClosed && reply.type === "joined") options.leave(reply.ch);
      } else if (reply.type === "joined") joined(reply, asked.restart);
      else if (reply.type === "refused") refused(reply.error);
    });
  };

  /** Everything is in its place before the session's own listeners are told, who may act on it. */
  const joined = (message: Joined, restart: (leaves: Joined["lines"]) => void): void => {
    joining = null;
    if (message.mode === "tail") {
      const { changes, isMissing } = replica.catchUp(message);
      if (!isMissing) goLive(message.ch);
      onChanges(changes);
      if (isMissing) return join(false);
    } else {
      replica.replace(message);
      goLive(message.ch);
      restart(message.lines);
    }
    if (isClosed) return;
    onLive();
    for (const go of whenLive.splice(0)) go();
    onStatus();
  };

  const goLive = (joinedCh: number): void => {
    status = "live";
    error = null;
    failures = 0;
    ch = joinedCh;
  };

  const refused = (cause: ErrorBody): void => {
    joining = null;
    if (!mayPass(cause)) return giveUp(cause);
    become("joining", cause);
    failures += 1;
    cancelRetry = runtime.setTimer(backoffMs(failures, runtime.random()), () => join(true));
  };

  const giveUp = (cause: ErrorBody): void => {
    become("failed", cause);
    onFailed(cause);
    for (const go of whenLive.splice(0)) go();
  };

  const ask: Sync["ask"] = async (message, take) => {
    const asked = ch;
    if (asked === null) return NOT_LIVE;
    const reply = await options.ask({ ...message, ch: asked } as Unnumbered, take);
    if (reply.type === "refused" && reply.error.code === "not_joined" && ch === asked) lost();
    return reply;
  };

  const lost = (): void => {
    if (status === "live") join(true);
  };

  const untilLive = async (): Promise<ErrorBody | null> => {
    if (status !== "live" && status !== "failed" && !isClosed)
      await new Promise<void>((resolve) => whenLive.push(resolve));
    if (isClosed) return refusal("shut", `unable to ask; session ${id} was closed here`);
    return status === "failed" ? error : null;
  };

  return {
    get status() {
      return status;
    },
    get error() {
      return error;
    },
    get ch() {
      return ch;
    },
    connected: () => {
      // What was deleted does not come back.
      if (status !== "failed" || error?.code !== "deleted") join(true);
    },
    disconnected: () => {
      joining = null;
      cancelRetry?.();
      if (status !== "failed") become("offline", error);
    },
    retry: () => {
      if (status === "failed") join(true);
    },
    records: (message) => {
      // Between a join and its answer these are of the old subscription; the answer covers them.
      if (status !== "live") return;
      const { changes, isMissing } = replica.apply(message);
      onChanges(changes);
      if (isMissing) lost();
    },
    left: (cause) => {
      if (mayPass(cause)) refused(cause);
      else giveUp(cause);
    },
    lost,
    untilLive,
    ask,
    askUntilAnswered: createPatientAsk({ runtime, ask, untilReady: untilLive }),
    close: () => {
      isClosed = true;
      cancelRetry?.();
      if (ch !== null) options.leave(ch);
      ch = null;
      for (const go of whenLive.splice(0)) go();
    },
  };
};

const NOT_LIVE: Reply = {
  type: "refused",
  error: refusal("offline", "unable to ask; the session is not joined now"),
};
