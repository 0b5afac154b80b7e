/**
 * One conversation of a ChatGPT export as an imported session. The `mapping`'s keys are the ids and the
 * parent pointers are the truth; `children` gives the order of alternatives, and the parent of a node
 * that has no parent field at all.
 */
import type { Json, SessionId } from "@espalier/shared";
import { type ChatGptNode, readNode } from "./chatgpt-message.js";
import { answerCalls } from "./chatgpt-tools.js";
import { type Fields, fieldsOf, readTime, restOf, textOf } from "./fields.js";
import type { ForeignEntry, ImportedSession, Report } from "./foreign.js";
import { type Forest, growForest } from "./forest.js";
import { type Importer, type SessionHead, toSession } from "./records.js";
import { repair } from "./repair.js";
import { reportUnpairedCalls } from "./tool-calls.js";

export const sourceIdOf = (conversation: Fields): string | null =>
  textOf(conversation.conversation_id) ?? textOf(conversation.id);

/** A session, or the reason why there is none. */
export const readConversation = (
  conversation: Fields,
  { id, now, ...importer }: Importer & { id: SessionId; now: () => number },
): ImportedSession | string => {
  const mapping = conversation.mapping;
  if (typeof mapping !== "object" || mapping === null) return "no mapping; skipped";
  const reports: string[] = [];
  const report: Report = (line) => reports.push(line);
  const nodes = withOwnParents(Object.entries(mapping).map(([key, value]) => readNode(key, value, report)));
  if (nodes.every(({ content }) => content === null)) return "no messages; skipped";

  const createdAt = readTime(conversation.create_time, "conversation", report) ?? earliestOf(nodes) ?? now();
  const entries = repair(ranked(nodes, report), "conversation", report);
  const forest = growForest(entries, { order: "time", createdAt });
  answerCalls(forest, linksOf(nodes));
  reportUnpairedCalls(forest.nodes, report);
  const head: SessionHead = {
    id,
    sourceId: sourceIdOf(conversation),
    title: textOf(conversation.title),
    createdAt,
    changedAt: readTime(conversation.update_time, "conversation", report),
    source: sourceOf(conversation),
    activeLeaf: activeLeafOf(conversation.current_node, forest, entries, report),
  };
  return toSession(head, forest, reports, importer);
};

const earliestOf = (nodes: readonly ChatGptNode[]): number | null =>
  nodes.reduce<number | null>(
    (least, { time }) => (time !== null && (least === null || time < least) ? time : least),
    null,
  );

const sourceOf = (conversation: Fields): Json => ({
  format: "chatgpt",
  ...restOf({ id: sourceIdOf(conversation) }),
  ...restOf({
    fields: restOf(conversation, "mapping", "title", "create_time", "current_node", "id", "conversation_id"),
  }),
});

const linksOf = (nodes: readonly ChatGptNode[]) =>
  new Map(nodes.flatMap(({ sourceId, link }) => (link === undefined ? [] : [[sourceId, link] as const])));

/** A node without a parent field hangs from the first one that lists it. */
const withOwnParents = (nodes: readonly ChatGptNode[]): ChatGptNode[] => {
  if (nodes.every(({ body }) => "parent" in fieldsOf(body))) return [...nodes];
  const listers = new Map<string, string>();
  for (const { sourceId, children } of nodes) {
    for (const child of children ?? []) if (!listers.has(child)) listers.set(child, sourceId);
  }
  return nodes.map((node) =>
    "parent" in fieldsOf(node.body) ? node : { ...node, parentId: listers.get(node.sourceId) ?? null },
  );
};

/** Each with its place in its parent's `children`; reports the lists that disagree with the pointers. */
const ranked = (nodes: readonly ChatGptNode[], report: Report): ForeignEntry[] => {
  if (nodes.every(({ children }) => children === null)) return nodes.map(toEntry);
  const ownById = childrenOf(nodes);
  const ranks = new Map<string, number>();
  for (const { sourceId, children, where } of nodes) {
    if (children === null) continue;
    const own = ownById.get(sourceId) ?? new Set();
    const listed = new Set(children);
    for (const id of listed) if (own.has(id)) ranks.set(id, ranks.size);
    if (listed.size !== own.size || children.some((id) => !own.has(id))) {
      report(`${where}: children disagree with the parents; parents are trusted`);
    }
  }
  return nodes.map((node) => {
    const rank = ranks.get(node.sourceId);
    return rank === undefined ? toEntry(node) : { ...toEntry(node), rank };
  });
};

const toEntry = ({ sourceId, parentId, where, body, time, content }: ChatGptNode): ForeignEntry => ({
  sourceId,
  parentId,
  where,
  body,
  time,
  content,
});

const childrenOf = (nodes: readonly ChatGptNode[]): Map<string, Set<string>> => {
  const ownById = new Map<string, Set<string>>();
  for (const { sourceId, parentId } of nodes) {
    if (parentId === null || parentId === sourceId) continue;
    const own = ownById.get(parentId);
    if (own === undefined) ownById.set(parentId, new Set([sourceId]));
    else own.add(sourceId);
  }
  return ownById;
};

const activeLeafOf = (current: unknown, forest: Forest, entries: readonly ForeignEntry[], report: Report) => {
  if (current === undefined || current === null) return null;
  const id = String(current);
  if (entries.some(({ sourceId }) => sourceId === id)) return forest.at(id);
  report(`current_node ${id} is not in the conversation; the newest line is shown`);
  return null;
};
