/** The sessions that are open on one client, each once: who opened them, and which channel is whose. */
import { EspalierError, type Runtime, type SessionId } from "@espalier/shared";
import type { Client, SessionOptions } from "./client-types.js";
import { createSession, type SessionControl, type SessionHost } from "./session.js";
import { sessionId } from "./session-id.js";
import type { Session } from "./session-types.js";

export type SessionBook = Pick<Client, "session" | "borrow"> & {
  /** The session that a channel stands for on this connection. */
  ofChannel(ch: number | undefined): SessionControl | undefined;
  connected(): void;
  disconnected(): void;
  /** No further one is opened. */
  close(): void;
};

type BookOptions = {
  readonly runtime: Runtime;
  readonly isConnected: () => boolean;
  readonly host: Omit<SessionHost, "id" | "create" | "origin" | "view" | "runtime" | "leave" | "onClosed">;
  readonly leave: (ch: number) => void;
};

export const createSessionBook = ({ runtime, isConnected, host, leave }: BookOptions): SessionBook => {
  const sessionsById = new Map<SessionId, SessionControl>();
  const sessionsByCh = new Map<number, SessionControl>();
  /** Those that were opened to stay, and those that are borrowed. */
  const owned = new WeakSet<Session>();
  /** Those that wait for something else before they join. */
  const waiting = new Set<SessionControl>();
  const borrowersOf = new WeakMap<Session, Set<symbol>>();
  let isClosed = false;

  const open = (id: SessionId, { create = false, origin, after, view = {} }: SessionOptions): Session => {
    const control = createSession({
      ...host,
      id,
      create,
      origin,
      view,
      runtime,
      leave: (ch) => {
        // Where the same session was opened again, the server has put its join in this one's place.
        const current = sessionsById.get(id);
        if (current === undefined || current === control) leave(ch);
      },
      onClosed: () => void sessionsById.delete(id),
    });
    sessionsById.set(id, control);
    const join = (): void => {
      waiting.delete(control);
      if (isConnected() && sessionsById.get(id) === control && control.session.snapshot.status === "offline")
        control.connected();
    };
    // After this turn: the views that are made now are part of the join.
    if (after === undefined) runtime.defer(join);
    else {
      waiting.add(control);
      void after.then(join, join);
    }
    return control.session;
  };

  const sessionFor = (id: string, options: SessionOptions = {}): Session => {
    if (isClosed) throw new EspalierError("shut", "unable to open a session; the client was closed");
    const checked = sessionId(id, "open a session");
    return sessionsById.get(checked)?.session ?? open(checked, options);
  };

  return {
    session: (id, options) => {
      const session = sessionFor(id, options);
      owned.add(session);
      return session;
    },
    borrow: (id, options) => {
      const session = sessionFor(id, options);
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
    ofChannel: (ch) => {
      if (ch === undefined) return undefined;
      // A channel is its session's for as long as that is joined.
      const known = sessionsByCh.get(ch);
      if (known?.ch === ch) return known;
      sessionsByCh.delete(ch);
      for (const session of sessionsById.values()) {
        if (session.ch !== ch) continue;
        sessionsByCh.set(ch, session);
        return session;
      }
      return undefined;
    },
    connected: () => {
      for (const session of [...sessionsById.values()]) if (!waiting.has(session)) session.connected();
    },
    disconnected: () => {
      for (const session of [...sessionsById.values()]) session.disconnected();
    },
    close: () => {
      isClosed = true;
      for (const { session } of [...sessionsById.values()]) session.close();
    },
  };
};
