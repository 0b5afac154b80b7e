/** The life of a run after it was asked for: claimed by one writer, ended by it, or given up (R1, R5, S7). */
import {
  type Append,
  type EntryStatus,
  isRunEnded,
  type LogRecord,
  type Run,
  type RunStatus,
  type Seq,
  type TreeNode,
  type WriterId,
} from "@espalier/shared";
import type { SessionState } from "../state.js";
import {
  accepted,
  type Command,
  type Context,
  type Decision,
  holdsRun,
  refused,
  seqsAfter,
} from "./decision.js";

/** Granted to one writer only; its repeat is acknowledged. */
export const decideClaim = (
  { state, actor, now }: Context,
  { id }: Extract<Command, { type: "claim" }>,
): Decision => {
  const run = state.runs.get(id);
  if (run === undefined) return refused("not_found", `unable to claim run ${id}; there is no such run`);
  if (holdsRun(run, actor.writer)) return accepted([], { type: "placed", entries: [], run });
  if (run.status !== "requested")
    return refused("conflict", `unable to claim run ${id}; it is ${run.status}`);
  const claimed = stepRun(run, "active", seqsAfter(state.head)(), now, {
    agent: actor.principal.id,
    writer: actor.writer,
  });
  return accepted([claimed], { type: "placed", entries: [], run: claimed });
};

type EndStatus = Exclude<EntryStatus, "streaming">;
const ENTRY_STATUS_AFTER: Record<"done" | "failed", EndStatus> = { done: "complete", failed: "failed" };

/** Ending a run ends its open entries (R5). */
export const decideEnd = (context: Context, command: Extract<Command, { type: "end" }>): Decision => {
  const { state, actor, now } = context;
  const run = state.runs.get(command.id);
  if (run === undefined) return refused("not_found", `unable to end run ${command.id}; there is no such run`);
  if (!holdsRun(run, actor.writer) && actor.principal.admin !== true)
    return refused("forbidden", `unable to end run ${run.id}; another writer holds it`);
  if (isRunEnded(run.status)) {
    return run.status === command.status
      ? accepted([], { type: "placed", entries: [], run })
      : refused("closed", `unable to end run ${run.id}; it is ${run.status}`);
  }
  const nextSeq = seqsAfter(state.head);
  const ended = endEntries(
    state,
    (entry) => entry.runId === run.id,
    ENTRY_STATUS_AFTER[command.status],
    nextSeq,
    now,
  );
  const { usage, error } = command;
  const last = stepRun(run, command.status, nextSeq(), now, {
    ...(usage === undefined ? {} : { usage }),
    ...(error === undefined ? {} : { error }),
  });
  return accepted([...ended, last], { type: "placed", entries: [], run: last });
};

/** Ends what a writer left open when its lease ran out (S7). */
export const expireWriter = (state: SessionState, writer: WriterId | undefined, now: number): LogRecord[] => {
  const nextSeq = seqsAfter(state.head);
  const records: LogRecord[] = endEntries(state, (entry) => entry.writer === writer, "aborted", nextSeq, now);
  for (const run of state.runs.open()) {
    if (run.writer !== writer || writer === undefined) continue;
    if (run.status === "active") records.push(stepRun(run, "interrupted", nextSeq(), now));
    if (run.status === "cancelling") records.push(stepRun(run, "cancelled", nextSeq(), now));
  }
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
