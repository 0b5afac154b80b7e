/** One tree of Claude Code records, the session's own or a sidechain's, as an imported session. */
import type { Json, Origin, SessionId } from "@espalier/shared";
import { type Compaction, placeRecords } from "./claude-code-compact.js";
import { recordOf, type Surroundings, toContent } from "./claude-code-content.js";
import type { ClaudeFact } from "./claude-code-facts.js";
import { isFollower, type Straight, straighten } from "./claude-code-turns.js";
import type { ForeignEntry, ForeignKind, ImportedSession, ImportOptions, Report } from "./foreign.js";
import { type Forest, type ForestNode, growForest } from "./forest.js";
import { type RecordReader, whereOf } from "./jsonl.js";
import { assignOutside, type Outside, readOutside } from "./outside.js";
import { type IdOf, toSession } from "./records.js";
import { repair } from "./repair.js";

type ClaudeTree = {
  readonly id: SessionId;
  /** The source's id of the session, or of the agent. */
  readonly sourceId: string | null;
  /** That the records name. */
  readonly sessionId: string | null;
  readonly title: string | null;
  readonly source: Json;
  readonly origin?: Origin;
  readonly facts: readonly ClaudeFact[];
  readonly outside: readonly Outside[];
  readonly read: RecordReader;
  readonly idOf: IdOf;
  readonly reports: string[];
};

export const toClaudeSession = (tree: ClaudeTree, options: ImportOptions): ImportedSession => {
  const { id, sourceId, title, source, origin, idOf, reports } = tree;
  const report: Report = (line) => reports.push(line);
  const createdAt = tree.facts.find(({ time }) => time !== null)?.time ?? options.now();
  const { forest, activeIndex } = growTree(tree, createdAt, report);
  const head = {
    ...{ id, sourceId, title, createdAt, changedAt: null, source, idOf },
    ...(origin === undefined ? {} : { origin }),
    activeLeaf: forest.nodes[activeIndex] ?? null,
  };
  return toSession(head, forest, reports, options);
};

const KINDS: Readonly<Record<ClaudeFact["shape"], ForeignKind>> = {
  user: { type: "message", role: "user" },
  digest: { type: "message", role: "user" },
  tool: { type: "message", role: "tool" },
  assistant: { type: "message", role: "assistant" },
  boundary: { type: "custom" },
  custom: { type: "custom" },
};
const COMPACTION: ForeignKind = { type: "compaction" };

const growTree = (tree: ClaudeTree, createdAt: number, report: Report) => {
  const { facts, parentIds, compactionsById } = placeRecords(tree.facts, report);
  let contentAt: ContentAt = notYet;
  const entries = facts.map((fact, index): ForeignEntry => {
    const { id, place, time, shape } = fact;
    const parentId = parentIds[index] ?? null;
    const kind = compactionsById.has(id) ? COMPACTION : KINDS[shape];
    const content = () => contentAt(index);
    return { sourceId: id, parentId, where: whereOf(place), body: null, time, kind, content };
  });
  // Nobody else holds the entries yet: to place them once more where they are saves a copy of each.
  const repaired: Placeable[] = repair(entries, "file", report);
  const order = new Map(facts.map(({ id }, index) => [id, index]));
  const straight = straighten(
    facts,
    Int32Array.from(repaired, ({ parentId }) => (parentId === null ? -1 : (order.get(parentId) ?? -1))),
  );
  for (const [index, entry] of repaired.entries())
    entry.parentId = facts[straight.parents[index] as number]?.id ?? null;
  contentAt = createContents(tree, { facts, straight, compactionsById }, report);
  const forest = growForest(repaired, { order: "file", createdAt });
  return { forest, activeIndex: activeIndexOf(facts, straight, forest) };
};

type Placeable = Omit<ForeignEntry, "parentId"> & { parentId: string | null };
type ContentAt = (index: number) => ReturnType<ForeignEntry["content"]>;

const notYet: ContentAt = () => {
  throw new Error("unable to read an entry; it has no place yet");
};

/**
 * The last record of the file. Where it only follows on a message, the line that this is part of is
 * shown to its end: a note that came late to an old call hides nothing.
 */
const activeIndexOf = (facts: readonly ClaudeFact[], straight: Straight, { nodes }: Forest): number => {
  const last = facts.length - 1;
  const end = straight.endOf(last);
  if (end === last && !isFollower(facts[last] as ClaudeFact)) return last;
  let at = nodes[end] as ForestNode;
  for (let next = at.children.at(-1); next !== undefined; next = at.children.at(-1)) at = next;
  return at.index;
};

type Plan = {
  readonly facts: readonly ClaudeFact[];
  readonly straight: Straight;
  readonly compactionsById: ReadonlyMap<string, Compaction>;
};

const createContents = (tree: ClaudeTree, plan: Plan, report: Report) => {
  const { read, outside, sessionId } = tree;
  const { facts, straight, compactionsById } = plan;
  const answered = new Set(facts.flatMap(({ results }) => results));
  const counting = countingOf(facts);
  const outsideOf = assignOutside(
    outside,
    facts.map(({ place }) => place),
  );
  const summaryOf = async (id: string): Promise<Surroundings["summary"]> => {
    const compaction = compactionsById.get(id);
    if (compaction === undefined) return undefined;
    const { summary, firstKeptId } = compaction;
    return { id: summary.id, record: recordOf(await read(summary.place)), firstKeptId };
  };
  return async (index: number) => {
    const fact = facts[index] as ClaudeFact;
    const record = recordOf(await read(fact.place));
    const summary = await summaryOf(fact.id);
    const around: Surroundings = {
      fact,
      parentId: facts[straight.parents[index] as number]?.id ?? null,
      sessionId,
      countsUsage: counting.has(fact),
      isAnswered: (callId) => answered.has(callId),
      outside: await readOutside(outsideOf(index), read),
      ...(summary === undefined ? {} : { summary }),
    };
    return toContent(record, around, report);
  };
};

/** Of each reply the last record with figures: earlier ones carry a part of the count. */
const countingOf = (facts: readonly ClaudeFact[]): ReadonlySet<ClaudeFact> => {
  const lastOfReply = new Map<string, ClaudeFact>();
  const counting = new Set<ClaudeFact>();
  for (const fact of facts) {
    if (!fact.hasUsage) continue;
    if (fact.replyId === null) counting.add(fact);
    else lastOfReply.set(fact.replyId, fact);
  }
  for (const fact of lastOfReply.values()) counting.add(fact);
  return counting;
};
