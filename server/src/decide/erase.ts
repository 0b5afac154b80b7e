/** Taking an entry's content away for good: for admins, and only once (L2). */
import type { Append, Entry, Erase, LogRecord } from "@espalier/shared";
import type { SessionState } from "../state.js";
import { accepted, type Command, type Context, type Decision, refused, seqsAfter } from "./decision.js";

/** One that still streams is ended first, so that its writer hears of it. */
export const decideErase = (
  { state, actor, now }: Context,
  { id, which }: Extract<Command, { type: "erase" }>,
): Decision => {
  if (actor.principal.admin !== true)
    return refused("forbidden", `unable to erase ${id}; ${actor.principal.id} is no admin`);
  const entry = state.tree.get(id)?.entry;
  if (entry === undefined || (which === "shared" && entry.seq > state.inherited))
    return refused("not_found", `unable to erase; there is no entry ${id}`);
  if (entry.type === "erased") return accepted([], { type: "placed", entries: [] });
  const nextSeq = seqsAfter(state.head);
  const ended: LogRecord[] = entry.status === "streaming" ? [abort(entry, nextSeq(), now)] : [];
  const erase: Erase = { kind: "erase", id, seq: nextSeq(), time: now, author: actor.principal.id };
  return accepted([...ended, erase], { type: "placed", entries: [] });
};

const abort = ({ id, size }: Entry, seq: Erase["seq"], time: number): Append => ({
  kind: "append",
  id,
  seq,
  time,
  at: size,
  deltas: [],
  status: "aborted",
});

/**
 * What this session's readers have not been told yet: an entry that it shares was erased where it is kept,
 * and the erase did not come to be recorded here.
 */
export const recordMissedErases = (state: SessionState, now: number): Erase[] => {
  const nextSeq = seqsAfter(state.head);
  return state
    .missedErases()
    .map(({ id, author }) => ({ kind: "erase", id, seq: nextSeq(), time: now, author }));
};
