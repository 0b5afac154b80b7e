/** The list of sessions as one connection may see it: asked for in pages, and watched (F4). */
import type { ClientMessage, ServerMessage, SessionSummary } from "@espalier/shared";
import type { Watcher } from "./announcer.js";
import type { Hub } from "./hub.js";
import { maskSummary } from "./origin.js";
import { mayDo, type SignedIn } from "./principal.js";

type List = Extract<ClientMessage, { type: "list" }>;

export type Listing = {
  list(message: List): Promise<ServerMessage>;
  close(): void;
};

/** What is asked of the store at once, where only some of it may be shown. */
const LIST_PAGE = 1000;

export const createListing = (hub: Hub, principal: SignedIn, watcher: Watcher): Listing => {
  let unwatch: (() => void) | null = null;
  let isClosed = false;

  const isReadable = ({ id }: Pick<SessionSummary, "id">): boolean => mayDo(principal, "read", id);

  const watch = (): void => {
    if (isClosed) return;
    unwatch ??= hub.watch({
      changed: (summary) => {
        if (isReadable(summary)) watcher.changed(maskSummary(summary, principal));
      },
      gone: (id) => {
        if (isReadable({ id })) watcher.gone(id);
      },
    });
  };

  return {
    list: async ({ n, limit, archived, of, ...message }) => {
      if (message.watch === true) watch();
      const sessions: SessionSummary[] = [];
      let { after } = message;
      for (;;) {
        const found = await hub.list({ limit: LIST_PAGE, after, archived, of });
        const readable = found.sessions.filter(isReadable);
        const room = limit - sessions.length;
        for (const summary of readable.slice(0, room)) sessions.push(maskSummary(summary, principal));
        const more = found.more || readable.length > room;
        after = found.sessions.at(-1)?.id;
        if (sessions.length >= limit || !found.more) return { type: "listed", n, sessions, more };
      }
    },
    close: () => {
      isClosed = true;
      unwatch?.();
    },
  };
};
