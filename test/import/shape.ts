/**
 * What a test can expect of an imported session, computed from its records alone, in the source's own
 * ids: the shape of the `*.expected.json` files beside the fixtures.
 *
 * Beside the source's id of an entry, importers keep there in `meta`: `aliases` (records folded into it),
 * `replyId` (shared by the entries of one reply), `outside` (records that have no place), `model`.
 */
import {
  createRegisters,
  createTree,
  type Entry,
  type EntryId,
  type Json,
  pathTo,
  type TreeNode,
  transcript,
} from "@espalier/shared";
import { digest, modelText } from "./digest.js";
import type { Collected } from "./kit.js";

type Usage = { inputTokens: number; outputTokens: number };
type Sidechain = {
  agentId: string;
  entries: number;
  originCall: string | null;
  parentAgentId: string | null;
  usage: Usage | null;
  activeLine: string[];
};

export type Shape = {
  title: string | null;
  entries: number;
  byType: Record<string, number>;
  roots: string[];
  branchPoints: { parent: string | null; children: string[] }[];
  activeLine: string[];
  visibleText: string[];
  contextText: string[];
  contextAt: Record<string, string[]>;
  usage: Usage | null;
  sidechains: Sidechain[];
  compactions: { id: string; firstKept: string | null; tokensBefore: number | null }[];
  aliases: Record<string, string>;
  sameReply: string[][];
  statuses: Record<string, string>;
  audiences: Record<string, string>;
  labels: Record<string, string>;
  times: Record<string, number>;
  models: Record<string, Json>;
  outside: { line: number; type: string }[];
  reports: string[];
};

/** The contexts at other leaves are computed for those that are asked for. */
export const shapeOf = (
  session: Collected,
  sidechains: readonly Collected[] = [],
  leaves: readonly string[] = [],
): Shape => {
  const log = foldOf(session);
  const { tree, entries, line } = log;
  const at = (id: string) => sourceIdOf((tree.get(id as EntryId) as TreeNode).entry);
  const nodes = [...tree.nodes()];
  const bySourceId = new Map(nodes.map((node) => [idOf(node), node]));
  const messages = entries.filter((entry) => entry.type === "message");
  const lineTo = (leaf: string) => pathTo(bySourceId.get(leaf) as TreeNode).map(({ entry }) => entry);
  return {
    title: log.title,
    entries: tree.size,
    byType: countOf(entries.map(({ type }) => type)),
    roots: tree.roots.map(idOf),
    branchPoints: [
      ...(tree.roots.length > 1 ? [{ parent: null, children: tree.roots.map(idOf) }] : []),
      ...nodes
        .filter(({ children }) => children.length > 1)
        .map((node) => ({ parent: idOf(node), children: node.children.map(idOf) })),
    ],
    activeLine: line.map(sourceIdOf),
    visibleText: transcript(line).flatMap(digest),
    contextText: modelText(line),
    contextAt: Object.fromEntries(leaves.map((leaf) => [leaf, modelText(lineTo(leaf))])),
    usage: usageOf(entries),
    sidechains: sidechains.map(sidechainOf),
    compactions: entries
      .filter((entry) => entry.type === "compaction")
      .map(({ firstKeptId, tokensBefore = null, ...entry }) => ({
        id: sourceIdOf(entry as Entry),
        firstKept: firstKeptId === null ? null : at(firstKeptId),
        tokensBefore,
      })),
    aliases: Object.fromEntries(
      entries.flatMap((entry) => (metaOf(entry).aliases ?? []).map((alias) => [alias, sourceIdOf(entry)])),
    ),
    sameReply: repliesOf(entries),
    audiences: mapOf(
      messages.filter(({ audience = "both" }) => audience !== "both"),
      (each) => each.audience ?? "",
    ),
    statuses: mapOf(
      messages.filter(({ status }) => status !== "complete"),
      ({ status }) => status,
    ),
    labels: Object.fromEntries(log.labels.map(([id, label]) => [at(id), label])),
    times: mapOf(entries, ({ time }) => time),
    models: mapOf(
      entries.filter((entry) => metaOf(entry).model !== undefined),
      (entry) => metaOf(entry).model ?? null,
    ),
    outside: entries
      .flatMap((entry) => metaOf(entry).outside ?? [])
      .map(({ line: number, type }) => ({ line: number, type }))
      .sort((a, b) => a.line - b.line),
    reports: [...session.summary.reports],
  };
};

/** The id that the source knows an entry by. */
export const sourceIdOf = (entry: Entry): string => metaOf(entry).sourceId ?? entry.id;
const idOf = ({ entry }: TreeNode): string => sourceIdOf(entry);

type Meta = {
  readonly sourceId?: string;
  readonly aliases?: readonly string[];
  readonly replyId?: string;
  readonly outside?: readonly { line: number; type: string }[];
  readonly model?: Json;
};
const metaOf = ({ meta }: Entry): Meta => (meta ?? {}) as Meta;

const LABEL = "label:";

const foldOf = ({ records }: Collected) => {
  const tree = createTree();
  const registers = createRegisters();
  const labels: [string, string][] = [];
  for (const record of records) {
    tree.apply(record);
    if (record.kind !== "register") continue;
    registers.apply(record);
    if (record.key.startsWith(LABEL)) labels.push([record.key.slice(LABEL.length), record.value as string]);
  }
  const active = tree.get(registers.get("view:active") as EntryId) ?? tree.newest;
  return {
    tree,
    labels,
    title: (registers.get("title") ?? null) as string | null,
    entries: [...tree.nodes()].map(({ entry }) => entry).sort((a, b) => a.seq - b.seq),
    line: active === null ? [] : pathTo(active).map(({ entry }) => entry),
  };
};

const usageOf = (entries: readonly Entry[]): Usage | null => {
  const usages = entries.flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
  if (usages.length === 0) return null;
  return {
    inputTokens: usages.reduce((sum, { input }) => sum + input, 0),
    outputTokens: usages.reduce((sum, { output }) => sum + output, 0),
  };
};

const sidechainOf = (session: Collected): Sidechain => {
  const { entries, line } = foldOf(session);
  return {
    agentId: session.sourceId ?? agentOf(session.id) ?? "",
    entries: entries.length,
    originCall: session.origin?.callId ?? null,
    parentAgentId: agentOf(session.origin?.session ?? ""),
    usage: usageOf(entries),
    activeLine: line.map(sourceIdOf),
  };
};

/** Null for a session that is no sidechain. */
export const agentOf = (id: string): string | null => id.split("/")[1] ?? null;

const repliesOf = (entries: readonly Entry[]): string[][] => {
  const replies = new Map<string, string[]>();
  for (const entry of entries) {
    const { replyId } = metaOf(entry);
    if (replyId !== undefined) replies.set(replyId, [...(replies.get(replyId) ?? []), sourceIdOf(entry)]);
  }
  return [...replies.values()].filter(({ length }) => length > 1);
};

const mapOf = <E extends Entry, T>(entries: readonly E[], pick: (entry: E) => T): Record<string, T> =>
  Object.fromEntries(entries.map((entry) => [sourceIdOf(entry), pick(entry)]));

const countOf = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};
