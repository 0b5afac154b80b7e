/**
 * A model as this client asks it for summaries: a function that is handed in. What comes back is read here, as it
 * comes, and no longer than it is wanted: a model that does not heed its signal keeps nobody waiting.
 */
import type { ContextMessage, Settings, Usage } from "@espalier/shared";

/** Text as it is written, or whole; and, where the model tells it, what it used. */
export type ModelAnswer =
  | AsyncIterable<string | { readonly usage: Usage }>
  | Promise<string | { readonly text: string; readonly usage?: Usage }>;

export type ModelRequest = {
  /** What it is to read; the last one says what it is to do, and bears the id of the entry above it. */
  readonly messages: readonly ContextMessage[];
  /** Aborts when the answer is not wanted any more. */
  readonly signal: AbortSignal;
  /** The model and the options in force on the line (C7). */
  readonly settings?: Settings;
};

/**
 * Answers a request. It may throw or reject: that is told to whoever asked.
 *
 * @example
 * const model: Model = async function* ({ messages, signal }) {
 *   for await (const chunk of provider.stream({ messages: toProvider(messages), signal })) yield chunk.text;
 * };
 */
export type Model = (request: ModelRequest) => ModelAnswer;

export type SummaryRequest = {
  /** What the summary has to stand for. */
  readonly messages: readonly ContextMessage[];
  /** What the summary should be. */
  readonly instruction: string;
  readonly signal: AbortSignal;
  readonly settings?: Settings;
};

/** Writes a summary, for whoever puts the request to a model in a way of their own. */
export type Summarize = (request: SummaryRequest) => ModelAnswer;

/** A model that is asked with the instruction as the last message, a user's. */
export const summarizeWith =
  (model: Model): Summarize =>
  ({ messages, instruction, ...rest }) => {
    const entryId = messages.at(-1)?.entryId as ContextMessage["entryId"];
    const ask: ContextMessage = { role: "user", parts: [{ type: "text", text: instruction }], entryId };
    return model({ messages: [...messages, ask], ...rest });
  };

export type Answer = { readonly text: string; readonly usage?: Usage };

/**
 * Reads an answer to its end; `onText` hears of the text so far. Rejects with the signal's reason as soon as it
 * aborts, else as the answer does.
 */
export const readAnswer = async (
  answer: ModelAnswer,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<Answer> => {
  const { unlessAborted, release } = abortable(signal);
  try {
    if (!isIterable(answer)) {
      const whole = await unlessAborted(answer);
      return typeof whole === "string" ? { text: whole } : whole;
    }
    return await readStream(answer, unlessAborted, onText);
  } finally {
    release();
  }
};

type UnlessAborted = <T>(work: PromiseLike<T>) => Promise<T>;

const readStream = async (
  answer: AsyncIterable<string | { readonly usage: Usage }>,
  unlessAborted: UnlessAborted,
  onText: (text: string) => void,
): Promise<Answer> => {
  const iterator = answer[Symbol.asyncIterator]();
  let text = "";
  let usage: Usage | undefined;
  let isEnded = false;
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next());
      if (next.done === true) break;
      if (typeof next.value !== "string") usage = next.value.usage;
      else {
        text += next.value;
        onText(text);
      }
    }
    isEnded = true;
  } finally {
    // Not awaited: one that is stuck in its own reading would never return.
    if (!isEnded) void Promise.resolve(iterator.return?.()).catch(() => {});
  }
  return usage === undefined ? { text } : { text, usage };
};

const isIterable = (answer: ModelAnswer): answer is Extract<ModelAnswer, AsyncIterable<unknown>> =>
  Symbol.asyncIterator in answer;

/** Races work against a signal, for as long as it is not released. */
export const abortable = (signal: AbortSignal): { unlessAborted: UnlessAborted; release: () => void } => {
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
  });
  // Where nobody waits at the time, it is no failure of anything.
  aborted.catch(() => {});
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  return {
    unlessAborted: (work) => Promise.race([aborted, work]),
    release: () => signal.removeEventListener("abort", abort),
  };
};
