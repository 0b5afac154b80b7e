/**
 * Walks of the tree: a path upwards, a tip downwards. Each is a loop that costs its own length (T5, T6).
 */
import type { EntryId } from "./ids.js";
import type { Registers } from "./register.js";
import { ACTIVE_LINE } from "./register-keys.js";
import type { Tree, TreeNode } from "./tree.js";

/** The loaded ancestors of a node and the node itself, the topmost first. */
export const pathTo = (node: TreeNode): TreeNode[] => {
  const path: TreeNode[] = [];
  for (let at: TreeNode | null = node; at !== null; at = at.parent) path.push(at);
  return path.reverse();
};

/** Chooses one of at least one child. */
export type ChooseChild = (children: readonly TreeNode[]) => TreeNode;

export const newestChild: ChooseChild = (children) => children[children.length - 1] as TreeNode;
export const oldestChild: ChooseChild = (children) => children[0] as TreeNode;

/** The last entry of the line that goes on from a node. */
export const tipOf = (node: TreeNode, choose: ChooseChild): TreeNode => {
  let tip = node;
  while (tip.children.length > 0) tip = choose(tip.children);
  return tip;
};

/**
 * The leaf of the line to show where none is asked for: the newest entry, or the one that `view:active`
 * names, where that was said after it, or after the reset that it follows. Null where there is no entry.
 */
export const defaultLeaf = (tree: Tree, registers: Registers): TreeNode | null => {
  const { newest } = tree;
  const active = registers.record(ACTIVE_LINE);
  if (active === undefined || active.seq < (newest?.entry.seq ?? tree.resetSeq)) return newest;
  return (typeof active.value === "string" && tree.get(active.value as EntryId)) || newest;
};

/**
 * The last user prompt at or above a node: the entry that a turn begins with (V12). Null where there
 * is none among the loaded ancestors; `top` tells whether that is final.
 */
export const promptOf = (node: TreeNode): { prompt: TreeNode | null; top: TreeNode } => {
  let at = node;
  for (;;) {
    if (isPrompt(at)) return { prompt: at, top: at };
    if (at.parent === null) return { prompt: null, top: at };
    at = at.parent;
  }
};

/** A user message that both see, also where its content was erased: a turn begins with it. */
export const isPrompt = ({ entry }: Pick<TreeNode, "entry">): boolean =>
  (entry.type === "message" || entry.type === "erased") &&
  entry.role === "user" &&
  (entry.audience ?? "both") === "both";
