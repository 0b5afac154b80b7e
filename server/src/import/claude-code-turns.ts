/**
 * Straightens what Claude Code records as forks and means as one line: a reply's parallel calls, their
 * results and the harness's notes hang from each other in many shapes.
 *
 * A group is a reply (the records that share its id), or any other message, with the results and notes
 * that hang from it or from each other. It becomes one line: the reply's records, then the others, each
 * in file order. What comes next hangs from the line's end. Of several that come next, a turn of the
 * user's that hangs from the reply itself is a rewind and stays where it is. Loops only (T5).
 */
import type { ClaudeFact } from "./claude-code-facts.js";

export type Straight = {
  /** Index of each record's parent; -1 for a root. */
  readonly parents: Int32Array;
  /** The last record of the line that a record is part of, where it does not end the line itself. */
  endOf(index: number): number;
};

const ROOT = -1;

/** The parents reach a root: without rings. Facts are in file order. */
export const straighten = (facts: readonly ClaudeFact[], parents: Int32Array): Straight => {
  const { groupOf, firsts } = groupsOf(facts, parents);
  const count = firsts.length;
  const straight = new Int32Array(parents.length).fill(ROOT);
  const heads = new Int32Array(count).fill(ROOT);
  const ends = new Int32Array(count).fill(ROOT);
  const append = (index: number): void => {
    const group = groupOf[index] as number;
    const end = ends[group] as number;
    if (end === ROOT) heads[group] = index;
    straight[index] = end;
    ends[group] = index;
  };
  for (const [index, fact] of facts.entries()) if (!isFollower(fact)) append(index);
  for (const [index, fact] of facts.entries()) if (isFollower(fact)) append(index);

  const nexts = new Int32Array(count);
  const groupAbove = (group: number): number => {
    const parent = parents[firsts[group] as number] as number;
    return parent === ROOT ? ROOT : (groupOf[parent] as number);
  };
  for (let group = 0; group < count; group++) {
    const above = groupAbove(group);
    if (above !== ROOT) nexts[above] = (nexts[above] as number) + 1;
  }
  for (let group = 0; group < count; group++) {
    const above = groupAbove(group);
    if (above === ROOT) continue;
    const first = firsts[group] as number;
    const parent = parents[first] as number;
    const isRewind =
      (nexts[above] as number) > 1 && isTurn(facts[first]) && !isFollower(facts[parent] as ClaudeFact);
    straight[heads[group] as number] = isRewind ? parent : (ends[above] as number);
  }
  return { parents: straight, endOf: (index) => ends[groupOf[index] as number] as number };
};

/** What hangs from a message without beginning anything. */
export const isFollower = ({ shape, isMeta }: ClaudeFact): boolean =>
  shape === "tool" || shape === "custom" || (shape === "user" && isMeta);

const isTurn = (fact: ClaudeFact | undefined): boolean => fact?.shape === "user" && !fact.isMeta;

/** The group of each record, and the topmost record of each group. */
const groupsOf = (facts: readonly ClaudeFact[], parents: Int32Array) => {
  const groupOf = new Int32Array(facts.length);
  const firsts: number[] = [];
  /** A reply's calls may also hang side by side from what it answers. */
  const repliesBelow = new Map<string, number>();
  const startGroup = (index: number): number => firsts.push(index) - 1;

  const groupAt = (index: number): number => {
    const fact = facts[index] as ClaudeFact;
    const parent = parents[index] as number;
    if (parent === ROOT) return startGroup(index);
    const above = groupOf[parent] as number;
    if (isFollower(fact)) return above;
    if (fact.replyId === null) return startGroup(index);
    if (facts[firsts[above] as number]?.replyId === fact.replyId) return above;
    const key = `${above} ${fact.replyId}`;
    const group = repliesBelow.get(key) ?? startGroup(index);
    repliesBelow.set(key, group);
    return group;
  };
  for (const index of topDownOf(parents)) groupOf[index] = groupAt(index);
  return { groupOf, firsts };
};

/** Parents before children, children in file order. */
const topDownOf = (parents: Int32Array): Int32Array => {
  const count = parents.length;
  const firstChild = new Int32Array(count).fill(ROOT);
  const nextSibling = new Int32Array(count).fill(ROOT);
  const order = new Int32Array(count);
  let filled = 0;
  for (let index = count - 1; index >= 0; index--) {
    const parent = parents[index] as number;
    if (parent === ROOT) continue;
    nextSibling[index] = firstChild[parent] as number;
    firstChild[parent] = index;
  }
  for (let index = 0; index < count; index++) if (parents[index] === ROOT) order[filled++] = index;
  for (let next = 0; next < filled; next++) {
    let child = firstChild[order[next] as number] as number;
    for (; child !== ROOT; child = nextSibling[child] as number) order[filled++] = child;
  }
  return order;
};
