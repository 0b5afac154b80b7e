/**
 * The public face of `@espalier/client`, for browsers and Node.
 *
 * @example
 * const client = connect({ url: "ws://localhost:4400/espalier" });
 * const { view } = client.session("plans", { create: true });
 * view.subscribe(() => console.log(view.getMessages().map(({ entry }) => entry)));
 * view.send("What grows in shade?", { run: true });
 */
import {
  type ErrorBody,
  EspalierError,
  type PrincipalId,
  refusal,
  type ServerMessage,
  type WriterId,
} from "@espalier/shared";
import type { Client, ClientSnapshot, ClientStatus, ConnectOptions } from "./client-types.js";
import { createLink, isConnected } from "./link.js";
import type { LinkState } from "./link-state.js";
import { createListeners } from "./listeners.js";
import { createPatientAsk } from "./patient-ask.js";
import { createRequests } from "./requests.js";
import { createRuntime } from "./runtime.js";
import { createSessionBook } from "./session-book.js";
import { createSessionCommands } from "./session-commands.js";
import { createSessionList } from "./session-list.js";
import type { WebSocketConstructor } from "./socket.js";

/** Connects at once, and again for as long as it is not closed. */
export const connect = (options: ConnectOptions): Client => {
  const runtime = options.runtime ?? createRuntime();
  const writer = runtime.newId() as WriterId;
  const listeners = createListeners<null>(runtime);
  const whenSettled: (() => void)[] = [];
  let principal: PrincipalId | null = null;
  let snapshot: ClientSnapshot | null = null;
  let isClosed = false;
  let wasConnected = false;

  const tell = (): void => {
    snapshot = null;
    listeners.tell(null);
  };

  const receive = (message: ServerMessage): void => {
    if (!("type" in message)) {
      book.ofChannel(message.ch)?.records(message);
      return;
    }
    if (requests.settle(message)) return;
    switch (message.type) {
      case "welcome":
        principal = message.principal;
        break;
      case "sessions":
      case "gone":
        sessions.told(message);
        break;
      case "appended":
      case "left":
      case "refused":
        book.ofChannel(message.ch)?.message(message);
        break;
    }
  };

  const link = createLink({
    url: checkedUrl(options.url),
    writer,
    getToken: tokenGetter(options.token),
    WebSocket: webSocketOf(options.WebSocket),
    runtime,
    onMessage: receive,
    onState: (state) => {
      if (state.name === "live" && !wasConnected) {
        wasConnected = true;
        sessions.connected();
        book.connected();
      } else if (!isConnected(state) && wasConnected) {
        wasConnected = false;
        requests.drop();
        book.disconnected();
      }
      if (wasConnected || state.name === "refused") goOn();
      tell();
    },
  });
  const requests = createRequests((message) => link.send(message));
  const sessions = createSessionList(runtime, requests.ask, () => wasConnected);

  const goOn = (): void => {
    for (const resolve of whenSettled.splice(0)) resolve();
  };

  /** Resolves with null once there is a connection, or with why there will be none by itself. */
  const untilConnected = async (): Promise<ErrorBody | null> => {
    if (!wasConnected && !isClosed && link.state.name !== "refused")
      await new Promise<void>((resolve) => whenSettled.push(resolve));
    if (isClosed) return SHUT;
    return wasConnected ? null : link.state.error;
  };

  const book = createSessionBook({
    runtime,
    isConnected: () => wasConnected,
    leave: (ch) => void link.send({ type: "leave", ch }),
    host: {
      storage: options.storage,
      model: options.model,
      getPrincipal: () => principal,
      ask: requests.ask,
      send: (message) => link.send(message),
      // Made below, of this.
      client: {
        session: (id, sessionOptions) => client.session(id, sessionOptions),
        list: (ask) => client.list(ask),
        fork: (ask) => client.fork(ask),
      },
    },
  });
  const patientAsk = createPatientAsk({ runtime, ask: requests.ask, untilReady: untilConnected });
  const commands = createSessionCommands({ ask: patientAsk, newId: runtime.newId, borrow: book.borrow });

  const unwatchPage = watchPage(() => link.wake());
  link.start();

  const client: Client = {
    writer,
    get snapshot() {
      snapshot ??= Object.freeze({ ...statusOf(link.state), principal });
      return snapshot;
    },
    subscribe: (listener) => listeners.add(() => listener()),
    session: book.session,
    borrow: book.borrow,
    list: sessions.list,
    watch: sessions.watch,
    ...commands,
    retry: () => {
      if (!isClosed) link.start();
    },
    newId: () => runtime.newId(),
    close: () => {
      if (isClosed) return;
      isClosed = true;
      book.close();
      unwatchPage();
      link.stop();
      requests.drop();
      goOn();
      listeners.clear();
      sessions.close();
    },
  };
  return client;
};

const SHUT = refusal("shut", "unable to ask; the client was closed");

const checkedUrl = (url: string): string => {
  if (URL.canParse(url) && /^wss?:$/.test(new URL(url).protocol)) return url;
  throw new EspalierError(
    "invalid",
    `unable to connect to ${JSON.stringify(url)}; it is no ws: or wss: address`,
  );
};

const statusOf = ({
  name,
  error,
  failures,
}: LinkState): { status: ClientStatus; error: ErrorBody | null } => {
  if (name === "live" || name === "checking") return { status: "connected", error: null };
  if (name === "off") return { status: "closed", error };
  if (name === "refused") return { status: "refused", error };
  return { status: failures > 0 ? "offline" : "connecting", error };
};

const tokenGetter = (
  token: ConnectOptions["token"],
): (() => string | undefined | Promise<string | undefined>) =>
  typeof token === "function" ? token : () => token;

const webSocketOf = (given: unknown): WebSocketConstructor => {
  const found = given ?? (globalThis as { WebSocket?: unknown }).WebSocket;
  if (typeof found !== "function")
    throw new EspalierError(
      "invalid",
      "unable to connect; hand in a WebSocket, this runtime has none of its own",
    );
  return found as WebSocketConstructor;
};

/** On a page: a tab that is shown again, or a network that changed, looks at its connection at once (J5). */
const watchPage = (wake: () => void): (() => void) => {
  if (typeof globalThis.addEventListener !== "function" || typeof document === "undefined") return () => {};
  const onVisible = (): void => {
    if (document.visibilityState === "visible") wake();
  };
  addEventListener("online", wake);
  addEventListener("offline", wake);
  document.addEventListener("visibilitychange", onVisible);
  return () => {
    removeEventListener("online", wake);
    removeEventListener("offline", wake);
    document.removeEventListener("visibilitychange", onVisible);
  };
};

export type {
  ContextMessage,
  ContextOptions,
  Entry,
  EntryId,
  EntryStatus,
  ErrorBody,
  ErrorCode,
  Json,
  MessageEntry,
  Origin,
  Part,
  PrincipalId,
  ReadMark,
  Run,
  RunId,
  SessionId,
  SessionSummary,
  Settings,
  Start,
  ToolOutcome,
  Usage,
  UsageTotals,
} from "@espalier/shared";
export { BRANCH_INSTRUCTION, DEFAULT_INSTRUCTION, EspalierError, isId, isSessionId } from "@espalier/shared";
export { type RunHandler, type ServeOptions, serveRuns } from "./agent.js";
export { type BranchSummarized, leaveBranch, summarizeBranch } from "./branch-summary.js";
export type {
  BorrowedSession,
  Client,
  ClientSnapshot,
  ClientStatus,
  ConnectOptions,
  ForkAsk,
  Forked,
  ListAsk,
  ListListener,
  ListPage,
  SessionOptions,
} from "./client-types.js";
export { type Compacted, type CompactOptions, compact } from "./compact.js";
export type { Branches, NamedBranch } from "./marks/branches.js";
export type { Collapsed } from "./marks/collapsed.js";
export type { Label, Labels } from "./marks/labels.js";
export type { Marks } from "./marks/marks.js";
export type { Meta, MetaObject } from "./marks/meta.js";
export type { Pins } from "./marks/pins.js";
export type { Reader, Reads } from "./marks/reads.js";
export type { SavedView } from "./marks/saved-view.js";
export type { Model, ModelAnswer, ModelRequest, Summarize, SummaryRequest } from "./model.js";
export type { Write } from "./pending.js";
export type { QueueStorage } from "./queue-storage.js";
export type {
  HeldRun,
  RunDraft,
  Session,
  SessionChange,
  SessionSnapshot,
  SidechainStart,
  StreamDraft,
} from "./session-types.js";
export type { BranchInfo } from "./siblings.js";
export type { StreamWriter } from "./stream-writer.js";
export type { SummaryOptions, SummaryProgress } from "./summarizing.js";
export type {
  Content,
  Prompt,
  RunAsk,
  SendOptions,
  Sent,
  Settled,
  View,
  ViewChange,
  ViewEntry,
  ViewOptions,
  ViewSnapshot,
  ViewState,
} from "./view-types.js";
