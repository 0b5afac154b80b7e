/** One entry of the provided view, and where it stands among its alternatives. */
import type { EntryId } from "@espalier/shared";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { BranchInfo } from "../siblings.js";
import type { ViewEntry } from "../view-types.js";
import { useProvidedView } from "./provider.js";

export type Branch = BranchInfo & {
  /** Shows a neighbour; loads it where need be. */
  step(by: 1 | -1): void;
  select(id: EntryId): void;
};

/** A shown entry, or undefined where the view does not show it. Only this entry's tokens render it again. */
export const useEntry = (id: EntryId): ViewEntry | undefined => {
  const view = useProvidedView();
  const read = (): ViewEntry | undefined => view.get(id);
  return useSyncExternalStore(useSubscribe(id), read, read);
};

/**
 * @example
 * const { index, total, step } = useBranch(id);
 * return <button onClick={() => step(1)}>{index + 1} of {total}</button>;
 */
export const useBranch = (id: EntryId): Branch => {
  const view = useProvidedView();
  const read = (): BranchInfo => view.branchInfo(id);
  const info = useSyncExternalStore(useSubscribe(id), read, read);
  return useMemo(
    () => ({ ...info, step: (by) => view.step(id, by), select: (target) => view.select(target) }),
    [view, id, info],
  );
};

const useSubscribe = (id: EntryId): ((onChange: () => void) => () => void) => {
  const view = useProvidedView();
  return useCallback((onChange) => view.subscribeEntry(id, onChange), [view, id]);
};
