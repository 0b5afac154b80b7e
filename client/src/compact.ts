/**
 * Compaction through a view (C2–C5): plans where the line is cut, has what lies above summarised, and publishes one
 * entry. Whatever goes wrong before that leaves nothing behind; what others write meanwhile stands between, and
 * the model goes on reading it (C3).
 */
import {
  type CompactionPlan,
  type CompactionPolicy,
  checkCompactionPolicy,
  DEFAULT_INSTRUCTION,
  type EntryId,
  type ErrorBody,
  type EstimateTokens,
  planCompaction,
  refusal,
  SPLIT_INSTRUCTION,
  settings,
  type Usage,
} from "@espalier/shared";
import { publishBelow } from "./publish-below.js";
import { isError } from "./session-reads.js";
import { type Summarizing, type SummaryOptions, whileSummarizing } from "./summarizing.js";
import { ownerOf } from "./view-owner.js";
import type { DraftContent, View } from "./view-types.js";

export type CompactOptions = CompactionPolicy &
  SummaryOptions & {
    /** What an entry takes of the model's window; a quarter of its characters by default. */
    readonly estimateTokens?: EstimateTokens;
  };

/** A compaction that is on the server's disk. */
export type Compacted = Omit<CompactionPlan, "summarize"> & {
  readonly id: EntryId;
  readonly summary: string;
  /** Where the model told it. */
  readonly usage?: Usage;
};

/**
 * Makes what the model reads of a view's line shorter: what is older than the last `keepTurns` turns or
 * `keepTokens` tokens, or not named by `keep`, is summarised. Readers go on seeing all of it.
 *
 * The summary is written by `summarize`, else by the `model` that `connect` was given. `prompt` takes the place of
 * the instruction. Until it is published it can be cancelled with `signal`.
 *
 * @example
 * const compacted = await compact(view, { keepTurns: 3, onProgress: ({ characters }) => draw(characters) });
 * if ("code" in compacted) show(compacted.message);
 * @returns what was published, or why nothing was: `nothing_to_compact`, `cancelled`, `internal` with the reason
 * where the summary failed or was empty, `conflict` while another summary is under way in this view, or what the
 * server refused it with.
 * @throws EspalierError `invalid`, at once, for a policy that is none, and where no model is known
 */
export const compact = (view: View, options: CompactOptions): Promise<Compacted | ErrorBody> => {
  checkCompactionPolicy(options);
  const { session, contextEntries } = ownerOf(view);
  // What is to be kept may have been summarised before, and is then no part of the context any more.
  const read = "keep" in options ? session.loadPath : contextEntries;

  /** The confirmed line that the view shows, once it has one: what is pending comes before the compaction. */
  const readLine = async () => {
    const leaf = await view.loadUntil(() => true);
    const { isHeld } = view.snapshot;
    if (leaf === undefined) return refusal("nothing_to_compact", "unable to compact; the view shows nothing");
    const path = await read(leaf.id);
    return isError(path) ? path : { path, leafId: leaf.id, isHeld };
  };

  const carryOut = async (summarizing: Summarizing): Promise<Compacted | ErrorBody> => {
    const line = await summarizing.read(readLine());
    if (isError(line)) return line;
    const plan = planCompaction(line.path, options, options);
    if (isError(plan)) return plan;
    const { summarize, split, ...planned } = plan;
    const said = { ...planned, upToId: line.leafId };
    const answer = await summarizing.summarize({
      messages: summarize,
      instruction: split === undefined ? DEFAULT_INSTRUCTION : SPLIT_TURN_INSTRUCTION,
      tokensBefore: plan.tokensBefore,
      settings: settings(line.path),
    });
    if (isError(answer)) return answer;
    const { text: summary, usage } = answer;
    const content: DraftContent = { type: "compaction", summary, ...said, ...(usage && { usage }) };
    const published = await publishBelow(view, line.leafId, line.isHeld, content);
    if (isError(published)) return published;
    return { ...published, ...said, summary, ...(split && { split }), ...(usage && { usage }) };
  };

  return whileSummarizing(view, "compact", options, carryOut);
};

const SPLIT_TURN_INSTRUCTION = `${DEFAULT_INSTRUCTION}\n\n${SPLIT_INSTRUCTION}`;
