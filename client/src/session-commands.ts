/** What a client does to sessions that it need not have joined (F1, F2, F8): each may be asked for again. */
import type { ErrorBody } from "@espalier/shared";
import type { Client } from "./client-types.js";
import { type Ask, errorOf, type Unnumbered } from "./requests.js";
import { sessionId } from "./session-id.js";

export type SessionCommands = Pick<Client, "fork" | "delete" | "archive">;

type CommandsOptions = {
  /** Waits for a connection, and asks until there is an answer. */
  readonly ask: Ask<Unnumbered>;
  readonly newId: () => string;
  readonly borrow: Client["borrow"];
};

export const createSessionCommands = ({ ask, newId, borrow }: CommandsOptions): SessionCommands => ({
  fork: async ({ from, session, mode = "share" }) => {
    // Named here, so that a repeat makes no second one.
    const named = sessionId(session ?? newId(), "fork a session");
    const source = { session: sessionId(from.session, "fork a session"), entry: from.entry };
    const reply = await ask({ type: "fork", session: named, from: source, mode });
    if (reply.type !== "forked") return errorOf(reply) as ErrorBody;
    return { session: reply.session, entry: reply.entry, isCutBack: reply.entry !== from.entry };
  },
  delete: async (id) => {
    const refused = errorOf(await ask({ type: "delete", session: sessionId(id, "delete a session") }));
    // The first answer may have been lost.
    return refused?.code === "deleted" ? null : refused;
  },
  archive: async (id, isArchived) => {
    const { session, release } = borrow(id);
    const refused = await session.archive(isArchived);
    release();
    return refused;
  },
});
