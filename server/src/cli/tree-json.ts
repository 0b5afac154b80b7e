/** A tree as JSON: the entries as they are, in order of seq, beside what is derived from them. */
import type { EntryId, Tree } from "@espalier/shared";
import { escapeJson } from "./escape.js";
import { newestLine } from "./layout.js";

export function* treeToJson(tree: Tree, id: string, title: string | null): Generator<string> {
  const branchPoints: { parent: EntryId | null; children: EntryId[] }[] = [];
  const idsOf = (nodes: Tree["roots"]): EntryId[] => nodes.map(({ entry }) => entry.id);
  if (tree.roots.length > 1) branchPoints.push({ parent: null, children: idsOf(tree.roots) });
  // However they were read, from a file or line by line from a server, they come out the same.
  const nodes = [...tree.nodes()].sort((a, b) => a.entry.seq - b.entry.seq);
  for (const { entry, children } of nodes)
    if (children.length > 1) branchPoints.push({ parent: entry.id, children: idsOf(children) });
  const fields = { id, title, count: tree.size, roots: idsOf(tree.roots), branchPoints };
  const head = JSON.stringify({ ...fields, newestLine: idsOf(newestLine(tree)) });
  yield escapeJson(`${head.slice(0, -1)},"entries":[`);
  let left = tree.size;
  for (const { entry } of nodes) {
    left -= 1;
    yield escapeJson(JSON.stringify(entry)) + (left > 0 ? "," : "");
  }
  yield "]}";
}
