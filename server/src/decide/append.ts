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
import { partSchema } from "@espalier/shared/schema";
import { accepted, type Context, type Decision, holdsRun, refused, seqsAfter } from "./decision.js";

const MAX_PARTS = 10_000;

export const decideAppend = (context: Context, append: AppendDraft): Decision => {
  const { state, now } = context;
  const { id, at, deltas, status, usage } = append;
  const entry = state.tree.get(id)?.entry;
  if (entry === undefined) return refused("not_found", `unable to append; there is no entry ${id}`);
  if (!mayAppend(context, entry))
    return refused("forbidden", `unable to append to ${id}; another writer holds it`);
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
  const isUsageNew = usage !== undefined && !jsonEqual(usage, entry.usage);
  if (end <= size && status === undefined && !isUsageNew) return unchanged(entry);

  const overlap = takeDeltas(deltas, size - at);
  if (at < size && !jsonEqual(mergeDeltas(overlap), mergeDeltas(state.appended(id, at, Math.min(end, size)))))
    return refused("conflict", `unable to append to ${id}; it holds something else at ${at}`);
  const fresh = trimDeltas(deltas, size - at);
  const fault = appendFault(entry, fresh, end);
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

const mayAppend = ({ state, actor }: Context, entry: Entry): boolean => {
  if (actor.principal.admin === true || entry.writer === actor.writer) return true;
  if (entry.author !== actor.principal.id || entry.runId === undefined) return false;
  return holdsRun(state.runs.get(entry.runId), actor.writer);
};

type Deltas = readonly Delta[];
type Fault = { code: "invalid" | "too_large"; reason: string };

const appendFault = (entry: MessageEntry, deltas: Deltas, end: number): Fault | null => {
  if (end > ENTRY_BYTES) return { code: "too_large", reason: `an entry holds at most ${ENTRY_BYTES}` };
  if (entry.parts.length + deltas.length > MAX_PARTS && deltas.some((delta) => "push" in delta))
    return { code: "too_large", reason: `an entry holds at most ${MAX_PARTS} parts` };
  const reason = deltasFault(entry.parts, deltas) ?? setFault(entry, deltas);
  return reason === null ? null : { code: "invalid", reason };
};

/** A part must still be one after fields of it were set. */
const setFault = (entry: MessageEntry, deltas: Deltas): string | null => {
  const pushed = deltas.flatMap((delta) => ("push" in delta ? [delta.push] : []));
  const parts = [...entry.parts, ...pushed];
  for (const delta of deltas) {
    if (!("set" in delta)) continue;
    const part = parts[delta.part];
    if (part === undefined) return `part ${delta.part} does not exist`;
    const next = { ...part, ...delta.set };
    if (next.type !== part.type) return `part ${delta.part} cannot change its type`;
    const checked = partSchema.safeParse(next);
    if (!checked.success) return `part ${delta.part} would be no ${part.type}`;
  }
  return null;
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
  deltas: deltas as AppendDraft["deltas"],
  ...(status === undefined ? {} : { status }),
  ...(usage === undefined ? {} : { usage }),
});
