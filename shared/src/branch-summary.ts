/** What a line that was left has, and another one has not: what a branch-summary stands for (C8). Pure. */
import { context } from "./context.js";
import type { ContextMessage } from "./context-message.js";
import { type ErrorBody, refusal } from "./errors.js";
import type { EntryId } from "./ids.js";
import type { Entry } from "./record.js";
import { estimateTokens } from "./tokens.js";

export type BranchSummaryPlan = {
  /** The leaf that was left. */
  readonly fromId: EntryId;
  /** The last entry that both lines have; null where they have none. */
  readonly commonId: EntryId | null;
  /** What the model read on the line that was left, without what it reads here; no system message. */
  readonly summarize: readonly ContextMessage[];
  /** The size of that, in estimated tokens. */
  readonly tokensBefore: number;
};

/**
 * Plans the summary of a line that was left. Where that was compacted below the entry that the two parted at, its
 * summary stands for what it summarised.
 *
 * ```ts
 * const plan = planBranchSummary(leftPath, herePath);
 * if ("code" in plan) return plan; // nothing_to_compact
 * ```
 * @param left the path of the line that was left, from the first entry down.
 * @param here the path that the summary is written on.
 * @returns the plan, or `nothing_to_compact` where the line that was left says nothing that is not here too.
 */
export const planBranchSummary = (
  left: readonly Entry[],
  here: readonly Entry[],
): BranchSummaryPlan | ErrorBody => {
  let common = 0;
  while (common < left.length && left[common]?.id === here[common]?.id) common += 1;
  const leftIds = new Set(left.slice(common).map(({ id }) => id));
  const summarize = context(left).filter(({ entryId, role }) => role !== "system" && leftIds.has(entryId));
  const read = new Set(summarize.map(({ entryId }) => entryId));
  const tokensBefore = left.reduce(
    (sum, entry) => (read.has(entry.id) ? sum + estimateTokens(entry) : sum),
    0,
  );
  const fromId = left.at(-1)?.id;
  if (fromId === undefined || summarize.length === 0)
    return refusal(
      "nothing_to_compact",
      "unable to summarise the line that was left; it says nothing that is not on this one too",
    );
  return { fromId, commonId: left[common - 1]?.id ?? null, summarize, tokensBefore };
};
