/** Who may go on with what is open, and by whose lease it lives (S5, S7, R1). */
import { type Entry, isRunEnded, type Run } from "@espalier/shared";
import { type Holder, holderFor } from "../lease.js";
import type { Actor } from "../principal.js";
import type { SessionState } from "../state.js";

export const holdsRun = (run: Run | undefined, { principal, writer }: Actor): boolean =>
  run?.writer === writer && run.agent === principal.id;

export const holdsEntry = (state: SessionState, entry: Entry, actor: Actor): boolean => {
  if (entry.author !== actor.principal.id) return false;
  if (entry.writer === actor.writer) return true;
  return entry.runId !== undefined && holdsRun(state.runs.get(entry.runId), actor);
};

export const holderOfRun = (run: Run): Holder => holderFor(run.agent, run.writer);

/** A streaming entry lives as long as the lease of its run's writer, who may be another one than began it. */
export const holderOfEntry = (state: SessionState, entry: Entry): Holder => {
  const run = entry.runId === undefined ? undefined : state.runs.get(entry.runId);
  const isHeld = run?.writer !== undefined && !isRunEnded(run.status);
  return isHeld ? holderOfRun(run) : holderFor(entry.author, entry.writer);
};

/** A run that somebody is at work on; the others need no writer (R3). */
export const needsHolder = ({ status }: Run): boolean => status === "active" || status === "cancelling";
