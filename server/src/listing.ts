/** The list of sessions as one connection may see it: asked for in pages, and watched (F4). */
import type { ClientMessage, ServerMessage, SessionId, SessionSummary } from "@espalier/shared";
import type { Watcher } from "./announcer.js";
import type { Hub } from "./hub.js";
import { maskSummary } from "./origin.js";
import { mayDo, type SignedIn } from "./principal.js";

type List = Extract<ClientMessage, { type: "list" }>;

export type Listing = {
  list(message: List): Promise<ServerMessage>;
  close(): void;
};

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
    list: async ({ n, limit, after, archived, of, watch: isWatched }) => {
      if (isWatched === true) watch();
      const isListed = (id: SessionId): boolean => isReadable({ id });
      const { sessions, more } = await hub.list({ limit, after, archived, of, isListed });
      return {
        type: "listed",
        n,
        sessions: sessions.map((summary) => maskSummary(summary, principal)),
        more,
      };
    },
    close: () => {
      isClosed = true;
      unwatch?.();
    },
  };
};
