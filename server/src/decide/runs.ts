/** The life of a run after it was asked for: claimed by one writer, ended by it, or given up (R1, R5, S7). */
import {
  type Append,
  type EntryStatus,
  isRunEnded,
  type LogRecord,
  RUN_STEPS,
  type Run,
  type RunStatus,
  type Seq,
  type TreeNode,
} from "@espalier/shared";
import type { Holder } from "../lease.js";
import type { SessionState } from "../state.js";
import { accepted, type Command, type Context, type Decision, refused, seqsAfter } from "./decision.js";
import { holderOfEntry, holderOfRun, holdsRun, needsHolder } from "./holder.js";

/** Granted to one writer only; its repeat is acknowledged. */
export const decideClaim = (
  { state, actor, now }: Context,
  { id }: Extract<Command, { type: "claim" }>,
): Decision => {
  const run = state.runs.get(id);
  if (run === undefined) return refused("not_found", `unable to claim run ${id}; there is no such run`);
  if (holdsRun(run, actor)) return accepted([], { type: "placed", entries: [], run });
  if (run.status !== "requested")
    return refused("conflict", `unable to claim run ${id}; it is ${run.status}`);
  const claimed = stepRun(run, "active", seqsAfter(state.head)(), now, {
    agent: actor.principal.id,
    writer: actor.writer,
  });
  return accepted([claimed], { type: "placed", entries: [], run: claimed });
};

type EndStatus = Exclude<EntryStatus, "streaming">;
type Ending = "done" | "failed" | "cancelled";
const ENTRY_STATUS_AFTER: Record<Ending, EndStatus> = {
  done: "complete",
  failed: "failed",
  cancelled: "aborted",
};

/** Ending a run ends its open entries (R5). What ends while it is cancelled was cancelled (R2). */
export const decideEnd = (context: Context, command: Extract<Command, { type: "end" }>): Decision => {
  const { state, actor, now } = context;
  const run = state.runs.get(command.id);
  if (run === undefined) return refused("not_found", `unable to end run ${command.id}; there is no such run`);
  if (!holdsRun(run, actor) && actor.principal.admin !== true)
    return refused("forbidden", `unable to end run ${run.id}; another writer holds it`);
  if (isRunEnded(run.status)) {
    return run.status === command.status || run.status === "cancelled"
      ? accepted([], { type: "placed", entries: [], run })
      : refused("closed", `unable to end run ${run.id}; it is ${run.status}`);
  }
  const status: Ending = run.status === "cancelling" ? "cancelled" : command.status;
  if (!RUN_STEPS[run.status].includes(status))
    return refused("conflict", `unable to end run ${run.id} as ${status}; it is ${run.status}`);
  const nextSeq = seqsAfter(state.head);
  const ended = endEntries(
    state,
    (entry) => entry.runId === run.id,
    ENTRY_STATUS_AFTER[status],
    nextSeq,
    now,
  );
  const { usage, error } = command;
  const last = stepRun(run, status, nextSeq(), now, {
    ...(usage === undefined ? {} : { usage }),
    ...(error === undefined ? {} : { error }),
  });
  return accepted([...ended, last], { type: "placed", entries: [], run: last });
};

/** Ends what a writer left open when its lease ran out (S7). */
export const expireHolder = (state: SessionState, holder: Holder, now: number): LogRecord[] => {
  const nextSeq = seqsAfter(state.head);
  const isLeft = (entry: TreeNode["entry"]): boolean => holderOfEntry(state, entry) === holder;
  const records: LogRecord[] = endEntries(state, isLeft, "aborted", nextSeq, now);
  for (const run of state.runs.open())
    if (needsHolder(run) && holderOfRun(run) === holder)
      records.push(stepRun(run, run.status === "active" ? "interrupted" : "cancelled", nextSeq(), now));
  return records;
};

const endEntries = (
  state: SessionState,
  isMeant: (entry: TreeNode["entry"]) => boolean,
  status: EndStatus,
  nextSeq: () => Seq,
  time: number,
): Append[] => {
  const ended: Append[] = [];
  for (const { entry } of state.open())
    if (isMeant(entry))
      ended.push({ kind: "append", id: entry.id, seq: nextSeq(), time, at: entry.size, deltas: [], status });
  return ended;
};

const stepRun = (run: Run, status: RunStatus, seq: Seq, time: number, more: Partial<Run> = {}): Run => ({
  ...run,
  seq,
  rev: seq,
  time,
  status,
  ...more,
});
