/**
 * Entries that an entry names (`firstKeptId`, `upToId`, `keptIds`, `fromId`): from the source's ids to
 * ours. A compaction names only what lies above it (C3), so what does not is mended here and reported.
 */
import type { EntryId } from "@espalier/shared";
import type { ForeignContent, Report } from "./foreign.js";
import type { Forest, ForestNode } from "./forest.js";
import type { IdOf } from "./records.js";

export type Place = {
  readonly node: ForestNode;
  readonly forest: Forest;
  readonly idOf: IdOf;
};

type Compaction = Extract<ForeignContent, { type: "compaction" }>;

/** The content itself where it names no entry. */
export const withOwnIds = (content: ForeignContent, place: Place, report: Report): ForeignContent => {
  if (content.type === "compaction") return withOwnIdsAbove(content, place, report);
  if (content.type !== "branch-summary") return content;
  const { node, forest, idOf } = place;
  const from = forest.at(content.fromId);
  if (from !== null) return { ...content, fromId: idOf(from.entry.sourceId) };
  report(`${node.entry.where}: branch summary of ${content.fromId}, which is not in the file`);
  return { ...content, fromId: idOf((node.parent ?? node).entry.sourceId) };
};

const withOwnIdsAbove = (content: Compaction, { node, forest, idOf }: Place, report: Report): Compaction => {
  const idAbove = (sourceId: string): EntryId | null => {
    const named = forest.at(sourceId);
    if (named !== null && isAbove(named, node)) return idOf(named.entry.sourceId);
    report(`${node.entry.where}: it names ${sourceId}, which is not above it; passed over`);
    return null;
  };
  const { firstKeptId, upToId, keptIds } = content;
  return {
    ...content,
    firstKeptId: firstKeptId === null ? null : idAbove(firstKeptId),
    // A compaction with nothing above it stands for nothing but itself.
    upToId: (node.parent === null ? null : idAbove(upToId)) ?? idOf((node.parent ?? node).entry.sourceId),
    ...(keptIds === undefined ? {} : { keptIds: keptIds.map(idAbove).filter((id) => id !== null) }),
  };
};

const isAbove = (upper: ForestNode, lower: ForestNode): boolean => {
  let at = lower.parent;
  while (at !== null && at !== upper) at = at.parent;
  return at !== null;
};
