/**
 * Erasing an entry wherever it is (L2): in the log that keeps it, and then in every session that shares it,
 * open or not, so that each reader hears of it. It is gone from the disk first; what is cut short is done by
 * its repeat, and told by a session that shares it when that is opened.
 */
import { type EntryId, type ErrorBody, refusal, type SessionId } from "@espalier/shared";
import type { Hub } from "./hub.js";
import type { InTurn } from "./in-turn.js";
import type { Actor } from "./principal.js";
import { readNow } from "./read-now.js";
import type { Session } from "./session.js";
import type { LogStore } from "./store/log-store.js";

/** Null where it is erased, on disk. */
export type EraseEntry = (session: SessionId, id: EntryId, actor: Actor) => Promise<ErrorBody | null>;

type ErasureOptions = { readonly hub: Hub; readonly store: LogStore; readonly inTurn: InTurn };

/** A session that cannot be opened shows nothing to anybody; it learns of the erase when it can be. */
const UNREADABLE = new Set<ErrorBody["code"]>(["damaged", "newer_version", "deleted"]);

export const createErasure = ({ hub, store, inTurn }: ErasureOptions): EraseEntry => {
  /** The session whose log has the entry: a loop up the chain of forks. */
  const ownerOf = async (session: SessionId, id: EntryId): Promise<SessionId | ErrorBody> => {
    for (let at = session; ; ) {
      const above = await hub.use(at, (opened) => originOfEntry(opened, id));
      if (above === null) return at;
      if (typeof above !== "string") return above;
      at = above;
    }
  };

  const eraseIn = (session: SessionId, id: EntryId, actor: Actor): Promise<ErrorBody | null> =>
    hub.use(
      session,
      (opened) =>
        new Promise<ErrorBody | null>((resolve) =>
          opened.submit({ type: "erase", id }, actor, (decision) =>
            resolve(decision.type === "refused" ? decision.error : null),
          ),
        ),
    );

  const tellSharers = async (owner: SessionId, id: EntryId, actor: Actor): Promise<ErrorBody | null> => {
    const pending = [...(await store.sharing(owner))];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const error = await eraseIn(next, id, actor);
      if (error === null) pending.push(...(await store.sharing(next)));
      // It shares another line.
      else if (error.code === "not_found") continue;
      // Those that share with it cannot be opened either.
      else if (!UNREADABLE.has(error.code)) return error;
    }
    return null;
  };

  return (session, id, actor) =>
    inTurn(async () => {
      const owner = await ownerOf(session, id);
      if (typeof owner !== "string") return owner;
      return (await eraseIn(owner, id, actor)) ?? (await tellSharers(owner, id, actor));
    });
};

/** Where a session shares the entry from; null where its own log has it. */
const originOfEntry = (session: Session, id: EntryId): Promise<SessionId | null | ErrorBody> =>
  readNow(session, ({ state, header, origin }) => {
    const entry = state.tree.get(id)?.entry;
    if (entry === undefined)
      return refusal("not_found", `unable to erase; there is no entry ${id} in ${session.id}`);
    const isShared = origin?.isShared === true && entry.seq <= (header?.inherited ?? 0);
    return isShared ? origin.session : null;
  });
