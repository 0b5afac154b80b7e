/**
 * One conversation of a ChatGPT export as an imported session. The `mapping`'s keys are the ids and the
 * parent pointers are the truth; `children` gives the order of alternatives, and the parent of a node
 * that has no parent field at all.
 */
import type { Json, SessionId } from "@espalier/shared";
import { type ChatGptNode, readNode, restOfNode } from "./chatgpt-message.js";
import { answerCalls } from "./chatgpt-tools.js";
import { listersOf, ranksOf } from "./children.js";
import {
  earliestOf,
  type Fields,
  fieldsOf,
  isEmpty,
  pointerOf,
  readTime,
  restOf,
  scalarsAmong,
  textOf,
  textsAmong,
} from "./fields.js";
import type { ForeignContent, ForeignEntry, ImportedSession, ImportOptions, Report } from "./foreign.js";
import { type Forest, growForest } from "./forest.js";
import { type SessionHead, toSession } from "./records.js";
import { repair } from "./repair.js";

export const sourceIdOf = (conversation: Fields): string | null =>
  textOf(conversation.conversation_id) ?? textOf(conversation.id);

/** A session, or the reason why there is none. */
export const readConversation = (
  conversation: Fields,
  id: SessionId,
  options: ImportOptions,
): ImportedSession | string => {
  const mapping = conversation.mapping;
  if (typeof mapping !== "object" || mapping === null) return "no mapping; skipped";
  const reports: string[] = [];
  const report: Report = (line) => reports.push(line);
  const nodes = withOwnParents(Object.entries(mapping).map(([key, value]) => readNode(key, value, report)));
  if (nodes.every(({ said }) => said === null)) return "no messages; skipped";

  const createdAt =
    readTime(conversation.create_time, "conversation", report) ?? earliestOf(nodes) ?? options.now();
  const entries = repair(ranked(nodes, report), "conversation", report);
  const forest = growForest(entries, { order: "time", createdAt });
  answerCalls(forest, nodes);
  const head: SessionHead = {
    id,
    sourceId: sourceIdOf(conversation),
    title: textOf(conversation.title),
    createdAt,
    changedAt: readTime(conversation.update_time, "conversation", report),
    source: sourceOf(conversation, nodes),
    activeLeaf: activeLeafOf(conversation.current_node, forest, entries, report),
  };
  return toSession(head, forest, reports, options);
};

const sourceOf = (conversation: Fields, nodes: readonly ChatGptNode[]): Json => {
  const id = sourceIdOf(conversation);
  const used = [
    "mapping",
    ...["id", "conversation_id"].filter((key) => conversation[key] === id),
    ...textsAmong(conversation, "title"),
    ...scalarsAmong(conversation, "create_time", "current_node"),
  ];
  const fields = restOf(conversation, ...used);
  return { format: "chatgpt", ...restOf({ id }), ...restOf({ fields, nodes: restOfSilent(nodes) }) };
};

/** What nodes without a message say all the same, by their ids. */
const restOfSilent = (nodes: readonly ChatGptNode[]): Fields => {
  const silent = nodes.filter(({ said }) => said === null);
  const rests = silent.map(({ sourceId, body }) => [sourceId, restOfNode(sourceId, fieldsOf(body))] as const);
  return Object.fromEntries(rests.filter(([, rest]) => !isEmpty(rest)));
};

/** A node without a parent field hangs from the first one that lists it. */
const withOwnParents = (nodes: readonly ChatGptNode[]): readonly ChatGptNode[] => {
  if (nodes.every(hasParentField)) return nodes;
  const listers = listersOf(nodes);
  return nodes.map((node) =>
    hasParentField(node) ? node : { ...node, parentId: listers.get(node.sourceId)?.sourceId ?? null },
  );
};

const hasParentField = ({ body }: ChatGptNode): boolean => "parent" in fieldsOf(body);

const ranked = (nodes: readonly ChatGptNode[], report: Report): ForeignEntry[] => {
  const ranks = ranksOf(nodes, "children disagree with the parents; parents are trusted", report);
  return nodes.map((node) => {
    const rank = ranks.get(node.sourceId);
    return rank === undefined ? toEntry(node) : { ...toEntry(node), rank };
  });
};

const toEntry = ({ sourceId, parentId, where, body, time, said }: ChatGptNode): ForeignEntry => ({
  sourceId,
  parentId,
  where,
  body,
  time,
  kind: said,
  content: () => said as ForeignContent,
});

const activeLeafOf = (current: unknown, forest: Forest, entries: readonly ForeignEntry[], report: Report) => {
  const id = pointerOf(current);
  if (id === null) return null;
  if (entries.some(({ sourceId }) => sourceId === id)) return forest.at(id);
  report(`current_node ${id} is not in the conversation; the newest line is shown`);
  return null;
};
