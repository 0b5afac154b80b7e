/** Trees in one line each, and what tests ask of them. */
import { createTree, type LogRecord, type Tree, type TreeNode } from "@espalier/shared";
import { id } from "./records.js";

export const treeOf = (...records: readonly LogRecord[]): Tree => {
  const tree = createTree();
  for (const record of records) tree.apply(record);
  return tree;
};

export const idsOf = (nodes: readonly TreeNode[]): string[] => nodes.map(({ entry }) => entry.id);
export const node = (tree: Tree, name: string): TreeNode => tree.get(id(name)) as TreeNode;
