/** The sessions of a client's server, as they come and change. */
import type { SessionId, SessionSummary } from "@espalier/shared";
import { useMemo, useSyncExternalStore } from "react";
import type { Client } from "../client.js";

/** The newest sessions that `client.watch` tells of, the last changed first. Empty before the first answer. */
export const useSessions = (client: Client): readonly SessionSummary[] => {
  const { subscribe, read } = useMemo(() => createSessionsStore(client), [client]);
  return useSyncExternalStore(subscribe, read, read);
};

const createSessionsStore = (client: Client) => {
  const summariesById = new Map<SessionId, SessionSummary>();
  let list: readonly SessionSummary[] = [];

  const take = (sessions: readonly SessionSummary[]): void => {
    for (const summary of sessions) summariesById.set(summary.id, summary);
    list = [...summariesById.values()].sort((a, b) => b.changedAt - a.changedAt);
  };

  return {
    subscribe: (onChange: () => void) =>
      client.watch((sessions) => {
        take(sessions);
        onChange();
      }),
    read: (): readonly SessionSummary[] => list,
  };
};
