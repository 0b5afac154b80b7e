/** The runs of the provided view that have not ended. */
import type { Run } from "@espalier/shared";
import { useMemo, useSyncExternalStore } from "react";
import type { View } from "../view-types.js";
import { useProvidedView } from "./provider.js";

/** The same list until a run of the shown line begins, changes or ends. */
export const useRuns = (): readonly Run[] => {
  const view = useProvidedView();
  const { subscribe, read } = useMemo(() => createRunsStore(view), [view]);
  return useSyncExternalStore(subscribe, read, read);
};

const createRunsStore = (view: View) => {
  let held: readonly Run[] = [];
  return {
    subscribe: (onChange: () => void) =>
      view.subscribe(({ type }) => {
        if (type === "line" || type === "run") onChange();
      }),
    read: (): readonly Run[] => {
      const runs = view.runs();
      if (runs.length !== held.length || runs.some((run, index) => run !== held[index])) held = runs;
      return held;
    },
  };
};
