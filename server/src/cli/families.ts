/**
 * Sessions as a forest by where they come from (F4): forks stand below what they were forked from, sidechains
 * below theirs. A family stands where its newest change is; one whose origin is not listed begins its own.
 * Loops only: forks of forks may go on for long.
 */
import type { SessionId, SessionSummary } from "@espalier/shared";

export type Relative = {
  readonly summary: SessionSummary;
  /** Box characters that stand before it. */
  readonly lead: string;
};

/** Those that stand further in are not indented more. */
const MAX_DEPTH = 8;

type Step = {
  readonly summary: SessionSummary;
  readonly lead: string;
  readonly trunk: string;
  readonly depth: number;
};

/** In the order of `summaries` but for what belongs together. */
export function* familiesOf(summaries: readonly SessionSummary[]): Generator<Relative> {
  const byId = new Map(summaries.map((summary) => [summary.id, summary]));
  const childrenById = new Map<SessionId, SessionSummary[]>();
  for (const summary of summaries) {
    const parent = parentOf(summary, byId);
    if (parent === null) continue;
    const siblings = childrenById.get(parent.id);
    if (siblings === undefined) childrenById.set(parent.id, [summary]);
    else siblings.push(summary);
  }
  const told = new Set<SessionId>();
  for (const summary of summaries) {
    if (told.has(summary.id)) continue;
    const pending: Step[] = [{ summary: headOf(summary, byId), lead: "", trunk: "", depth: 0 }];
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      if (told.has(step.summary.id)) continue;
      told.add(step.summary.id);
      yield { summary: step.summary, lead: step.lead };
      const children = childrenById.get(step.summary.id) ?? [];
      for (let index = children.length - 1; index >= 0; index -= 1)
        pending.push(below(step, children[index] as SessionSummary, index === children.length - 1));
    }
  }
}

const below = ({ trunk, lead, depth }: Step, summary: SessionSummary, isLast: boolean): Step =>
  depth === MAX_DEPTH
    ? { summary, lead, trunk, depth }
    : {
        summary,
        lead: `${trunk}${isLast ? "└─" : "├─"}`,
        trunk: `${trunk}${isLast ? "  " : "│ "}`,
        depth: depth + 1,
      };

const parentOf = (
  { id, origin }: SessionSummary,
  byId: ReadonlyMap<SessionId, SessionSummary>,
): SessionSummary | null => {
  const named = origin?.session === null || origin === undefined ? undefined : byId.get(origin.session);
  const root = id.includes("/") ? byId.get(id.split("/", 1)[0] as SessionId) : undefined;
  return named ?? root ?? null;
};

/** The first of its family; where origins go round in a ring, as no server writes them, the one it came to. */
const headOf = (summary: SessionSummary, byId: ReadonlyMap<SessionId, SessionSummary>): SessionSummary => {
  const seen = new Set<SessionSummary>();
  let head = summary;
  for (
    let parent = parentOf(head, byId);
    parent !== null && !seen.has(parent);
    parent = parentOf(head, byId)
  ) {
    seen.add(parent);
    head = parent;
  }
  return head;
};
