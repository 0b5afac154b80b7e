/** Summarisers that a test can look into and hold up. */
import type { ModelAnswer, SummaryRequest } from "@espalier/client";
import type { ContextMessage } from "@espalier/shared";

export type Recorder = {
  readonly requests: SummaryRequest[];
  readonly summarize: (request: SummaryRequest) => ModelAnswer;
};

/** Answers each request with the next of its answers, and keeps what it was asked. */
export const recorder = (...answers: (string | ModelAnswer)[]): Recorder => {
  const requests: SummaryRequest[] = [];
  return {
    requests,
    summarize: (request) => {
      const answer = answers[requests.length] ?? `summary ${requests.length + 1}`;
      requests.push(request);
      return typeof answer === "string" ? Promise.resolve(answer) : answer;
    },
  };
};

export type Tap = {
  readonly answer: AsyncIterable<string>;
  say(text: string): void;
  end(): void;
  fail(cause: unknown): void;
  /** It was told that nobody reads on. */
  readonly isReturned: boolean;
};

/** An answer that is written from outside, and heeds no signal. */
export const tap = (): Tap => {
  const said: IteratorResult<string>[] = [];
  let failure: unknown;
  let wake = (): void => {};
  let isReturned = false;
  const put = (result: IteratorResult<string>): void => {
    said.push(result);
    wake();
  };
  const next = async (): Promise<IteratorResult<string>> => {
    for (;;) {
      if (failure !== undefined) throw failure;
      const result = said.shift();
      if (result !== undefined) return result;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    answer: {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          isReturned = true;
          return { done: true, value: undefined };
        },
      }),
    },
    say: (text) => put({ done: false, value: text }),
    end: () => put({ done: true, value: undefined }),
    fail: (cause) => {
      failure = cause;
      wake();
    },
    get isReturned() {
      return isReturned;
    },
  };
};

/** What people read of what a model is given. */
export const readTexts = (messages: readonly ContextMessage[]): string[] =>
  messages.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : `[${part.type}]`)).join(""));
