/**
 * The fold of run records: `requested → active ⇄ suspended → done | failed | cancelled | interrupted`,
 * with `cancelling` between active and cancelled. A run's `seq` is its first record's, `rev` its last's.
 */
import type { RunId } from "./ids.js";
import type { Run, RunStatus } from "./record.js";

/** The steps that are allowed from each status; none from a terminal one (R5). */
export const RUN_STEPS: Record<RunStatus, readonly RunStatus[]> = {
  requested: ["active", "cancelled", "failed"],
  active: ["suspended", "cancelling", "done", "failed", "interrupted"],
  suspended: ["active", "cancelled", "failed", "interrupted"],
  cancelling: ["cancelled"],
  done: [],
  failed: [],
  cancelled: [],
  interrupted: [],
};

export const isRunEnded = (status: RunStatus): boolean => (RUN_STEPS[status] ?? []).length === 0;

export type Runs = {
  get(id: RunId): Run | undefined;
  all(): IterableIterator<Run>;
  /** Runs that have not ended, oldest first. */
  open(): IterableIterator<Run>;
  /** Returns the run as it is now; a record that is known already changes nothing. */
  apply(record: Run): Run;
};

export const createRuns = (): Runs => {
  const runsById = new Map<RunId, Run>();
  const openById = new Map<RunId, Run>();
  return {
    get: (id) => runsById.get(id),
    all: () => runsById.values(),
    open: () => openById.values(),
    apply: (record) => {
      const held = runsById.get(record.id);
      if (held !== undefined && record.rev <= held.rev) return held;
      const run: Run = Object.freeze({ ...record, seq: held?.seq ?? record.seq });
      runsById.set(run.id, run);
      if (isRunEnded(run.status)) openById.delete(run.id);
      else openById.set(run.id, run);
      return run;
    },
  };
};
