/**
 * The sessions that are open in this process: loaded once, shared by whoever joins, closed when nobody
 * needs them.
 */
import {
  type ErrorBody,
  type LogRecord,
  type Runtime,
  refusal,
  type SessionId,
  type SessionSummary,
} from "@espalier/shared";
import { createSession, type Session } from "./session.js";
import type { LogStore, SessionPage } from "./store/log-store.js";

export type Opened =
  | { readonly type: "ok"; readonly session: Session; readonly release: () => void }
  | { readonly type: "refused"; readonly error: ErrorBody };

export type Hub = {
  /** `release` what was opened; it is closed some time after everybody has. */
  open(id: SessionId, create: boolean): Promise<Opened>;
  list(page: { limit: number; after?: SessionId | undefined }): Promise<SessionPage>;
  /** Hears of sessions that are new or changed, but not of each token. */
  watch(listener: (summary: SessionSummary) => void): () => void;
  /** Opens the sessions that were left with something unfinished, so that their leases run (S7). */
  resume(): Promise<void>;
  /** Resolves when what the sessions were told so far is on disk and answered. */
  settled(): Promise<void>;
  close(): void;
};

export type HubOptions = { readonly store: LogStore; readonly runtime: Runtime; readonly graceMs: number };

/** Users count from when they ask, so that nothing is closed between its load and its use. */
type Held = {
  readonly id: SessionId;
  readonly loaded: Promise<Session | ErrorBody>;
  session: Session | null;
  users: number;
};

const SHUT_DOWN = refusal("unavailable", "unable to go on; the server is shutting down");

export const createHub = ({ store, runtime, graceMs }: HubOptions): Hub => {
  const heldById = new Map<SessionId, Held>();
  const watchers = new Set<(summary: SessionSummary) => void>();
  let nextCh = 1;
  let isClosed = false;

  const announce = async (id: SessionId): Promise<void> => {
    if (watchers.size === 0) return;
    const summary = await store.summary(id);
    if (summary !== null) for (const watcher of watchers) tell(watcher, summary);
  };

  /** A watcher that breaks keeps nothing from the others. */
  const tell = (watcher: (summary: SessionSummary) => void, summary: SessionSummary): void => {
    try {
      watcher(summary);
    } catch {
      watchers.delete(watcher);
    }
  };

  const drop = (held: Held): void => {
    if (heldById.get(held.id) === held) heldById.delete(held.id);
  };

  const evictIfIdle = (held: Held): void => {
    if (held.users > 0 || held.session === null || !held.session.isIdle) return;
    drop(held);
    held.session.close(refusal("shut", `unable to go on with ${held.id}; it was closed at rest`));
  };

  const load = async (held: Held): Promise<Session | ErrorBody> => {
    const { id } = held;
    const outcome = await store.load(id);
    if (outcome.type === "refused") return outcome.error;
    if (isClosed) return SHUT_DOWN;
    const ch = nextCh;
    nextCh += 1;
    held.session = createSession({
      id,
      ch,
      log: outcome.type === "ok" ? outcome.log : null,
      store,
      runtime,
      graceMs,
      onCommit: (records) => {
        // A watcher that could not be told now is told at the next change.
        if (records.some(changesSummary)) announce(id).catch(() => {});
      },
      onIdle: () => evictIfIdle(held),
      onFailed: () => drop(held),
    });
    return held.session;
  };

  /** Two who ask at once share one load, so that a session never lives twice. */
  const hold = (id: SessionId): Held => {
    const before = heldById.get(id);
    if (before !== undefined) return before;
    const loaded = Promise.resolve()
      .then(() => load(held))
      .catch((cause: unknown) => refusal("internal", `unable to open ${id}; ${String(cause)}`))
      .then((session) => {
        if ("code" in session) drop(held);
        return session;
      });
    const held: Held = { id, loaded, session: null, users: 0 };
    heldById.set(id, held);
    return held;
  };

  const open = async (id: SessionId, create: boolean): Promise<Opened> => {
    if (isClosed) return { type: "refused", error: SHUT_DOWN };
    const held = hold(id);
    held.users += 1;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      held.users -= 1;
      evictIfIdle(held);
    };
    const session = await held.loaded;
    if (!("code" in session) && (create || session.isStored)) return { type: "ok", session, release };
    release();
    const absent = refusal("not_found", `unable to open ${id}; there is no such session`);
    return { type: "refused", error: "code" in session ? session : absent };
  };

  return {
    open,
    list: (page) => store.list(page),
    watch: (listener) => {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    resume: async () => {
      for (const id of await store.unfinished()) {
        const opened = await open(id, false);
        if (opened.type === "ok") opened.release();
      }
    },
    settled: async () => {
      const sessions = await Promise.all([...heldById.values()].map(({ loaded }) => loaded));
      await Promise.all(sessions.map((session) => ("code" in session ? undefined : session.settled())));
    },
    close: () => {
      isClosed = true;
      for (const { session } of heldById.values()) session?.close(SHUT_DOWN);
      heldById.clear();
      watchers.clear();
    },
  };
};

const changesSummary = (record: LogRecord): boolean => record.kind !== "append" && isListed(record);

const isListed = (record: LogRecord): boolean => record.kind !== "register" || record.key === "title";
