/**
 * Erasing an entry wherever it is (L2): in the log that keeps it, and then in every session that shares it,
 * open or not, so that each reader hears of it. It is acknowledged when it is gone from the disk everywhere;
 * what is cut short is done by its repeat, and told by a session that shares it when that is opened. Others
 * have their turn as soon as all of it is committed, however long a disk takes.
 */
import { type EntryId, type ErrorBody, refusal, type SessionId } from "@espalier/shared";
import type { Hub } from "./hub.js";
import type { InTurn } from "./in-turn.js";
import { type Actor, mayDo } from "./principal.js";
import { readNow } from "./read-now.js";
import type { Session } from "./session.js";
import type { LogStore } from "./store/log-store.js";

/** Null where it is erased, on disk. */
export type EraseEntry = (session: SessionId, id: EntryId, actor: Actor) => Promise<ErrorBody | null>;

type ErasureOptions = { readonly hub: Hub; readonly store: LogStore; readonly inTurn: InTurn };

/** Committed in a session; `done` resolves when it is on disk there, or with what kept it from that. */
type Committed = { readonly done: Promise<ErrorBody | null> };

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

  const eraseIn = async (
    session: SessionId,
    id: EntryId,
    actor: Actor,
    which: "any" | "shared",
  ): Promise<Committed | ErrorBody> => {
    const opened = await hub.open(session, false);
    if (opened.type === "refused") return opened.error;
    const done = submitErase(opened.session, id, actor, which)
      .then((error) => unlessDeleted(session, error))
      .finally(opened.release);
    // Answered after the commit, and not after the sync.
    const found = await readNow(opened.session, ({ state }) => state.tree.get(id)?.entry.type ?? null).catch(
      () => undefined,
    );
    if (found === null) return notThere(id, session);
    return found === "erased" ? { done } : ((await done) ?? { done });
  };

  /** A session that was deleted before its disk had taken the erase holds nothing any more. */
  const unlessDeleted = async (session: SessionId, error: ErrorBody | null): Promise<ErrorBody | null> =>
    error?.code === "not_joined" && (await store.summary(session)) === null ? null : error;

  const eraseInSharers = async (
    owner: SessionId,
    id: EntryId,
    actor: Actor,
    committed: Committed[],
  ): Promise<ErrorBody | null> => {
    const seen = new Set([owner]);
    const pending = [...(await store.sharing(owner))];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      const outcome = await eraseIn(next, id, actor, "shared");
      // It shares another line, and may have an entry of its own by that id.
      if ("code" in outcome && outcome.code === "not_found") continue;
      if ("code" in outcome && !UNREADABLE.has(outcome.code)) return outcome;
      if (!("code" in outcome)) committed.push(outcome);
      // Also of one that cannot be opened any more: those that share with it may be open already.
      pending.push(...(await store.sharing(next)));
    }
    return null;
  };

  /** What was committed, also where a session could not be told. */
  const eraseAll = async (
    session: SessionId,
    id: EntryId,
    actor: Actor,
  ): Promise<{ readonly committed: readonly Committed[]; readonly error: ErrorBody | null }> => {
    const owner = await ownerOf(session, id);
    if (typeof owner !== "string") return { committed: [], error: owner };
    if (!mayDo(actor.principal, "write", owner)) return { committed: [], error: notOwned(id, actor) };
    const outcome = await eraseIn(owner, id, actor, "any");
    if ("code" in outcome) return { committed: [], error: outcome };
    const committed = [outcome];
    return { error: await eraseInSharers(owner, id, actor, committed), committed };
  };

  return async (session, id, actor) => {
    const { committed, error } = await inTurn(() => eraseAll(session, id, actor));
    const faults = await Promise.all(committed.map(({ done }) => done));
    return error ?? faults.find((fault) => fault !== null) ?? null;
  };
};

const submitErase = (
  session: Session,
  id: EntryId,
  actor: Actor,
  which: "any" | "shared",
): Promise<ErrorBody | null> =>
  new Promise((resolve) =>
    session.submit({ type: "erase", id, which }, actor, (decision) =>
      resolve(decision.type === "refused" ? decision.error : null),
    ),
  );

/** Where a session shares the entry from; null where its own log has it. */
const originOfEntry = (session: Session, id: EntryId): Promise<SessionId | null | ErrorBody> =>
  readNow(session, ({ state, header, origin }) => {
    const entry = state.tree.get(id)?.entry;
    if (entry === undefined) return notThere(id, session.id);
    const isShared = origin?.isShared === true && entry.seq <= (header?.inherited ?? 0);
    return isShared ? origin.session : null;
  });

const notThere = (id: EntryId, session: SessionId): ErrorBody =>
  refusal("not_found", `unable to erase; there is no entry ${id} in ${session}`);

const notOwned = (id: EntryId, { principal }: Actor): ErrorBody =>
  refusal("forbidden", `unable to erase ${id}; ${principal.id} may not write to the session that keeps it`);
