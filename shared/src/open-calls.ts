/**
 * Which tool calls wait for their results as a path is walked down: a fold over its entries. It pairs as
 * `tool-pairs.ts` does for the model (a result belongs to the nearest call above it of its id that has none yet),
 * and says besides whether a result may still come.
 *
 * A call is open from its message on until it has a result. Nobody waits any longer where the message was aborted
 * or has failed, nor where the conversation has gone on: with a prompt, and then a reply to that. The context
 * gives such a call an "interrupted" result; a line is not tied to it for ever.
 */
import { isPrompt } from "./path.js";
import type { Entry } from "./record.js";
import { isAnsweredInside } from "./tool-pairs.js";
import { isForModel } from "./transcript.js";

type Call = { readonly place: number };

export type OpenCalls = {
  /** Folds the next entry, at its place; returns the places of the messages that it answers, its own left out. */
  push(entry: Entry, place: number): readonly number[];
  /** The place of the first message with an open call, or null. */
  first(): number | null;
  /** The places of all of them, each as often as it has one. */
  all(): readonly number[];
};

const NONE: readonly number[] = Object.freeze([]);

export const createOpenCalls = (): OpenCalls => {
  const unansweredById = new Map<string, Call[]>();
  /** In the order of their places; `passed` are those below which a prompt stands. */
  const waiting = new Set<Call>();
  const passed = new Set<Call>();

  const goOn = (entry: Entry): void => {
    if (isPrompt({ entry })) {
      for (const call of waiting) passed.add(call);
      waiting.clear();
    } else if (isReply(entry)) passed.clear();
  };

  const open = (callId: string, place: number, isAwaited: boolean): void => {
    const call: Call = { place };
    const calls = unansweredById.get(callId);
    if (calls === undefined) unansweredById.set(callId, [call]);
    else calls.push(call);
    if (isAwaited) waiting.add(call);
  };

  const answer = (callId: string): Call | undefined => {
    const calls = unansweredById.get(callId);
    const call = calls?.pop();
    if (call === undefined) return undefined;
    if (calls?.length === 0) unansweredById.delete(callId);
    waiting.delete(call);
    passed.delete(call);
    return call;
  };

  return {
    push: (entry, place) => {
      goOn(entry);
      if (entry.type !== "message" || !isForModel(entry)) return NONE;
      const isAwaited = entry.status === "streaming" || entry.status === "complete";
      let answered: number[] | null = null;
      for (const part of entry.parts) {
        if (part.type === "tool-call" && !isAnsweredInside(part)) open(part.callId, place, isAwaited);
        if (part.type !== "tool-result") continue;
        const call = answer(part.callId);
        if (call === undefined || call.place === place) continue;
        answered ??= [];
        answered.push(call.place);
      }
      return answered ?? NONE;
    },
    first: () => {
      const [early] = passed;
      const [late] = waiting;
      return early?.place ?? late?.place ?? null;
    },
    all: () => [...passed, ...waiting].map(({ place }) => place),
  };
};

/** What the model said, also while it is being written, and where it was erased. */
export const isReply = (entry: Entry): boolean =>
  (entry.type === "message" || entry.type === "erased") &&
  entry.role === "assistant" &&
  entry.audience !== "reader";
