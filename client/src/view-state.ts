/**
 * What a view selected, for another to go on from (V7). Between branch points there is nothing to select,
 * so an entry with one child is left out, unless a walk may begin there; what stood above it then names
 * what was selected further below.
 */
import type { EntryId } from "@espalier/shared";
import type { ViewCore } from "./view-core.js";
import type { ViewState } from "./view-types.js";

export const exportState = ({ host, selections, leafId, isHeld, resetId }: ViewCore): ViewState => {
  const { tree, siblings } = host.replica;

  /** A branch point, one of several alternatives, or what is known too little of to leave it out. */
  const isKept = (id: EntryId | null): boolean => {
    if (id === null || id === leafId || siblings.count(id) !== 1) return true;
    const entry = tree.get(id)?.entry;
    return entry === undefined || entry.parentId === null || siblings.count(entry.parentId) !== 1;
  };

  /** The next one below that is kept too, or the last one that was shown. */
  const keptFrom = (first: EntryId): EntryId => {
    let at = first;
    for (let steps = 0; steps < selections.size && !isKept(at); steps += 1) {
      const next = selections.get(at);
      if (next === undefined) break;
      at = next;
    }
    return at;
  };

  return {
    leafId,
    isHeld,
    ...(typeof resetId === "string" || resetId === null ? { resetId } : {}),
    selections: [...selections]
      .filter(([id]) => isKept(id))
      .map(([id, selected]) => [id, keptFrom(selected)] as const),
  };
};
