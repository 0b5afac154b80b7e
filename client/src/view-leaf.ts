/** What is done with the shown leaf: named, forked, and read as the model would read it. */
import { type EntryId, type ErrorBody, refusal } from "@espalier/shared";
import { pendingWriteOf, shownLeafId, type ViewCore } from "./view-core.js";
import type { ViewMoves } from "./view-moves.js";
import type { View } from "./view-types.js";

export const createViewLeaf = (
  core: ViewCore,
  moves: ViewMoves,
): Pick<View, "switchTo" | "saveBranch" | "fork" | "context"> => {
  const { host, overlay } = core;

  /** A view that was given no line has one when the session is joined (V2). */
  const untilPlaced = async (): Promise<ErrorBody | null> => {
    const refused = core.isPlaced ? null : await host.whenJoined();
    if (refused === null && !core.isPlaced) await core.whenLoaded();
    return refused;
  };

  /** The shown leaf, once the log has it: an entry has its id from the first. */
  const confirmedLeaf = async (): Promise<{ leafId: EntryId | null } | ErrorBody> => {
    const refused = await untilPlaced();
    if (refused !== null) return refused;
    const leafId = shownLeafId(core);
    const write = leafId === null ? undefined : pendingWriteOf(host, leafId);
    const settled = write === undefined ? undefined : await host.whenSettled(write.id);
    return settled?.ok === false ? settled.error : { leafId };
  };

  return {
    switchTo: (name) => {
      const leafId = host.branches.get(name);
      if (leafId === null)
        return refusal("not_found", `unable to switch to ${JSON.stringify(name)}; there is no such branch`);
      moves.branch(leafId);
      return null;
    },
    saveBranch: async (name) => {
      const leaf = await confirmedLeaf();
      if ("code" in leaf) return leaf;
      if (leaf.leafId === null)
        return refusal("invalid", `unable to name ${JSON.stringify(name)}; no entry is shown`);
      return host.branches.set(name, leaf.leafId);
    },
    fork: async (ask = {}) => {
      const leaf = await confirmedLeaf();
      return "code" in leaf ? leaf : host.fork(leaf.leafId, ask);
    },
    context: async (options = {}) => {
      const refused = await untilPlaced();
      if (refused !== null) return refused;
      const { leafId } = core;
      // What was refused was never said.
      const pending = overlay.entries.filter(({ state }) => state === "pending").map(({ entry }) => entry);
      return host.contextWith(leafId, pending, options);
    },
  };
};
