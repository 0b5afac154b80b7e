/**
 * An imported session's log: registers `source` and `title`, the entries in the order of `orderOf`, and
 * last, where it is needed, the register `view:active`: the leaf of the line that the source showed.
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
  type PrincipalId,
  type Register,
  type Seq,
  type SessionId,
} from "@espalier/shared";
import { clean } from "./clean.js";
import type { ForeignContent, ImportedSession, ImportSummary, Report } from "./foreign.js";
import type { Forest, ForestNode } from "./forest.js";
import { canBeLast, orderOf } from "./order.js";

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
};

export type Importer = { readonly principal: PrincipalId; readonly newId: () => string };

const ASSISTANT = "assistant" as PrincipalId;

export const toSession = (
  head: SessionHead,
  forest: Forest,
  reports: string[],
  { principal, newId }: Importer,
): ImportedSession => {
  const report: Report = (line) => reports.push(line);
  const { id, sourceId, title, createdAt } = head;
  const ids = new Map(forest.nodes.map((node) => [node, idOf(node, newId)]));
  const leaf = head.activeLeaf ?? newestOf(forest.nodes);

  const records: LogRecord[] = [];
  const nextSeq = () => (records.length + 1) as Seq;
  const addRegister = (key: string, value: Json, time: number): void => {
    const register: Register = { kind: "register", key, value, seq: nextSeq(), time, author: principal };
    records.push(clean(register, key, report));
  };
  addRegister("source", head.source, createdAt);
  if (title !== null) addRegister("title", title, createdAt);
  for (const node of orderOf(forest, leaf)) {
    const author = isUsers(node.content) ? principal : ASSISTANT;
    records.push(clean(toEntry(node, ids, nextSeq(), author), node.entry.where, report));
  }
  if (leaf !== null && (head.activeLeaf !== null || !canBeLast(leaf, forest))) {
    const changedAt = head.changedAt ?? (records.at(-1) as LogRecord).time;
    addRegister(ACTIVE_LINE, ids.get(leaf) as EntryId, changedAt);
  }
  const summary = { id, title, ...shapeOf(forest, leaf, ids), reports };
  return { id, sourceId, title, createdAt, records, summary };
};

const isUsers = (content: ForeignContent): boolean => content.type === "message" && content.role === "user";

const idOf = ({ entry: { sourceId } }: ForestNode, newId: () => string): EntryId =>
  (isId(sourceId) ? sourceId : newId()) as EntryId;

/** The newest message by time, of equals the later in the file; where there is no message, the newest entry. */
const newestOf = (nodes: readonly ForestNode[]): ForestNode | null => {
  const messages = nodes.filter(({ content }) => content.type === "message");
  let newest: ForestNode | null = null;
  for (const node of messages.length > 0 ? messages : nodes) {
    if (newest === null || node.time >= newest.time) newest = node;
  }
  return newest;
};

const toEntry = (
  node: ForestNode,
  ids: ReadonlyMap<ForestNode, EntryId>,
  seq: Seq,
  author: PrincipalId,
): Entry => {
  const { entry, content, time, parent } = node;
  const id = ids.get(node) as EntryId;
  const parentId = parent === null ? null : (ids.get(parent) as EntryId);
  const { status = "complete", meta } = content;
  const placed = { kind: "entry", id, parentId, seq, rev: seq, time, author, status, size: 0 } as const;
  const whole = { ...placed, ...content, status };
  if (id === entry.sourceId) return whole;
  return { ...whole, meta: { ...(isMap(meta) ? meta : {}), sourceId: entry.sourceId } };
};

const isMap = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shapeOf = (
  { roots, nodes }: Forest,
  leaf: ForestNode | null,
  ids: ReadonlyMap<ForestNode, EntryId>,
): Pick<ImportSummary, "entries" | "roots" | "branchPoints" | "activeLine"> => {
  const idsOf = (list: readonly ForestNode[]) => list.map((node) => ids.get(node) as EntryId);
  const branchPoints: { parent: EntryId | null; children: EntryId[] }[] = [];
  if (roots.length > 1) branchPoints.push({ parent: null, children: idsOf(roots) });
  for (const node of nodes) {
    if (node.children.length > 1) {
      branchPoints.push({ parent: ids.get(node) as EntryId, children: idsOf(node.children) });
    }
  }
  const line: ForestNode[] = [];
  for (let at = leaf; at !== null; at = at.parent) line.push(at);
  return { entries: nodes.length, roots: idsOf(roots), branchPoints, activeLine: idsOf(line.reverse()) };
};
