/** What a reader can do to the conversation, besides what a view offers by itself. */
import type { EntryId, RunId, View } from "@espalier/client";
import { createContext, useContext } from "react";

export type Acts = {
  /** Asks for another answer, and remembers that it was asked for here. */
  regenerate(id: EntryId): void;
  wasAskedHere(runId: RunId): boolean;
  /** Shows a neighbour of an entry; the button that was pressed keeps the focus on the other one. */
  step(id: EntryId, parentId: EntryId | null, by: 1 | -1): void;
  /** The step that led to a child of an entry, once. */
  takeStep(parentId: EntryId | null): 1 | -1 | undefined;
};

export const createActs = (view: View): Acts => {
  const askedRuns = new Set<RunId>();
  let lastStep: { parentId: EntryId | null; by: 1 | -1 } | null = null;
  return {
    regenerate: (id) => {
      const { runId } = view.regenerate(id);
      if (runId !== undefined) askedRuns.add(runId);
    },
    wasAskedHere: (runId) => askedRuns.has(runId),
    step: (id, parentId, by) => {
      lastStep = { parentId, by };
      view.step(id, by);
    },
    takeStep: (parentId) => {
      const step = lastStep;
      if (step?.parentId !== parentId) return undefined;
      lastStep = null;
      return step.by;
    },
  };
};

const ActsContext = createContext<Acts | null>(null);
export const ActsProvider = ActsContext.Provider;
export const useActs = (): Acts => useContext(ActsContext) as Acts;
