/**
 * The list of a client's sessions, and those who watch it. A connection that comes back takes the newest page
 * again; what was known and would be on it, and is not, is gone.
 */
import {
  type ErrorBody,
  isSidechain,
  type Runtime,
  type ServerMessage,
  type SessionId,
  type SessionSummary,
} from "@espalier/shared";
import type { Client, ListListener } from "./client-types.js";
import { createListeners } from "./listeners.js";
import { type Ask, errorOf, type Unnumbered } from "./requests.js";
import { sessionId } from "./session-id.js";

export type SessionList = Pick<Client, "list" | "watch"> & {
  /** Sessions changed, or were deleted. */
  told(message: Extract<ServerMessage, { type: "sessions" | "gone" }>): void;
  /** There is a new connection. */
  connected(): void;
  close(): void;
};

const LIST_LIMIT = 100;

export const createSessionList = (
  runtime: Pick<Runtime, "defer">,
  ask: Ask<Unnumbered>,
  isConnected: () => boolean,
): SessionList => {
  const watchers = createListeners<Parameters<ListListener>>(runtime);
  /** The last change of each that watchers were told of and that a list without further wishes holds. */
  const changedAtById = new Map<SessionId, number>();

  const tell = (sessions: readonly SessionSummary[], gone: readonly SessionId[]): void => {
    for (const { id, changedAt, isArchived } of sessions)
      if (isArchived !== true && !isSidechain(id)) changedAtById.set(id, changedAt);
      else changedAtById.delete(id);
    for (const id of gone) changedAtById.delete(id);
    watchers.tell([sessions, gone]);
  };

  const watchNewest = async (): Promise<void> => {
    if (watchers.size === 0) return;
    await ask({ type: "list", limit: LIST_LIMIT, watch: true }, (reply) => {
      if (reply.type === "listed") tell(reply.sessions, missingOf(reply.sessions, reply.more));
    });
  };

  const missingOf = (sessions: readonly SessionSummary[], isMore: boolean): SessionId[] => {
    const listed = new Set(sessions.map(({ id }) => id));
    const reachesTo = isMore ? (sessions.at(-1)?.changedAt ?? 0) : Number.NEGATIVE_INFINITY;
    return [...changedAtById]
      .filter(([id, changedAt]) => !listed.has(id) && changedAt > reachesTo)
      .map(([id]) => id);
  };

  return {
    list: async ({ limit = LIST_LIMIT, after, of, ...page } = {}) => {
      const reply = await ask({
        type: "list",
        limit,
        ...page,
        ...(after === undefined ? {} : { after: sessionId(after, "list sessions") }),
        ...(of === undefined ? {} : { of: sessionId(of, "list sidechains") }),
      });
      if (reply.type === "listed") return { sessions: reply.sessions, more: reply.more };
      return errorOf(reply) as ErrorBody;
    },
    watch: (listener) => {
      const undo = watchers.add(([sessions, gone]) => listener(sessions, gone));
      if (isConnected()) void watchNewest();
      return undo;
    },
    told: (message) => (message.type === "gone" ? tell([], message.sessions) : tell(message.sessions, [])),
    connected: () => void watchNewest(),
    close: () => watchers.clear(),
  };
};
