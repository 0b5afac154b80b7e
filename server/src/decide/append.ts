/** Appending to a streaming message: repeats, overlaps, gaps, and who may (S3, S5). */
import {
  type Append,
  type AppendDraft,
  type Delta,
  deltasFault,
  ENTRY_BYTES,
  type Entry,
  jsonEqual,
  type MessageEntry,
  mergeDeltas,
  type Seq,
  sizeOfDeltas,
  takeDeltas,
  trimDeltas,
} from "@espalier/shared";
import { weightOfDeltas } from "../frame.js";
import { accepted, type Context, type Decision, refused, seqsAfter } from "./decision.js";
import { holdsEntry } from "./holder.js";

const MAX_PARTS = 10_000;

export const decideAppend = (context: Context, append: AppendDraft): Decision => {
  const { state, actor, now } = context;
  const { id, at, deltas, status, usage } = append;
  const entry = state.tree.get(id)?.entry;
  if (entry === undefined) return refused("not_found", `unable to append; there is no entry ${id}`);
  if (!holdsEntry(state, entry, actor) && actor.principal.admin !== true)
    return refused("forbidden", `unable to append to ${id}; another writer holds it`);
  if (entry.type === "erased") return refused("closed", `unable to append to ${id}; it was erased`);
  const { size } = entry;
  const end = at + sizeOfDeltas(deltas);
  if (entry.status !== "streaming" || entry.type !== "message") {
    const isRepeat = status === undefined ? end <= size : end === size && status === entry.status;
    return isRepeat
      ? unchanged(entry)
      : refused("closed", `unable to append to ${id}; it is ${entry.status}`);
  }
  if (at > size || (end < size && status !== undefined))
    return refused(
      "gap",
      `unable to append to ${id}; it holds ${size} and the append covers ${at} to ${end}`,
      { size },
    );
  // What starts below the size was counted before; its usage may since have been replaced.
  const isUsageNew = at === size && usage !== undefined && !jsonEqual(usage, entry.usage);
  if (end <= size && status === undefined && !isUsageNew) return unchanged(entry);

  const overlap = takeDeltas(deltas, size - at);
  if (at < size && !jsonEqual(mergeDeltas(overlap), mergeDeltas(state.appended(id, at, Math.min(end, size)))))
    return refused("conflict", `unable to append to ${id}; it holds something else at ${at}`);
  const fresh = trimDeltas(deltas, size - at);
  const fault = appendFault(entry, fresh, state.weight(id));
  if (fault !== null) return refused(fault.code, `unable to append to ${id}; ${fault.reason}`);
  const seq = seqsAfter(state.head)();
  return accepted([toRecord(append, fresh, size, seq, now)], {
    type: "appended",
    id,
    size: Math.max(size, end),
    status: status ?? "streaming",
  });
};

const unchanged = ({ id, size, status }: Entry): Decision =>
  accepted([], { type: "appended", id, size, status });

type Deltas = readonly Delta[];
type Fault = { code: "invalid" | "too_large"; reason: string };

const appendFault = (entry: MessageEntry, deltas: Deltas, weight: number): Fault | null => {
  if (weight + weightOfDeltas(deltas) > ENTRY_BYTES)
    return { code: "too_large", reason: `an entry holds at most ${ENTRY_BYTES} bytes` };
  const pushes = deltas.reduce((count, delta) => ("push" in delta ? count + 1 : count), 0);
  if (pushes > 0 && entry.parts.length + pushes > MAX_PARTS)
    return { code: "too_large", reason: `an entry holds at most ${MAX_PARTS} parts` };
  const reason = deltasFault(entry.parts, deltas);
  return reason === null ? null : { code: "invalid", reason };
};

const toRecord = (
  { id, usage, status }: AppendDraft,
  deltas: Deltas,
  at: number,
  seq: Seq,
  time: number,
): Append => ({
  kind: "append",
  id,
  seq,
  time,
  at,
  deltas,
  ...(status === undefined ? {} : { status }),
  ...(usage === undefined ? {} : { usage }),
});
