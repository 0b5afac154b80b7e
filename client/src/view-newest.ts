/**
 * A view that follows the newest entry, wherever it comes (V3): but on no line of before the last reset (F8).
 *
 * Where what is loaded of an entry's line does not say when that began, older pages of it are loaded until they
 * do, and the view moves then, unless a reader's act or a newer entry came first.
 */
import type { EntryId, TreeNode } from "@espalier/shared";
import type { ViewCore } from "./view-core.js";
import type { ViewMoves } from "./view-moves.js";
import { MAX_ENTRIES } from "./view-options.js";

export const createViewNewest = (core: ViewCore, moves: Pick<ViewMoves, "show">) => {
  const { host, line } = core;
  const { replica } = host;
  /** The last one that came. */
  let newestId: EntryId | null = null;

  /** Undefined where that is not known. */
  const isOfNow = (node: TreeNode): boolean | undefined => {
    const { tree } = replica;
    const top = tree.topOf(node);
    if (tree.resetSeq === 0) return true;
    if (top.entry.seq < tree.resetSeq) return false;
    const goesOnFromShown = line.leaf !== undefined && tree.topOf(line.leaf) === top;
    return top.entry.parentId === null || goesOnFromShown ? true : undefined;
  };

  const showOnceKnown = async (id: EntryId): Promise<void> => {
    const { acts } = core;
    for (;;) {
      const node = replica.tree.get(id);
      if (node === undefined || core.isClosed || core.acts !== acts || newestId !== id) return;
      const known = isOfNow(node);
      if (known === true) {
        moves.show(id);
        core.flush();
      }
      if (known !== undefined) return;
      const { tree } = replica;
      const top = tree.topOf(node);
      const refused = await host.loadPage(top.entry.id, MAX_ENTRIES);
      if (refused !== null || (tree === replica.tree && tree.topOf(node) === top)) return;
    }
  };

  return {
    /** An entry came. */
    added: (node: TreeNode): void => {
      const { id } = node.entry;
      const known = isOfNow(node);
      if (known === false) return;
      newestId = id;
      if (known === true) moves.show(id);
      else void showOnceKnown(id);
    },
  };
};
