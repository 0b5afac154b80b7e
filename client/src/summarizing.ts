/**
 * Asking for a summary: what compactions and branch-summaries have in common. Each is read, summarised, written,
 * and can be cancelled until it is written; nothing is published before the summary is whole (C4, C8).
 */
import { type ContextMessage, type ErrorBody, EspalierError, refusal, type Settings } from "@espalier/shared";
import { type Answer, abortable, readAnswer, type Summarize, summarizeWith } from "./model.js";
import { ownerOf } from "./view-owner.js";
import type { View } from "./view-types.js";

export type SummaryProgress = {
  readonly phase: "reading" | "summarizing" | "writing";
  /** What the model reads now of what is to be summarised or kept, in estimated tokens; 0 while it is being read. */
  readonly tokensBefore: number;
  /** UTF-16 code units of the summary so far. */
  readonly characters: number;
};

export type SummaryOptions = {
  /** Takes the place of the instruction. */
  readonly prompt?: string;
  /** Writes the summary; by default the model that the client was given. */
  readonly summarize?: Summarize;
  /** Cancels it, for as long as nothing is published. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: SummaryProgress) => void;
};

/** One piece of summarising on its way. */
export type Summarizing = {
  /** Waits for work unless it is cancelled first. */
  read<T>(work: Promise<T>): Promise<T | ErrorBody>;
  summarize(of: {
    readonly messages: readonly ContextMessage[];
    readonly instruction: string;
    readonly tokensBefore: number;
    readonly settings?: Settings;
  }): Promise<Answer | ErrorBody>;
};

/** What is told of a model's failure. */
const MAX_REASON_LENGTH = 1000;

const busyViews = new WeakSet<View>();

/**
 * Who writes the summary. `what` completes "unable to …".
 *
 * @throws EspalierError `invalid` where nobody is known who could
 */
export const summarizerFor = (view: View, what: string, { summarize }: SummaryOptions): Summarize => {
  const { model } = ownerOf(view);
  if (summarize !== undefined) return summarize;
  if (model !== undefined) return summarizeWith(model);
  throw new EspalierError(
    "invalid",
    `unable to ${what}; no \`summarize\` was handed in, and the client was given no \`model\``,
  );
};

/** Does one at a time for a view; another one is refused with `conflict`. Throws as `summarizerFor`. */
export const whileSummarizing = <T>(
  view: View,
  what: string,
  options: SummaryOptions,
  work: (summarizing: Summarizing) => Promise<T | ErrorBody>,
): Promise<T | ErrorBody> => {
  const summarize = summarizerFor(view, what, options);
  if (busyViews.has(view))
    return Promise.resolve(
      refusal("conflict", `unable to ${what}; another summary is under way in this view`),
    );
  busyViews.add(view);
  return work(createSummarizing(what, summarize, options)).finally(() => busyViews.delete(view));
};

const createSummarizing = (what: string, summarize: Summarize, options: SummaryOptions): Summarizing => {
  const { signal = new AbortController().signal, onProgress = () => {}, prompt } = options;

  const failure = (cause: unknown): ErrorBody => {
    if (signal.aborted) return refusal("cancelled", `unable to ${what}; it was cancelled`);
    const reason = (cause instanceof Error ? cause.message : String(cause)).slice(0, MAX_REASON_LENGTH);
    return refusal("internal", `unable to ${what}; ${reason.toWellFormed()}`);
  };

  return {
    read: async (reading) => {
      onProgress({ phase: "reading", tokensBefore: 0, characters: 0 });
      const { unlessAborted, release } = abortable(signal);
      try {
        return await unlessAborted(reading);
      } catch (cause) {
        if (!signal.aborted) throw cause;
        return failure(cause);
      } finally {
        release();
      }
    },
    summarize: async ({ messages, instruction, tokensBefore, settings }) => {
      const tell = (phase: SummaryProgress["phase"], characters: number): void =>
        onProgress({ phase, tokensBefore, characters });
      tell("summarizing", 0);
      try {
        signal.throwIfAborted();
        const answer = await readAnswer(
          summarize({
            messages,
            instruction: prompt ?? instruction,
            signal,
            ...(settings === undefined ? {} : { settings }),
          }),
          signal,
          (text) => tell("summarizing", text.length),
        );
        const text = answer.text.trim().toWellFormed();
        if (text === "") throw new Error("the summary is empty");
        tell("writing", text.length);
        signal.throwIfAborted();
        return { ...answer, text };
      } catch (cause) {
        return failure(cause);
      }
    },
  };
};
