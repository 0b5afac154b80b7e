/**
 * A summary of a line that was left, on the one that the view is on now (C8): asked for, never made by itself.
 * Whatever goes wrong leaves nothing behind.
 */
import {
  BRANCH_INSTRUCTION,
  type BranchSummaryPlan,
  type Entry,
  type EntryId,
  type ErrorBody,
  planBranchSummary,
  refusal,
  settings,
  type Usage,
} from "@espalier/shared";
import { confirmedLeafId, publishBelow } from "./publish-below.js";
import { isError } from "./session-reads.js";
import { type Summarizing, type SummaryOptions, summarizerFor, whileSummarizing } from "./summarizing.js";
import { ownerOf } from "./view-owner.js";
import type { DraftContent, View } from "./view-types.js";

/** A branch-summary that is on the server's disk. */
export type BranchSummarized = Pick<BranchSummaryPlan, "fromId" | "commonId"> & {
  readonly id: EntryId;
  readonly summary: string;
  /** Where the model told it. */
  readonly usage?: Usage;
};

/**
 * Summarises what a line that was left has beyond the entry at which it parted from the one that the view shows,
 * and publishes that here, where the model then reads it as a user's message. Options as for `compact`.
 *
 * @example
 * const left = view.snapshot.leafId;
 * view.branch(checkpoint);
 * if (left !== null) await summarizeBranch(view, { from: left });
 * @param options `from`: the leaf that was left; it is confirmed by then.
 * @returns what was published, or why nothing was: `nothing_to_compact` where that line has nothing of its own,
 * `cancelled` (also where the view has left this line meanwhile), `internal` with the reason where the summary
 * failed or was empty, `conflict` while another summary is under way in this view, or what the server refused.
 * @throws EspalierError `invalid`, at once, where no model is known
 */
export const summarizeBranch = (
  view: View,
  options: SummaryOptions & { readonly from: EntryId },
): Promise<BranchSummarized | ErrorBody> => {
  const { session } = ownerOf(view);
  const { from } = options;

  const pathTo = async (leafId: EntryId | undefined): Promise<readonly Entry[] | ErrorBody> =>
    leafId === undefined ? [] : session.loadPath(leafId);

  const readLines = async () => {
    const leaf = await view.loadUntil(() => true);
    const { isHeld } = view.snapshot;
    const [left, here] = await Promise.all([pathTo(from), pathTo(leaf?.id)]);
    if (isError(left)) return left;
    return isError(here) ? here : { left, here, hereId: leaf?.id ?? null, isHeld };
  };

  /** Also where it came back to the line that it had left, which may go on from here. */
  const hasMoved = (hereId: EntryId | null): boolean =>
    view.get(from) !== undefined || (hereId !== null && view.get(hereId) === undefined);

  const carryOut = async (summarizing: Summarizing): Promise<BranchSummarized | ErrorBody> => {
    const lines = await summarizing.read(readLines());
    if (isError(lines)) return lines;
    const { left, here, hereId, isHeld } = lines;
    const plan = planBranchSummary(left, here);
    if (isError(plan)) return plan;
    const { fromId, commonId } = plan;
    const answer = await summarizing.summarize({
      messages: plan.summarize,
      instruction: BRANCH_INSTRUCTION,
      tokensBefore: plan.tokensBefore,
      settings: settings(left),
    });
    if (isError(answer)) return answer;
    if (hasMoved(hereId))
      return refusal("cancelled", `unable to ${WHAT}; the view has left the line that it was to stand on`);
    const { text: summary, usage } = answer;
    const content: DraftContent = { type: "branch-summary", fromId, summary, ...(usage && { usage }) };
    const published = await publishBelow(view, hereId, isHeld, content);
    return isError(published)
      ? published
      : { ...published, fromId, commonId, summary, ...(usage && { usage }) };
  };

  return whileSummarizing(view, WHAT, options, carryOut);
};

const WHAT = "summarise the line that was left";

/**
 * Goes to an entry as `view.branch` does, at once, and summarises there what was left.
 *
 * @example await leaveBranch(view, checkpoint, { signal });
 * @returns as `summarizeBranch`; the view stays where it went also where the summary came to nothing
 * @throws EspalierError `invalid`, before anything is done, where no model is known
 */
export const leaveBranch = (
  view: View,
  toId: EntryId | null,
  options: SummaryOptions = {},
): Promise<BranchSummarized | ErrorBody> => {
  summarizerFor(view, WHAT, options);
  const from = confirmedLeafId(view);
  view.branch(toId);
  if (from === null)
    return Promise.resolve(refusal("nothing_to_compact", `unable to ${WHAT}; nothing of it is confirmed`));
  return summarizeBranch(view, { ...options, from });
};
