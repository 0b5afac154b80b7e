/**
 * The listeners of one view, and what they are told: changes are gathered while the view changes and
 * told once it is done, so a listener always reads a whole state.
 */
import type { EntryId, RunId, Runtime } from "@espalier/shared";
import { callSafely, createListeners } from "./listeners.js";
import type { ViewChange } from "./view-types.js";

export type ViewEvents = {
  subscribe(listener: (change: ViewChange) => void): () => void;
  subscribeEntry(id: EntryId, listener: () => void): () => void;
  lineChanged(): void;
  entryChanged(id: EntryId): void;
  branchesChanged(id: EntryId): void;
  runChanged(id: RunId): void;
  /** Pending, failed or confirmed: told to the entry's own listeners; the line tells the others. */
  stateChanged(id: EntryId): void;
  /** Everything was loaded anew: the listeners of every entry are told. */
  restarted(): void;
  /** Tells what was gathered; what a listener brings about is told after it. */
  flush(): void;
  close(): void;
};

const NOTHING: readonly never[] = [];

export const createViewEvents = (
  runtime: Pick<Runtime, "defer">,
  getLeafId: () => EntryId | null,
): ViewEvents => {
  const listeners = createListeners<ViewChange>(runtime);
  const entryListeners = new Map<EntryId, Set<() => void>>();
  let isLineChanged = false;
  let toldLeafId: EntryId | null = null;
  const entries = new Set<EntryId>();
  const branches = new Set<EntryId>();
  const runs = new Set<RunId>();
  const states = new Set<EntryId>();
  let isFlushing = false;

  const tellEntry = (id: EntryId): void => {
    const own = entryListeners.get(id);
    if (own !== undefined) for (const listener of [...own]) callSafely(runtime, listener);
  };

  const hasMore = (): boolean =>
    isLineChanged || entries.size > 0 || branches.size > 0 || runs.size > 0 || states.size > 0;

  const take = <T>(set: Set<T>): readonly T[] => {
    if (set.size === 0) return NOTHING;
    const taken = [...set];
    set.clear();
    return taken;
  };

  const flushOnce = (): void => {
    const changedEntries = take(entries);
    const changedBranches = take(branches);
    const changedRuns = take(runs);
    const changedStates = take(states);
    if (isLineChanged) {
      isLineChanged = false;
      const from = toldLeafId;
      toldLeafId = getLeafId();
      listeners.tell({ type: "line", from, to: toldLeafId });
    }
    for (const id of changedEntries) listeners.tell({ type: "entry", id });
    for (const id of changedBranches) listeners.tell({ type: "branches", id });
    for (const id of new Set([...changedEntries, ...changedBranches, ...changedStates])) tellEntry(id);
    for (const id of changedRuns) listeners.tell({ type: "run", id });
  };

  return {
    subscribe: listeners.add,
    subscribeEntry: (id, listener) => {
      const own = (): void => listener();
      const held = entryListeners.get(id) ?? new Set();
      held.add(own);
      entryListeners.set(id, held);
      return () => {
        held.delete(own);
        if (held.size === 0 && entryListeners.get(id) === held) entryListeners.delete(id);
      };
    },
    lineChanged: () => {
      isLineChanged = true;
    },
    entryChanged: (id) => void entries.add(id),
    branchesChanged: (id) => void branches.add(id),
    runChanged: (id) => void runs.add(id),
    stateChanged: (id) => void states.add(id),
    restarted: () => {
      for (const id of entryListeners.keys()) states.add(id);
    },
    flush: () => {
      if (isFlushing) return;
      isFlushing = true;
      while (hasMore()) flushOnce();
      isFlushing = false;
    },
    close: () => {
      listeners.clear();
      entryListeners.clear();
    },
  };
};
