/**
 * The listeners of one view, and what they are told: changes are gathered while the view changes and
 * told once it is done, so a listener always reads a whole state.
 */
import type { EntryId, RunId } from "@espalier/shared";
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
  /** Tells what was gathered. `leafId` is the shown leaf now. */
  flush(leafId: EntryId | null): void;
  close(): void;
};

const NOTHING: readonly never[] = [];

export const createViewEvents = (): ViewEvents => {
  const listeners = new Set<(change: ViewChange) => void>();
  const entryListeners = new Map<EntryId, Set<() => void>>();
  let isLineChanged = false;
  let toldLeafId: EntryId | null = null;
  const entries = new Set<EntryId>();
  const branches = new Set<EntryId>();
  const runs = new Set<RunId>();
  const states = new Set<EntryId>();

  const tell = (change: ViewChange): void => {
    // A copy: a listener may undo itself or add others.
    for (const listener of [...listeners]) listener(change);
  };

  const tellEntry = (id: EntryId): void => {
    for (const listener of [...(entryListeners.get(id) ?? [])]) listener();
  };

  const take = <T>(set: Set<T>): readonly T[] => {
    if (set.size === 0) return NOTHING;
    const taken = [...set];
    set.clear();
    return taken;
  };

  return {
    subscribe: (listener) => {
      // Two subscriptions of one function are two, each with its own undo.
      const own = (change: ViewChange): void => listener(change);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
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
    flush: (leafId) => {
      const from = toldLeafId;
      const changedEntries = take(entries);
      const changedBranches = take(branches);
      const changedRuns = take(runs);
      const changedStates = take(states);
      if (isLineChanged) {
        isLineChanged = false;
        toldLeafId = leafId;
        tell({ type: "line", from, to: leafId });
      }
      for (const id of changedEntries) {
        tell({ type: "entry", id });
        tellEntry(id);
      }
      for (const id of changedBranches) {
        tell({ type: "branches", id });
        if (!changedEntries.includes(id)) tellEntry(id);
      }
      for (const id of changedStates)
        if (!changedEntries.includes(id) && !changedBranches.includes(id)) tellEntry(id);
      for (const id of changedRuns) tell({ type: "run", id });
    },
    close: () => {
      listeners.clear();
      entryListeners.clear();
    },
  };
};
