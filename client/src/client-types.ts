/** What a client is given, shows and does: the shapes that its users see. */
import type {
  EntryId,
  ErrorBody,
  PrincipalId,
  Runtime,
  SessionId,
  SessionSummary,
  Start,
  WriterId,
} from "@espalier/shared";
import type { Model } from "./model.js";
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
  /** Writes summaries where nobody else is named for it: an agent that has a model names it here once. */
  readonly model?: Model;
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
  /** Where a session that this begins comes from: the tool call of a sidechain (F5). */
  readonly origin?: Start;
  /** It is joined once this has resolved: what it comes from is on its way. */
  readonly after?: Promise<unknown>;
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

export type ListAsk = {
  /** At most so many; 100 by default, up to 1000. */
  readonly limit?: number;
  /** Those after this one, in the order of the list. */
  readonly after?: string;
  /** With those that are archived. */
  readonly archived?: boolean;
  /** The sidechains of this session, instead of the sessions themselves. */
  readonly of?: string;
};

export type ForkAsk = {
  /** The line up to this entry; null: a session that begins with nothing. */
  readonly from: { readonly session: string; readonly entry: EntryId | null };
  /** The new session's id; a fresh one by default. Asking again with the same one is harmless. */
  readonly session?: string;
  /** `share`: the same entries, and no copies of them (F2), as by default; `copy`: with ids of their own (F1). */
  readonly mode?: "copy" | "share";
};

export type Forked = {
  readonly session: SessionId;
  /** The last entry that was taken over, as the session that was forked names it. */
  readonly entry: EntryId | null;
  /** The line was cut back to where no message streams and no tool call is open (F3). */
  readonly isCutBack: boolean;
};

/** `gone`: those that were deleted, or that are not listed any more. */
export type ListListener = (sessions: readonly SessionSummary[], gone: readonly SessionId[]) => void;

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
  /**
   * Sessions by their last change, the newest first. Resolves with the refusal where there is no connection.
   *
   * @example
   * const page = await client.list({ limit: 20 });
   * if (!("code" in page)) for (const { id, title, origin } of page.sessions) draw(id, title, origin);
   */
  list(ask?: ListAsk): Promise<ListPage | ErrorBody>;
  /**
   * Tells the 100 newest sessions, and then those that change, archived ones and sidechains too, also over
   * reconnects. Returns its undo.
   */
  watch(listener: ListListener): () => void;
  /**
   * Makes a session of the line up to an entry. It waits for a connection, and is asked again until it is
   * answered. Resolves with the refusal where it cannot be done: `not_found`, `forbidden`, or `conflict` where
   * the new session's id is another's.
   *
   * @example
   * const forked = await client.fork({ from: { session: "plans", entry: view.snapshot.leafId } });
   * if (!("code" in forked)) client.session(forked.session);
   */
  fork(ask: ForkAsk): Promise<Forked | ErrorBody>;
  /**
   * Removes a session and its sidechains for good, and its id with them (F8). Whoever has joined it sees it
   * fail with `deleted`. Resolves with null, also where it was deleted already, or with the refusal.
   */
  delete(id: string): Promise<ErrorBody | null>;
  /** Hides a session from lists that do not ask for it, or shows it again (F8). */
  archive(id: string, isArchived?: boolean): Promise<ErrorBody | null>;
  /** Connects again after a refusal, with a new token. */
  retry(): void;
  /** A fresh id, for an entry or a session. */
  newId(): string;
  /** Closes every session and the connection. What was not sent stays in the storage. */
  close(): void;
};
