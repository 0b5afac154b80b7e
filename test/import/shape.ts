/**
 * What a test can expect of an imported session, computed from its records alone, in the source's own
 * ids: the shape of the `*.expected.json` files beside the fixtures.
 */
import { createRegisters, createTree, type Entry, type Part, pathTo, type TreeNode } from "@espalier/shared";
import type { ImportedSession } from "../../server/src/import/foreign.js";

export type Shape = {
  title: string | null;
  entries: number;
  byType: Record<string, number>;
  roots: string[];
  branchPoints: { parent: string | null; children: string[] }[];
  activeLine: string[];
  visibleText: string[];
  contextText: string[];
  audiences: Record<string, string>;
  statuses: Record<string, string>;
  times: Record<string, number>;
  reports: string[];
};

export const shapeOf = (session: ImportedSession): Shape => {
  const tree = createTree();
  const registers = createRegisters();
  for (const record of session.records) {
    tree.apply(record);
    if (record.kind === "register") registers.apply(record);
  }
  const nodes = [...tree.nodes()];
  const active = tree.get(registers.get("view:active") as Entry["id"]) ?? tree.newest;
  const line = active === null ? [] : pathTo(active).map(({ entry }) => entry);
  const messages = nodes.map(({ entry }) => entry).filter((entry) => entry.type === "message");
  return {
    title: registers.get("title") as string | null,
    entries: tree.size,
    byType: countOf(nodes.map(({ entry }) => entry.type)),
    roots: tree.roots.map(idOf),
    branchPoints: [
      ...(tree.roots.length > 1 ? [{ parent: null, children: tree.roots.map(idOf) }] : []),
      ...nodes
        .filter(({ children }) => children.length > 1)
        .map((node) => ({ parent: idOf(node), children: node.children.map(idOf) })),
    ],
    activeLine: line.map(sourceIdOf),
    visibleText: line.filter(isForReaders).flatMap(digest),
    contextText: repaired(line.filter(isForModel)).flatMap(digest),
    audiences: mapOf(
      messages.filter(({ audience = "both" }) => audience !== "both"),
      (each) => each.audience ?? "",
    ),
    statuses: mapOf(
      messages.filter(({ status }) => status !== "complete"),
      ({ status }) => status,
    ),
    times: mapOf(messages, ({ time }) => time),
    reports: [...session.summary.reports],
  };
};

/** The id that the source knows an entry by. */
export const sourceIdOf = (entry: Entry): string => {
  const { sourceId } = (entry.meta ?? {}) as { sourceId?: string };
  return sourceId ?? entry.id;
};
const idOf = ({ entry }: TreeNode): string => sourceIdOf(entry);

const mapOf = <E extends Entry, T>(entries: E[], pick: (entry: E) => T): Record<string, T> =>
  Object.fromEntries(entries.map((entry) => [sourceIdOf(entry), pick(entry)]));

const countOf = (names: string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

const audienceOf = (entry: Entry): string =>
  "audience" in entry && entry.audience ? entry.audience : entry.type === "custom" ? "reader" : "both";
const isForReaders = (entry: Entry): boolean => audienceOf(entry) !== "model";
const isForModel = (entry: Entry): boolean =>
  audienceOf(entry) !== "reader" && (entry.type === "message" || entry.type === "custom");

const callsOf = (entry: Entry): string[] =>
  partsOf(entry).flatMap((part) => (part.type === "tool-call" ? [part.callId] : []));
const resultsOf = (entry: Entry): string[] =>
  partsOf(entry).flatMap((part) => (part.type === "tool-result" ? [part.callId] : []));
const partsOf = (entry: Entry): readonly Part[] => (entry.type === "message" ? entry.parts : []);

const INTERRUPTED: Digestible = {
  type: "message",
  role: "tool",
  parts: [{ type: "tool-result", callId: "", output: "[interrupted]" }],
};

/** C6, for calls of one call each: the results move behind their call, a missing one is interrupted. */
const repaired = (line: Entry[]): Digestible[] =>
  line.flatMap((entry) => {
    if (resultsOf(entry).length > 0) return [];
    const calls = callsOf(entry);
    if (calls.length === 0) return [entry];
    const results = line.filter((other) => resultsOf(other).some((callId) => calls.includes(callId)));
    return [entry, ...(results.length > 0 ? results : [INTERRUPTED])];
  });

type Digestible = Entry | { type: "message"; role: "tool"; parts: Part[] };

const digest = (entry: Digestible): string[] => {
  if (entry.type === "custom") return [`custom: ${entry.name}`];
  if (entry.type !== "message") return [`${entry.type}: `];
  const text = wordsOf(entry.parts).replace(/\s+/g, " ").trim().slice(0, 40);
  return text === "" ? [] : [`${entry.role}: ${text}`];
};

const wordsOf = (parts: readonly Part[]): string =>
  firstNotEmpty(
    parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    parts.map((part) => (part.type === "tool-result" ? String(part.output ?? "") : "")).join(""),
    parts.map((part) => (part.type === "tool-call" ? `[call ${part.name}]` : "")).join(" "),
    parts.some(({ type }) => type === "thinking") ? "[thinking]" : "",
    parts.some(({ type }) => type === "file") ? "[file]" : "",
    parts.some(({ type }) => type === "data") ? "[data]" : "",
  );

const firstNotEmpty = (...texts: string[]): string => texts.find((text) => text.trim() !== "") ?? "";
