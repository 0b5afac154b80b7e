/**
 * The sessions that are open in this process: loaded once, shared by whoever joins, closed when nobody
 * needs them.
 */
import {
  ARCHIVED,
  type EntryId,
  type ErrorBody,
  isSidechain,
  type LogRecord,
  pathTo,
  RESET,
  type Runtime,
  refusal,
  rootOf,
  type SessionId,
  TITLE,
} from "@espalier/shared";
import { createAnnouncer, type Watcher } from "./announcer.js";
import { detailOf } from "./origin-fault.js";
import { readNow } from "./read-now.js";
import { createSession, type Session, type SessionRead } from "./session.js";
import { createLoader, type LineInMemory, UNTOLD } from "./shared-log.js";
import type { ListAsk, LogStore, SessionPage } from "./store/log-store.js";

type Opened =
  | { readonly type: "ok"; readonly session: Session; readonly release: () => void }
  | { readonly type: "refused"; readonly error: ErrorBody };

export type Hub = {
  /** `release` what was opened; it is closed some time after everybody has. */
  open(id: SessionId, create: boolean): Promise<Opened>;
  /** Opens a session that is stored, uses it, and releases it. */
  use<T>(id: SessionId, work: (session: Session) => T | Promise<T>): Promise<T | ErrorBody>;
  /** Why a session cannot come into being, or null. */
  beginFault(id: SessionId): Promise<ErrorBody | null>;
  list(ask: ListAsk): Promise<SessionPage>;
  /** Hears of sessions that are new, changed or gone, but not of each token. */
  watch(watcher: Watcher): () => void;
  /** A session changed that may not be open here. */
  changed(id: SessionId): void;
  /**
   * A session was removed, or came to be something else than is held of it: ends it, and its sidechains
   * with it. Resolves when nothing of theirs is being written any more.
   */
  end(id: SessionId, error: ErrorBody): Promise<void>;
  /** A session was removed: those who watch are told. */
  gone(id: SessionId): void;
  /** Opens the sessions that were left with something unfinished, so that their leases run (S7). */
  resume(): Promise<void>;
  /** Resolves when what the sessions were told so far is on disk and answered. */
  settled(): Promise<void>;
  close(): void;
};

export type HubOptions = {
  readonly store: LogStore;
  readonly runtime: Runtime;
  readonly graceMs: number;
  /** Hears in full why a session cannot be opened for the sake of another. */
  readonly onTrouble?: ((error: Error) => void) | undefined;
};

/** Users count from when they ask, so that nothing is closed between its load and its use. */
type Held = {
  readonly id: SessionId;
  readonly loaded: Promise<Session | ErrorBody>;
  session: Session | null;
  users: number;
};

const SHUT_DOWN = refusal("unavailable", "unable to go on; the server is shutting down");

export const createHub = ({ store, runtime, graceMs, onTrouble }: HubOptions): Hub => {
  const heldById = new Map<SessionId, Held>();
  const announcer = createAnnouncer((id) => store.summary(id));
  let nextCh = 1;
  let isClosed = false;

  const lineInMemory: LineInMemory = (id, entry) => {
    const session = heldById.get(id)?.session;
    if (session === undefined || session === null || !session.isStored) return Promise.resolve(null);
    return readNow(session, ({ state }) => lineTo(state, entry)).catch(() => null);
  };

  const load = createLoader(store, lineInMemory, () => new Promise((resolve) => runtime.defer(resolve)));

  const drop = (held: Held): void => {
    if (heldById.get(held.id) === held) heldById.delete(held.id);
  };

  const evictIfIdle = (held: Held): void => {
    if (held.users > 0 || held.session === null || !held.session.isIdle) return;
    drop(held);
    held.session.close(refusal("shut", `unable to go on with ${held.id}; it was closed at rest`));
  };

  /** A sidechain comes into being under a session that is there (F5), also where that was removed meanwhile. */
  const beginFault = async (id: SessionId): Promise<ErrorBody | null> => {
    const root = rootOf(id);
    if (!isSidechain(id) || (await store.summary(root)) !== null) return null;
    return refusal("not_found", `unable to begin ${id}; there is no session ${root}`);
  };

  const openHeld = async (held: Held): Promise<Session | ErrorBody> => {
    const { id } = held;
    const outcome = await load(id);
    if (outcome.type === "refused") {
      const detail = detailOf(outcome.error);
      if (detail !== null) onTrouble?.(new Error(detail));
      return outcome.error;
    }
    if (isClosed) return SHUT_DOWN;
    const ch = nextCh;
    nextCh += 1;
    held.session = createSession({
      id,
      ch,
      log: outcome.type === "ok" ? outcome.log : null,
      load,
      store,
      runtime,
      graceMs,
      beginFault: () => beginFault(id),
      onCommit: (records) => {
        if (records.some(changesSummary)) announcer.changed(id);
        // Its root session has one more from then on.
        if (isSidechain(id) && records.some(({ seq }) => seq === 1)) announcer.changed(rootOf(id));
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
      .then(() => openHeld(held))
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
    use: async (id, work) => {
      const opened = await open(id, false);
      if (opened.type === "refused") return opened.error;
      try {
        return await work(opened.session);
      } finally {
        opened.release();
      }
    },
    beginFault,
    list: (ask) => store.list(ask),
    watch: announcer.watch,
    changed: announcer.changed,
    end: async (id, error) => {
      const ended = [...heldById.values()].filter((held) => held.id === id || rootOf(held.id) === id);
      for (const held of ended) drop(held);
      await Promise.all(
        ended.map(async ({ loaded }) => {
          const session = await loaded;
          if (!("code" in session)) await session.close(error);
        }),
      );
    },
    gone: (id) => {
      announcer.gone(id);
      if (isSidechain(id)) announcer.changed(rootOf(id));
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
      announcer.close();
    },
  };
};

const lineTo = ({ tree, missedErases }: SessionRead["state"], id: EntryId) => {
  const node = tree.get(id);
  if (node === undefined) return null;
  const untold = new Set(missedErases().map((missed) => missed.id));
  return pathTo(node).map(({ entry }) => (untold.has(entry.id) ? { ...entry, rev: UNTOLD } : entry));
};

/** What a list tells of a session. */
const LISTED = new Set<string>([TITLE, ARCHIVED, RESET]);

const changesSummary = (record: LogRecord): boolean =>
  record.kind === "register" ? LISTED.has(record.key) : record.kind !== "append";
