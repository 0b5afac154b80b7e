/**
 * An imported session's log: registers `source` and `title`, the entries in the order of `orderOf`, then
 * the labels, and last, where it is needed, the register `view:active`: the leaf of the line that the
 * source showed.
 *
 * An entry keeps its source id where that fits the grammar (L8); else it gets a fresh one, and the
 * source's is in `meta.sourceId`. User messages are the importing principal's, all others the assistant's.
 */
import {
  ACTIVE_LINE,
  type Entry,
  type EntryId,
  isId,
  type Json,
  type LogRecord,
  type Origin,
  type PrincipalId,
  type Register,
  type Seq,
  type SessionId,
} from "@espalier/shared";
import { clean } from "./clean.js";
import { fieldsOf } from "./fields.js";
import type {
  ForeignContent,
  ForeignKind,
  ImportedSession,
  ImportOptions,
  ImportSummary,
  Report,
} from "./foreign.js";
import type { Forest, ForestNode } from "./forest.js";
import { headRegisters, keptTitle } from "./head-registers.js";
import { canBeLast, orderOf } from "./order.js";
import { withOwnIds } from "./references.js";
import { createCallWatch } from "./tool-calls.js";

export type SessionHead = {
  readonly id: SessionId;
  readonly sourceId: string | null;
  readonly title: string | null;
  /** ms */
  readonly createdAt: number;
  /** ms; null where the source has none. */
  readonly changedAt: number | null;
  /** Where it comes from, and what else the source says of the session; the value of `source`. */
  readonly source: Json;
  /** The leaf that the source names; null where it names none that is there. */
  readonly activeLeaf: ForestNode | null;
  /** Its entry is one of that session's log, under the id that it has there. */
  readonly origin?: Origin;
  /** By the source id of the entry that is labelled; each becomes a register `label:ENTRY`. */
  readonly labels?: ReadonlyMap<string, string>;
  /** Handed in where others must know the ids beforehand; the same id for the same source id. */
  readonly idOf?: IdOf;
};

export type IdOf = (sourceId: string) => EntryId;

const ASSISTANT = "assistant" as PrincipalId;
const USER = "user" as PrincipalId;

/** The lines in `reports` so far are the session's; what its records bring is added to them. */
export const toSession = (
  head: SessionHead,
  forest: Forest,
  reports: string[],
  options: Pick<ImportOptions, "newId" | "principal">,
): ImportedSession => {
  const { id, sourceId, createdAt, origin, idOf = createIds(options.newId) } = head;
  const title = head.title === null ? null : keptTitle(head.title);
  const leaf = head.activeLeaf ?? newestOf(forest.nodes);
  const plan: Plan = { head, forest, leaf, idOf, principal: options.principal ?? USER };
  return {
    id,
    sourceId,
    title,
    createdAt,
    ...(origin === undefined ? {} : { origin }),
    records: () => recordsOf(plan, reports),
    summary: () => ({ id, title, ...shapeOf(plan), reports: [...reports] }),
  };
};

/** The source's id where it fits the grammar, else a fresh one, the same whenever it is asked for. */
export const createIds = (newId: () => string): IdOf => {
  const freshIds = new Map<string, EntryId>();
  return (sourceId) => {
    if (isId(sourceId)) return sourceId;
    const id = freshIds.get(sourceId) ?? (newId() as EntryId);
    freshIds.set(sourceId, id);
    return id;
  };
};

type Plan = {
  readonly head: SessionHead;
  readonly forest: Forest;
  readonly leaf: ForestNode | null;
  readonly idOf: IdOf;
  readonly principal: PrincipalId;
};

async function* recordsOf(plan: Plan, reports: string[]): AsyncGenerator<LogRecord> {
  const { head, forest, leaf, idOf, principal } = plan;
  const report: Report = (line) => reports.push(line);
  const calls = createCallWatch();
  let seq = 0;
  const nextSeq = () => ++seq as Seq;
  const register = (key: string, value: Json, time: number): Register =>
    clean({ kind: "register", key, value, seq: nextSeq(), time, author: principal }, key, report);

  const { source, title, rest } = headRegisters(head, report);
  yield register("source", source, head.createdAt);
  if (title !== null) yield register("title", title, head.createdAt);
  let last = head.createdAt;
  for (const [index, node] of orderOf(forest, leaf).entries()) {
    const content = withOwnIds(await node.entry.content(), { node, forest, idOf }, report);
    calls.see(node.entry, content);
    const author = isUsers(node.kind) ? principal : ASSISTANT;
    const entry = toEntry(node, content, { idOf, seq: nextSeq(), author });
    const whole = index === 0 && rest !== null ? withMeta(entry, "session", rest) : entry;
    yield clean(whole, node.entry.where, report);
    last = node.time;
  }
  calls.reportUnpaired(report);
  const changedAt = head.changedAt ?? last;
  for (const [sourceId, label] of labelsOf(plan, report))
    yield register(`label:${idOf(sourceId)}`, label, changedAt);
  if (leaf !== null && (head.activeLeaf !== null || !canBeLast(leaf, forest)))
    yield register(ACTIVE_LINE, idOf(leaf.entry.sourceId), changedAt);
}

/** A join gives a thousand registers; some are left for what comes later. */
const MAX_LABELS = 900;

function* labelsOf({ head, forest }: Plan, report: Report): Generator<readonly [string, string]> {
  let count = 0;
  for (const [sourceId, label] of head.labels ?? []) {
    if (forest.at(sourceId)?.entry.sourceId !== sourceId)
      report(`label of ${sourceId}, which is not in the file; it labels nothing`);
    else if (++count > MAX_LABELS) report(`label of ${sourceId} is one too many; it labels nothing`);
    else yield [sourceId, label];
  }
}

const isUsers = ({ type, role }: ForeignKind): boolean => type === "message" && role === "user";

/** The newest message by time, of equals the later in the file; where there is no message, the newest entry. */
const newestOf = (nodes: readonly ForestNode[]): ForestNode | null => {
  const messages = nodes.filter(({ kind }) => kind.type === "message");
  let newest: ForestNode | null = null;
  for (const node of messages.length > 0 ? messages : nodes) {
    if (newest === null || node.time >= newest.time) newest = node;
  }
  return newest;
};

const toEntry = (
  node: ForestNode,
  content: ForeignContent,
  { idOf, seq, author }: { idOf: IdOf; seq: Seq; author: PrincipalId },
): Entry => {
  const { entry, time, parent } = node;
  const id = idOf(entry.sourceId);
  const parentId = parent === null ? null : idOf(parent.entry.sourceId);
  const { status = "complete" } = content;
  const placed = { kind: "entry", id, parentId, seq, rev: seq, time, author, status, size: 0 } as const;
  const whole = { ...placed, ...content, status };
  return id === entry.sourceId ? whole : withMeta(whole, "sourceId", entry.sourceId);
};

const withMeta = (entry: Entry, key: string, value: Json): Entry => ({
  ...entry,
  meta: { ...fieldsOf(entry.meta), [key]: value },
});

type Shape = Pick<ImportSummary, "entries" | "roots" | "branchPoints" | "activeLine">;

const shapeOf = ({ forest: { roots, nodes }, leaf, idOf }: Plan): Shape => {
  const idsOf = (list: readonly ForestNode[]) => list.map((node) => idOf(node.entry.sourceId));
  const branchPoints: { parent: EntryId | null; children: EntryId[] }[] = [];
  if (roots.length > 1) branchPoints.push({ parent: null, children: idsOf(roots) });
  for (const { entry, children } of nodes)
    if (children.length > 1) branchPoints.push({ parent: idOf(entry.sourceId), children: idsOf(children) });
  const line: ForestNode[] = [];
  for (let at = leaf; at !== null; at = at.parent) line.push(at);
  return { entries: nodes.length, roots: idsOf(roots), branchPoints, activeLine: idsOf(line.reverse()) };
};
