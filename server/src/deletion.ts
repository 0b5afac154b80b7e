/**
 * Removing a session for good (F8): who shares with it is made whole first, then its sidechains go, then it
 * goes itself. What is cut short is done by its repeat. Nobody is told before it is done.
 */
import {
  type Entry,
  type EntryId,
  type ErrorBody,
  isSidechain,
  refusal,
  type SessionId,
} from "@espalier/shared";
import type { Hub } from "./hub.js";
import type { InTurn } from "./in-turn.js";
import { originFault } from "./origin-fault.js";
import { readNow } from "./read-now.js";
import type { Session } from "./session.js";
import { withoutShare } from "./store/heads.js";
import type { LogHeader, LogStore } from "./store/log-store.js";

/** Null where it is gone. */
export type DeleteSession = (id: SessionId) => Promise<ErrorBody | null>;

type DeletionOptions = { readonly hub: Hub; readonly store: LogStore; readonly inTurn: InTurn };

const PAGE = 1000;

export const createDeletion = ({ hub, store, inTurn }: DeletionOptions): DeleteSession => {
  const makeWhole = async (id: SessionId, child: SessionId): Promise<ErrorBody | null> => {
    const error = await hub.use(child, async (session) => {
      const { header, shared } = await sharedBy(session);
      const outcome = await store.makeWhole(child, shared);
      if (outcome.type === "refused") return outcome.error;
      if (outcome.type === "ok" && header !== null) session.becomeWhole(withoutShare(header));
      return null;
    });
    return error === null || error.code === "deleted"
      ? null
      : originFault(
          error.code,
          `unable to delete ${id}; a session that shares with it cannot be made whole`,
          child,
          `unable to make ${child} whole; ${error.message}`,
        );
  };

  const makeSharersWhole = async (id: SessionId): Promise<ErrorBody | null> => {
    for (const child of await store.sharing(id)) {
      const error = await makeWhole(id, child);
      if (error !== null) return error;
    }
    return null;
  };

  const removeOne = async (id: SessionId): Promise<ErrorBody | null> => {
    const unmade = await makeSharersWhole(id);
    if (unmade !== null) return unmade;
    const outcome = await store.remove(id);
    if (outcome.type === "refused") return outcome.error;
    if (outcome.type === "conflict") return absence(id);
    await hub.end(id, refusal("deleted", `unable to go on with ${id}; it was deleted`));
    hub.gone(id);
    return null;
  };

  /** Null where it is gone already. */
  const absence = async (id: SessionId): Promise<ErrorBody | null> => {
    const outcome = await store.load(id);
    if (outcome.type === "refused") return outcome.error.code === "deleted" ? null : outcome.error;
    if (outcome.type === "ok")
      return refusal("unavailable", `unable to delete ${id}; it has just been begun`);
    return refusal("not_found", `unable to delete ${id}; there is no such session`);
  };

  const removeSidechains = async (id: SessionId): Promise<ErrorBody | null> => {
    if (isSidechain(id)) return null;
    for (;;) {
      const { sessions, more } = await store.list({ of: id, archived: true, limit: PAGE });
      const errors = await Promise.all(sessions.map((sidechain) => removeOne(sidechain.id)));
      const error = errors.find((each) => each !== null);
      if (error !== undefined) return error;
      if (!more) return null;
    }
  };

  return (id) =>
    inTurn(
      async () =>
        (await makeSharersWhole(id)) ??
        (await removeSidechains(id)) ??
        (await removeOne(id)) ??
        // One may have been begun meanwhile; from here on none can be.
        (await removeSidechains(id)),
    );
};

type Shared = { readonly header: LogHeader | null; readonly shared: readonly Entry[] };

const sharedBy = (session: Session): Promise<Shared> =>
  readNow(session, ({ state, header, origin }) => {
    const line: Entry[] = [];
    const leaf = origin?.isShared === true ? origin.entry : null;
    for (let at = state.tree.get(leaf as EntryId) ?? null; at !== null; at = at.parent) line.push(at.entry);
    return { header, shared: line.reverse() };
  });
