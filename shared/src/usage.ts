/**
 * What was used, added up (C9). An entry counts once, by its id, with the latest figure that it brought,
 * however often it is sent again, paged, or kept by a compaction.
 *
 * A run counts by its entries; its own figure counts only while none of them brings one, so that nothing
 * counts twice. Every figure counts under the model that it names, or under "unknown".
 */
import type { EntryId, RunId, Seq } from "./ids.js";
import type { UsageTotals } from "./protocol.js";
import type { Entry, Register, Run, Usage } from "./record.js";
import { RESET } from "./register-keys.js";
import { createTally, type Tally } from "./usage-tally.js";

/**
 * The total of all entries on a path, those that a fork inherited included.
 *
 * ```ts
 * usageOfPath(path).costUsd; // 0.0314
 * ```
 */
export const usageOfPath = (path: readonly Entry[]): UsageTotals => {
  const tally = createTally();
  for (const { usage } of path) if (usage !== undefined) tally.add(usage);
  return tally.totals();
};

export type SessionUsage = {
  /**
   * Takes an entry or run as it is after a record, or a register. One that changes no figure costs O(1).
   * `begunSeq` is the seq of the first entry of its line: what a line of before a reset goes on with is not counted
   * (F8). By default its own.
   */
  apply(item: Entry | Run | Register, begunSeq?: Seq): void;
  /** Of the lines that began since the last reset (F8), without what a fork inherited. Frozen. */
  totals(): UsageTotals;
  /** Of one run, whatever came since; all zero for one that used nothing. */
  ofRun(id: RunId): UsageTotals;
};

export type SessionUsageOptions = {
  /** The highest seq of what a fork inherited; all up to it is not the session's own (C9). */
  readonly inheritedSeq?: Seq;
};

/** Where in the log something stands, and where its line began. */
type Stand = { readonly seq: Seq; readonly begunSeq: Seq };

type Figure = Stand & { usage: Usage; rev: Seq; readonly run: RunFigures | null };

type RunFigures = {
  readonly tally: Tally;
  /** How many entries brought a figure. */
  entries: number;
  /** What the run itself brought. */
  own: (Stand & { readonly usage: Usage; readonly rev: Seq }) | null;
};

/**
 * The usage of a session, folded from its log. A sidechain is a log of its own; `addUsage` puts them together.
 *
 * ```ts
 * const usage = createSessionUsage();
 * const applied = tree.apply(record);
 * if (applied.type === "added" || applied.type === "changed")
 *   usage.apply(applied.node.entry, tree.topOf(applied.node).entry.seq);
 * ```
 */
export const createSessionUsage = ({ inheritedSeq }: SessionUsageOptions = {}): SessionUsage => {
  const figuresById = new Map<EntryId, Figure>();
  const runsById = new Map<RunId, RunFigures>();
  let reset: Register | null = null;
  let session = createTally();

  const isOfSession = ({ seq, begunSeq }: Stand): boolean =>
    seq > (inheritedSeq ?? 0) && (reset === null || reset.value === null || begunSeq > reset.seq);

  const runOf = (id: RunId): RunFigures => {
    const held = runsById.get(id);
    if (held !== undefined) return held;
    const run: RunFigures = { tally: createTally(), entries: 0, own: null };
    runsById.set(id, run);
    return run;
  };

  /** Where a figure is counted: in its run, and in the session where it is of the session. */
  const talliesOf = (run: RunFigures | null, stand: Stand): Tally[] => [
    ...(run === null ? [] : [run.tally]),
    ...(isOfSession(stand) ? [session] : []),
  ];

  const count = (figure: Figure): void => {
    for (const tally of talliesOf(figure.run, figure)) tally.add(figure.usage);
  };
  const uncount = (figure: Figure): void => {
    for (const tally of talliesOf(figure.run, figure)) tally.remove(figure.usage);
  };
  const uncountRun = (run: RunFigures): void => {
    const { own } = run;
    if (own === null || run.entries > 0) return;
    for (const tally of talliesOf(run, own)) tally.remove(own.usage);
  };

  const applyEntry = ({ id, runId, seq, rev, usage }: Entry, begunSeq: Seq): void => {
    if (usage === undefined) return;
    const held = figuresById.get(id);
    if (held !== undefined) {
      if (rev <= held.rev || usage === held.usage) return;
      uncount(held);
      held.usage = usage;
      held.rev = rev;
      count(held);
      return;
    }
    const run = runId === undefined ? null : runOf(runId);
    const figure: Figure = { usage, rev, seq, begunSeq, run };
    figuresById.set(id, figure);
    if (run !== null) {
      uncountRun(run);
      run.entries++;
    }
    count(figure);
  };

  const applyRun = ({ id, seq, rev, usage }: Run, begunSeq: Seq): void => {
    if (usage === undefined) return;
    const run = runOf(id);
    if (run.own !== null && rev <= run.own.rev) return;
    uncountRun(run);
    run.own = { usage, seq, begunSeq, rev };
    if (run.entries > 0) return;
    for (const tally of talliesOf(run, run.own)) tally.add(usage);
  };

  const applyRegister = (register: Register): void => {
    if (register.key !== RESET || (reset !== null && register.seq <= reset.seq)) return;
    reset = register;
    session = createTally();
    for (const figure of figuresById.values()) if (isOfSession(figure)) session.add(figure.usage);
    for (const { entries, own } of runsById.values())
      if (own !== null && entries === 0 && isOfSession(own)) session.add(own.usage);
  };

  return {
    apply: (item, begunSeq = item.seq) => {
      if (item.kind === "entry") applyEntry(item, begunSeq);
      else if (item.kind === "run") applyRun(item, begunSeq);
      else applyRegister(item);
    },
    totals: () => session.totals(),
    ofRun: (id) => (runsById.get(id)?.tally ?? createTally()).totals(),
  };
};
