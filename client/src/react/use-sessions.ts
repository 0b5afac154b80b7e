/** The sessions of a client's server, as they come and change. */
import type { SessionId, SessionSummary } from "@espalier/shared";
import { useMemo, useSyncExternalStore } from "react";
import type { Client } from "../client.js";

/**
 * The newest sessions that `client.watch` tells of, the last changed first, without those that are archived and
 * without sidechains. Empty before the first answer.
 */
export const useSessions = (client: Client): readonly SessionSummary[] => {
  const { subscribe, read } = useMemo(() => createSessionsStore(client), [client]);
  return useSyncExternalStore(subscribe, read, read);
};

const createSessionsStore = (client: Client) => {
  const summariesById = new Map<SessionId, SessionSummary>();
  let list: readonly SessionSummary[] = [];

  const take = (sessions: readonly SessionSummary[], gone: readonly SessionId[]): void => {
    for (const summary of sessions) summariesById.set(summary.id, summary);
    for (const { id, isArchived } of sessions)
      if (isArchived === true || id.includes("/")) summariesById.delete(id);
    for (const id of gone) summariesById.delete(id);
    list = [...summariesById.values()].sort((a, b) => b.changedAt - a.changedAt);
  };

  return {
    subscribe: (onChange: () => void) =>
      client.watch((sessions, gone) => {
        take(sessions, gone);
        onChange();
      }),
    read: (): readonly SessionSummary[] => list,
  };
};
