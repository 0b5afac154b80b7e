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
  isSessionId,
  type PrincipalId,
  type ServerMessage,
  type SessionId,
  type SessionSummary,
  type WriterId,
} from "@espalier/shared";
import type { Client, ClientSnapshot, ClientStatus, ConnectOptions, SessionOptions } from "./client-types.js";
import { createLink, isConnected } from "./link.js";
import type { LinkState } from "./link-state.js";
import { createListeners } from "./listeners.js";
import { createRequests } from "./requests.js";
import { createRuntime } from "./runtime.js";
import { createSession, type SessionControl } from "./session.js";
import type { Session } from "./session-types.js";
import type { WebSocketConstructor } from "./socket.js";

const LIST_LIMIT = 100;

/** Connects at once, and again for as long as it is not closed. */
export const connect = (options: ConnectOptions): Client => {
  const runtime = options.runtime ?? createRuntime();
  const writer = runtime.newId() as WriterId;
  const sessionsById = new Map<SessionId, SessionControl>();
  const sessionsByCh = new Map<number, SessionControl>();
  /** Those that were opened to stay, and those that are borrowed. */
  const owned = new WeakSet<Session>();
  const borrowersOf = new WeakMap<Session, Set<symbol>>();
  const listeners = createListeners<null>(runtime);
  const watchers = createListeners<readonly SessionSummary[]>(runtime);
  let principal: PrincipalId | null = null;
  let snapshot: ClientSnapshot | null = null;
  let isClosed = false;
  let wasConnected = false;

  const tell = (): void => {
    snapshot = null;
    listeners.tell(null);
  };

  const watchList = async (): Promise<void> => {
    if (watchers.size === 0) return;
    const reply = await requests.ask({ type: "list", limit: LIST_LIMIT, watch: true });
    if (reply.type === "listed") watchers.tell(reply.sessions);
  };

  /** A channel is its session's for as long as that is joined. */
  const sessionOf = (ch: number | undefined): SessionControl | undefined => {
    if (ch === undefined) return undefined;
    const known = sessionsByCh.get(ch);
    if (known?.ch === ch) return known;
    sessionsByCh.delete(ch);
    for (const session of sessionsById.values()) {
      if (session.ch !== ch) continue;
      sessionsByCh.set(ch, session);
      return session;
    }
    return undefined;
  };

  const receive = (message: ServerMessage): void => {
    if (!("type" in message)) {
      sessionOf(message.ch)?.records(message);
      return;
    }
    if (requests.settle(message)) return;
    switch (message.type) {
      case "welcome":
        principal = message.principal;
        break;
      case "sessions":
        watchers.tell(message.sessions);
        break;
      case "appended":
      case "left":
      case "refused":
        sessionOf(message.ch)?.message(message);
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
      const sessions = [...sessionsById.values()];
      if (state.name === "live" && !wasConnected) {
        wasConnected = true;
        void watchList();
        for (const session of sessions) session.connected();
      } else if (!isConnected(state) && wasConnected) {
        wasConnected = false;
        requests.drop();
        for (const session of sessions) session.disconnected();
      }
      tell();
    },
  });
  const requests = createRequests((message) => link.send(message));

  const openSession = (id: SessionId, { create = false, view = {} }: SessionOptions): Session => {
    const control = createSession({
      id,
      create,
      view,
      runtime,
      storage: options.storage,
      getPrincipal: () => principal,
      ask: requests.ask,
      send: (message) => link.send(message),
      leave: (ch) => {
        // Where the same session was opened again, the server has put its join in this one's place.
        const current = sessionsById.get(id);
        if (current === undefined || current === control) link.send({ type: "leave", ch });
      },
      onClosed: () => void sessionsById.delete(id),
    });
    sessionsById.set(id, control);
    // After this turn: the views that are made now are part of the join.
    runtime.defer(() => {
      if (wasConnected && sessionsById.get(id) === control && control.session.snapshot.status === "offline")
        control.connected();
    });
    return control.session;
  };

  const sessionFor = (id: string, sessionOptions: SessionOptions = {}): Session => {
    if (isClosed) throw new EspalierError("shut", "unable to open a session; the client was closed");
    if (!isSessionId(id))
      throw new EspalierError(
        "invalid_id",
        `unable to open a session; ${JSON.stringify(id)} is no session id`,
      );
    return sessionsById.get(id)?.session ?? openSession(id, sessionOptions);
  };

  const unwatchPage = watchPage(() => link.wake());
  link.start();

  return {
    writer,
    get snapshot() {
      snapshot ??= Object.freeze({ ...statusOf(link.state), principal });
      return snapshot;
    },
    subscribe: (listener) => listeners.add(() => listener()),
    session: (id, sessionOptions) => {
      const session = sessionFor(id, sessionOptions);
      owned.add(session);
      return session;
    },
    borrow: (id, sessionOptions) => {
      const session = sessionFor(id, sessionOptions);
      const mine = Symbol("borrowed");
      const borrowers = borrowersOf.get(session) ?? new Set();
      borrowersOf.set(session, borrowers.add(mine));
      return {
        session,
        release: () => {
          if (borrowers.delete(mine) && borrowers.size === 0 && !owned.has(session)) session.close();
        },
      };
    },
    list: async ({ limit = LIST_LIMIT, after } = {}) => {
      const reply = await requests.ask({ type: "list", limit, ...(after === undefined ? {} : { after }) });
      if (reply.type === "listed") return { sessions: reply.sessions, more: reply.more };
      return (reply as { error: ErrorBody }).error;
    },
    watch: (listener) => {
      const undo = watchers.add(listener);
      if (wasConnected) void watchList();
      return undo;
    },
    retry: () => {
      if (!isClosed) link.start();
    },
    newId: () => runtime.newId(),
    close: () => {
      if (isClosed) return;
      isClosed = true;
      for (const { session } of [...sessionsById.values()]) session.close();
      unwatchPage();
      link.stop();
      requests.drop();
      listeners.clear();
      watchers.clear();
    },
  };
};

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
  Entry,
  EntryId,
  EntryStatus,
  ErrorBody,
  ErrorCode,
  Json,
  MessageEntry,
  Part,
  PrincipalId,
  Run,
  RunId,
  SessionId,
  SessionSummary,
  Usage,
} from "@espalier/shared";
export { EspalierError, isId, isSessionId } from "@espalier/shared";
export { type RunHandler, type ServeOptions, serveRuns } from "./agent.js";
export type {
  BorrowedSession,
  Client,
  ClientSnapshot,
  ClientStatus,
  ConnectOptions,
  ListPage,
  SessionOptions,
} from "./client-types.js";
export type { Write } from "./pending.js";
export type { QueueStorage } from "./queue-storage.js";
export type {
  HeldRun,
  RunDraft,
  Session,
  SessionChange,
  SessionSnapshot,
  StreamDraft,
} from "./session-types.js";
export type { BranchInfo } from "./siblings.js";
export type { StreamWriter } from "./stream-writer.js";
export type {
  Content,
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
