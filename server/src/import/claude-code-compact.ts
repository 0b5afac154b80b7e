/**
 * Where the records of a Claude Code file hang, before damage is repaired. `parentUuid` is the truth,
 * except around a compaction: its boundary begins anew with a null parent, its summary is a record of
 * its own, and what was kept of the talk may have been hung behind it again.
 *
 * A boundary with its summary is one compaction at its logical parent; with a kept tail, at that tail.
 * What comes after it, hung from summary or tail, goes below it; a kept record that hangs from the
 * summary goes back behind its neighbour among the kept ones.
 */
import type { ClaudeFact } from "./claude-code-facts.js";
import type { Report } from "./foreign.js";
import { whereOf } from "./jsonl.js";

export type Compaction = {
  readonly boundary: ClaudeFact;
  readonly summary: ClaudeFact;
  readonly firstKeptId: string | null;
};

export type Placed = {
  /** In file order, without the summaries. */
  readonly facts: readonly ClaudeFact[];
  /** Of each fact; it may still dangle or close a ring. */
  readonly parentIds: readonly (string | null)[];
  readonly compactionsById: ReadonlyMap<string, Compaction>;
  /** Ids of summaries, and the compactions that they are part of. */
  readonly aliases: ReadonlyMap<string, string>;
};

export const placeRecords = (all: readonly ClaudeFact[], report: Report): Placed => {
  const { compactionsById, aliases } = pairBoundaries(all);
  const facts = all.filter(({ id }) => !aliases.has(id));
  const order = new Map(facts.map(({ id }, index) => [id, index]));
  const rehang = createRehang(facts, order, compactionsById);
  const parentIds = facts.map((fact, index) => {
    if (fact.shape === "boundary") return boundaryParentOf(fact, index);
    const parentId = fact.parentId === null ? null : (aliases.get(fact.parentId) ?? fact.parentId);
    return rehang(fact, index, parentId);
  });
  return { facts, parentIds, compactionsById, aliases };

  function boundaryParentOf(fact: ClaudeFact, index: number): string | null {
    const isCompaction = compactionsById.has(fact.id);
    const tail = fact.rare.preserved?.tail ?? null;
    if (isCompaction && tail !== null && order.has(tail)) return rehang(fact, index, tail);
    const logical = fact.rare.logicalParentId ?? fact.parentId;
    if (logical === null) return null;
    const parentId = aliases.get(logical) ?? logical;
    if (order.has(parentId)) return rehang(fact, index, parentId);
    const fate = isCompaction
      ? `logical parent ${logical} is not in the file; the compaction becomes a root`
      : `parent ${logical} is not in the file; becomes a root`;
    report(`${whereOf(fact.place)}: ${fate}`);
    return null;
  }
};

/** A summary belongs to the boundary that it hangs from; a boundary has one at most. */
const pairBoundaries = (all: readonly ClaudeFact[]) => {
  const boundaries = new Map(all.filter(({ shape }) => shape === "boundary").map((fact) => [fact.id, fact]));
  const compactionsById = new Map<string, Compaction>();
  const aliases = new Map<string, string>();
  for (const summary of all) {
    if (summary.shape !== "digest" || summary.parentId === null) continue;
    const boundary = boundaries.get(summary.parentId);
    if (boundary === undefined || compactionsById.has(boundary.id)) continue;
    const firstKeptId = boundary.rare.preserved?.head ?? null;
    compactionsById.set(boundary.id, { boundary, summary, firstKeptId });
    aliases.set(summary.id, boundary.id);
  }
  return { compactionsById, aliases };
};

type Rehang = (fact: ClaudeFact, index: number, parentId: string | null) => string | null;

const createRehang = (
  facts: readonly ClaudeFact[],
  order: ReadonlyMap<string, number>,
  compactionsById: ReadonlyMap<string, Compaction>,
): Rehang => {
  /** The compactions that kept up to a record, in file order. */
  const byTail = new Map<string, { id: string; index: number }[]>();
  /** Of a kept record: what came before it. */
  const neighbours = new Map<string, Map<string, string | null>>();
  for (const { boundary } of compactionsById.values()) {
    const { id, rare } = boundary;
    const { preserved } = rare;
    if (preserved === null) continue;
    const index = order.get(id) as number;
    if (preserved.tail !== null) addTo(byTail, preserved.tail, { id, index });
    const kept = preserved.ids.filter((each) => order.has(each) && each !== id);
    neighbours.set(id, new Map(kept.map((each, place) => [each, kept[place - 1] ?? null])));
  }

  const lastBefore = (boundaryId: string, kept: ReadonlyMap<string, unknown>): string | null => {
    let at = (order.get(boundaryId) as number) - 1;
    while (at >= 0 && kept.has((facts[at] as ClaudeFact).id)) at -= 1;
    return facts[at]?.id ?? null;
  };

  return ({ id }, index, parentId) => {
    if (parentId === null) return null;
    const kept = neighbours.get(parentId);
    const neighbour = kept?.get(id);
    if (kept !== undefined && neighbour !== undefined) return neighbour ?? lastBefore(parentId, kept);
    const below = byTail.get(parentId)?.findLast((each) => each.index < index && each.id !== id);
    return below === undefined || neighbours.get(below.id)?.has(id) === true ? parentId : below.id;
  };
};

const addTo = <T>(listsById: Map<string, T[]>, id: string, item: T): void => {
  const list = listsById.get(id);
  if (list === undefined) listsById.set(id, [item]);
  else list.push(item);
};
