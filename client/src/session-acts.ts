/** What is done to a session as a whole, and the sidechains that are opened from it. */
import { ARCHIVED, EspalierError, isId, RESET, rootOf, type SessionId } from "@espalier/shared";
import type { Client } from "./client-types.js";
import type { Outgoing } from "./outgoing.js";
import { errorOf } from "./requests.js";
import type { Session } from "./session-types.js";
import type { ShownRegisters } from "./shown-registers.js";
import type { Sync } from "./sync.js";

export type SessionActs = Pick<Session, "erase" | "reset" | "archive" | "sidechain" | "sidechains">;

type ActsOptions = {
  readonly id: SessionId;
  readonly newId: () => string;
  readonly registers: ShownRegisters;
  readonly sync: Pick<Sync, "askUntilAnswered">;
  readonly outgoing: Pick<Outgoing, "queue" | "whenSettled">;
  readonly client: Pick<Client, "session" | "list">;
};

export const createSessionActs = (options: ActsOptions): SessionActs => {
  const { id, newId, registers, sync, outgoing, client } = options;
  const rootId = rootOf(id);
  return {
    erase: async (entryId) => errorOf(await sync.askUntilAnswered({ type: "erase", id: entryId })),
    reset: () => registers.set(RESET, newId()),
    archive: (isArchived = true) => registers.set(ARCHIVED, isArchived ? true : null),
    sidechain: (agentId, { entryId, callId }) => {
      if (!isId(agentId))
        throw new EspalierError(
          "invalid_id",
          `unable to open a sidechain; ${JSON.stringify(agentId)} is no agent's id`,
        );
      const start = { session: id, entry: entryId, ...(callId === undefined ? {} : { callId }) };
      const write = outgoing.queue.ofEntry(entryId);
      return client.session(`${rootId}/${agentId}`, {
        create: true,
        origin: start,
        // Its root session may come into being with that write.
        ...(write === undefined ? {} : { after: outgoing.whenSettled(write.id) }),
      });
    },
    sidechains: (page = {}) => client.list({ ...page, of: rootId }),
  };
};
