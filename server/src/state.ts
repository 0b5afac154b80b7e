/**
 * A session as it is now: the fold of its log, with what deciding needs beside the tree. Only `apply`
 * changes it, in the order of the log.
 */
import {
  createRuns,
  createSessionUsage,
  createTree,
  type Delta,
  type Entry,
  type EntryId,
  isRunEnded,
  type LogRecord,
  type PrincipalId,
  type Register,
  type Run,
  type RunId,
  type Runs,
  type Seq,
  type SessionUsage,
  type Tree,
  type TreeNode,
} from "@espalier/shared";
import { createGrowth, type Growth } from "./growth.js";
import { createSessionRegisters, type SessionRegisters } from "./session-registers.js";
import type { LoadedLog } from "./shared-log.js";

export type SessionState = {
  /** The highest seq, or the floor that seqs must rise from (D2). */
  readonly head: number;
  /** Entries up to this seq were taken over by a fork; 0 where none were. */
  readonly inherited: number;
  readonly tree: Tree;
  readonly runs: Runs;
  readonly registers: SessionRegisters;
  /** What its own entries used, since the last reset (C9). */
  readonly usage: SessionUsage;
  /** Time of the last record, ms; 0 where there is none. */
  readonly changedAt: number;
  /** What every join names: streaming entries, and runs that have not ended. */
  readonly unfinished: { readonly entries: number; readonly runs: number };
  /** Streaming entries, in the order in which they began. */
  open(): IterableIterator<TreeNode>;
  /** The entry as it was published, before any append: what a repeat is compared with (L4). */
  published(id: EntryId): Entry | undefined;
  /** What was appended to a streaming entry from one position to another (S3). */
  appended(id: EntryId, from: number, to: number): readonly Delta[];
  /** About how many bytes a streaming entry takes (L6). */
  weight(id: EntryId): number;
  /** Shared entries that were erased where they are kept, of which this log does not tell yet (L2). */
  missedErases(): readonly MissedErase[];
  /** The entry that a run wrote last. */
  lastOfRun(id: RunId): EntryId | undefined;
  apply(record: LogRecord): void;
};

type MissedErase = { readonly id: EntryId; readonly author: PrincipalId };

type Beginning = {
  /** What seqs rise from (D2, F2). */
  readonly floor: number;
  /** Entries up to this seq were taken over by a fork. */
  readonly inherited: number;
  /** Those of them that are kept in another log, the topmost first (F2). */
  readonly shared: readonly Entry[];
};

export const createSessionState = ({ floor, inherited, shared }: Beginning): SessionState => {
  const tree = createTree();
  const runs = createRuns();
  const registers = createSessionRegisters();
  const usage = createSessionUsage({ inheritedSeq: inherited as Seq });
  const missedById = new Map<EntryId, MissedErase>();
  const openById = new Map<EntryId, TreeNode>();
  const growthById = new Map<EntryId, Growth>();
  const publishedById = new Map<EntryId, Entry>();
  const lastByRun = new Map<RunId, EntryId>();
  let openRuns = 0;
  let head = floor;
  let changedAt = 0;

  const share = (entry: Entry): void => {
    if (entry.rev <= inherited) return void tree.apply(entry);
    // What came to it later comes to be known here by a record of this log.
    tree.apply({ ...entry, rev: entry.seq });
    if (entry.type === "erased") missedById.set(entry.id, { id: entry.id, author: entry.erasedBy });
  };
  for (const entry of shared) share(entry);

  const applyToRuns = (record: Run): void => {
    openRuns -= isOpen(runs.get(record.id)) ? 1 : 0;
    const run = runs.apply(record);
    openRuns += isOpen(run) ? 1 : 0;
    const input = run.inputId === null ? undefined : tree.get(run.inputId);
    usage.apply(run, input && (Math.min(run.seq, tree.topOf(input).entry.seq) as Seq));
  };

  const forget = (id: EntryId): void => {
    openById.delete(id);
    growthById.delete(id);
    publishedById.delete(id);
    missedById.delete(id);
  };

  const applyToTree = (record: LogRecord): void => {
    const applied = tree.apply(record);
    if (record.kind === "erase") forget(record.id);
    if (applied.type === "added" || applied.type === "changed")
      usage.apply(applied.node.entry, tree.topOf(applied.node).entry.seq);
    if (applied.type === "added") {
      const { entry } = applied.node;
      if (entry.status === "streaming") openById.set(entry.id, applied.node);
      if (entry.status === "streaming" && entry.type === "message")
        growthById.set(entry.id, createGrowth(entry));
      if (entry.runId !== undefined) lastByRun.set(entry.runId, entry.id);
    }
    if (applied.type === "changed" && record.kind === "append") {
      const { entry } = applied.node;
      if (!publishedById.has(record.id)) publishedById.set(record.id, applied.before);
      if (entry.status !== "streaming") {
        openById.delete(record.id);
        growthById.delete(record.id);
      } else if (entry.type === "message") growthById.get(record.id)?.push(record.deltas, entry.parts);
    }
  };

  const applyToRegisters = (record: Register): void => {
    registers.apply(record);
    usage.apply(record);
    tree.apply(record);
  };

  return {
    get head() {
      return head;
    },
    inherited,
    tree,
    runs,
    registers,
    usage,
    get changedAt() {
      return changedAt;
    },
    get unfinished() {
      return { entries: openById.size, runs: openRuns };
    },
    open: () => openById.values(),
    published: (id) => publishedById.get(id) ?? tree.get(id)?.entry,
    appended: (id, from, to) => growthById.get(id)?.slice(from, to) ?? [],
    weight: (id) => growthById.get(id)?.weight ?? 0,
    missedErases: () => [...missedById.values()],
    lastOfRun: (id) => lastByRun.get(id),
    apply: (record) => {
      head = Math.max(head, record.seq);
      changedAt = Math.max(changedAt, record.time);
      // Whose run it was written by, and what that used, is the other session's.
      if (record.kind === "entry" && record.seq <= inherited) tree.apply(record);
      else if (record.kind === "run") applyToRuns(record);
      else if (record.kind === "register") applyToRegisters(record);
      else applyToTree(record);
    },
  };
};

const isOpen = (run: Run | undefined): boolean => run !== undefined && !isRunEnded(run.status);

/** The state of a log as it was loaded; null: of one that was never written. */
export const stateOfLog = (log: LoadedLog | null): SessionState => {
  const state = createSessionState({
    floor: log?.head ?? 0,
    inherited: log?.header.inherited ?? 0,
    shared: log?.shared ?? [],
  });
  for (const record of log?.records ?? []) state.apply(record);
  return state;
};
