/**
 * Which conversation is shown, and which are open: the shown one, and those that still have something to
 * send. The address names the shown one (`#/session-id`). It lives outside React, where nothing renders
 * twice: a render never opens or closes a session.
 */
import { type Client, isSessionId, type Session } from "@espalier/client";
import type { Keep } from "./keep.js";

export type Conversations = {
  readonly shown: Session;
  /** Returns its undo. */
  subscribe(listener: () => void): () => void;
  /** Where a conversation is found. */
  addressOf(sessionId: string): string;
  begin(): void;
};

export const createConversations = (client: Client, keep: Keep): Conversations => {
  const listeners = new Set<() => void>();
  const closing = new Set<Session>();

  const open = (id: string): Session => {
    const state = keep.viewState(id);
    const session = client.session(id, { create: true, view: state === undefined ? {} : { state } });
    if (!closing.delete(session))
      session.view.subscribe(({ type }) => {
        if (type === "line") keep.keepViewState(id, session.view.state());
      });
    return session;
  };

  /** What was written is sent, whichever conversation is looked at meanwhile. */
  const closeWhenSent = (session: Session): void => {
    closing.add(session);
    const unsubscribe = session.subscribe(() => closeIfSent());
    const closeIfSent = (): void => {
      if (!closing.has(session)) return unsubscribe();
      if (session.snapshot.writes.some(({ state }) => state === "pending")) return;
      closing.delete(session);
      unsubscribe();
      session.close();
    };
    closeIfSent();
  };

  const addressed = (): string => {
    const id = decodeURIComponent(location.hash.replace(/^#\/?/, ""));
    if (isSessionId(id)) return id;
    const fresh = client.newId();
    history.replaceState(null, "", addressOf(fresh));
    return fresh;
  };

  const addressOf = (id: string): string => `#/${id}`;

  let shown = open(addressed());
  for (const id of keep.unsent()) if (id !== shown.id && isSessionId(id)) closeWhenSent(open(id));

  addEventListener("hashchange", () => {
    const id = addressed();
    if (id === shown.id) return;
    const left = shown;
    shown = open(id);
    closeWhenSent(left);
    for (const listener of [...listeners]) listener();
  });

  return {
    get shown() {
      return shown;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    addressOf,
    begin: () => {
      location.hash = addressOf(client.newId());
    },
  };
};
