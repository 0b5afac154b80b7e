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
  close(): void;
};

export type HubOptions = { readonly store: LogStore; readonly runtime: Runtime; readonly graceMs: number };

type Held = { readonly session: Session; users: number };

const SHUT_DOWN = refusal("unavailable", "unable to go on; the server is shutting down");

export const createHub = ({ store, runtime, graceMs }: HubOptions): Hub => {
  const heldById = new Map<SessionId, Held>();
  const loadingById = new Map<SessionId, Promise<Held | ErrorBody>>();
  const watchers = new Set<(summary: SessionSummary) => void>();
  let nextCh = 1;
  let isClosed = false;

  const announce = async (id: SessionId): Promise<void> => {
    if (watchers.size === 0) return;
    const summary = await store.summary(id);
    if (summary !== null) for (const watcher of watchers) watcher(summary);
  };

  const evictIfIdle = (id: SessionId): void => {
    const held = heldById.get(id);
    if (held === undefined || held.users > 0 || !held.session.isIdle) return;
    heldById.delete(id);
    held.session.close(refusal("shut", `unable to go on with ${id}; it was closed at rest`));
  };

  const load = async (id: SessionId): Promise<Held | ErrorBody> => {
    const outcome = await store.load(id);
    if (outcome.type === "refused") return outcome.error;
    if (isClosed) return SHUT_DOWN;
    const ch = nextCh;
    nextCh += 1;
    const session = createSession({
      id,
      ch,
      log: outcome.type === "ok" ? outcome.log : null,
      store,
      runtime,
      graceMs,
      onCommit: (records) => {
        if (records.some(changesSummary)) void announce(id);
      },
      onIdle: () => evictIfIdle(id),
      onFailed: () => {
        if (heldById.get(id)?.session.ch === ch) heldById.delete(id);
      },
    });
    const held: Held = { session, users: 0 };
    heldById.set(id, held);
    return held;
  };

  /** Two who ask at once share one load, so that a session never lives twice. */
  const hold = (id: SessionId): Promise<Held | ErrorBody> => {
    const held = heldById.get(id);
    if (held !== undefined) return Promise.resolve(held);
    const loading = loadingById.get(id) ?? load(id).finally(() => loadingById.delete(id));
    loadingById.set(id, loading);
    return loading;
  };

  const use = (held: Held): Opened => {
    held.users += 1;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      held.users -= 1;
      evictIfIdle(held.session.id);
    };
    return { type: "ok", session: held.session, release };
  };

  return {
    open: async (id, create) => {
      if (isClosed) return { type: "refused", error: SHUT_DOWN };
      const held = await hold(id);
      if ("code" in held) return { type: "refused", error: held };
      const opened = use(held);
      if (opened.type === "ok" && !create && !held.session.isStored) {
        opened.release();
        return {
          type: "refused",
          error: refusal("not_found", `unable to open ${id}; there is no such session`),
        };
      }
      return opened;
    },
    list: (page) => store.list(page),
    watch: (listener) => {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    resume: async () => {
      for (const id of await store.unfinished()) {
        const held = await hold(id);
        if (!("code" in held)) evictIfIdle(id);
      }
    },
    close: () => {
      isClosed = true;
      for (const { session } of heldById.values()) session.close(SHUT_DOWN);
      heldById.clear();
      watchers.clear();
    },
  };
};

const changesSummary = (record: LogRecord): boolean => record.kind !== "append" && isListed(record);

const isListed = (record: LogRecord): boolean => record.kind !== "register" || record.key === "title";
