/** What a client is given, shows and does: the shapes that its users see. */
import type { ErrorBody, PrincipalId, Runtime, SessionId, SessionSummary, WriterId } from "@espalier/shared";
import type { QueueStorage } from "./queue-storage.js";
import type { Session } from "./session-types.js";
import type { ViewOptions } from "./view-types.js";

export type ConnectOptions = {
  /** `ws:` or `wss:`, with the server's path: `ws://localhost:4400/espalier`. */
  readonly url: string;
  /** Asked for at each connect, so it may expire meanwhile (J4). */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  /** Needed where there is no global one, as in Node 20: `import { WebSocket } from "ws"`. */
  readonly WebSocket?: unknown;
  /** Keeps what was not sent over a reload (O3): `sessionStorage`, say. */
  readonly storage?: QueueStorage;
  /** For tests: clock, timers and chance. */
  readonly runtime?: Runtime;
};

/**
 * `connecting`: for the first time; `offline`: it was connected, or could not be, and is trying;
 * `refused`: the server wants another token or version, `retry` asks again; `closed`: by `close`.
 */
export type ClientStatus = "connecting" | "connected" | "offline" | "refused" | "closed";

/** The same object until something of it changes. */
export type ClientSnapshot = {
  readonly status: ClientStatus;
  readonly error: ErrorBody | null;
  /** Who the server takes this client for; null before it has said so. */
  readonly principal: PrincipalId | null;
};

export type SessionOptions = {
  /** Begins the session where it does not exist (F7). */
  readonly create?: boolean;
  /** For the default view. */
  readonly view?: ViewOptions;
};

/** A session for a while. */
export type BorrowedSession = {
  readonly session: Session;
  /** Closes it, unless somebody else here has opened it as well. */
  release(): void;
};

/** Sessions in order, and whether there are more after the last one. */
export type ListPage = { readonly sessions: readonly SessionSummary[]; readonly more: boolean };

/** One connection, and the sessions that are joined over it. */
export type Client = {
  /** This client instance, as the server and the log know it. */
  readonly writer: WriterId;
  readonly snapshot: ClientSnapshot;
  /** Returns its undo. */
  subscribe(listener: () => void): () => void;
  /** Joins a session; the same one for the same id until it is closed. */
  session(id: string, options?: SessionOptions): Session;
  /** The same, to be given back: for work that passes, beside whoever else shows the session. */
  borrow(id: string, options?: SessionOptions): BorrowedSession;
  /** Sessions by their last change, the newest first; those after `after`, up to `limit` (100). */
  list(page?: { limit?: number; after?: SessionId }): Promise<ListPage | ErrorBody>;
  /** Tells the 100 newest sessions, and then those that change, also over reconnects. Returns its undo. */
  watch(listener: (sessions: readonly SessionSummary[]) => void): () => void;
  /** Connects again after a refusal, with a new token. */
  retry(): void;
  /** A fresh id, for an entry or a session. */
  newId(): string;
  /** Closes every session and the connection. What was not sent stays in the storage. */
  close(): void;
};
