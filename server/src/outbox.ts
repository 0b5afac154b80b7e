/**
 * What waits for one reader (J7): frames of records, merged when they go out, and answers between them,
 * in order. Bounded; past its bound the reader is closed and catches up later. Pure.
 */
import { type Frame, mergeFrames } from "./frame.js";

export type Outbox = {
  /** Bytes of records that wait. Answers do not count. */
  readonly bytes: number;
  readonly isEmpty: boolean;
  pushFrame(frame: Frame): void;
  pushAnswer(text: string): void;
  /** The next message to send, or undefined where nothing waits. */
  take(): string | undefined;
};

export const createOutbox = (): Outbox => {
  let waiting: (Frame | string)[] = [];
  let bytes = 0;

  /** The frames of one session up to the next answer; those of others keep their place. */
  const takeFrames = (first: Frame): Frame[] => {
    const taken: Frame[] = [];
    const rest: (Frame | string)[] = [];
    let isPastAnswer = false;
    for (const item of waiting) {
      if (typeof item === "string") isPastAnswer = true;
      if (!isPastAnswer && typeof item !== "string" && item.ch === first.ch) taken.push(item);
      else rest.push(item);
    }
    waiting = rest;
    return taken;
  };

  return {
    get bytes() {
      return bytes;
    },
    get isEmpty() {
      return waiting.length === 0;
    },
    pushFrame: (frame) => {
      waiting.push(frame);
      bytes += frame.bytes;
    },
    pushAnswer: (text) => void waiting.push(text),
    take: () => {
      const [first] = waiting;
      if (first === undefined) return undefined;
      if (typeof first === "string") {
        waiting.shift();
        return first;
      }
      const frames = takeFrames(first);
      for (const frame of frames) bytes -= frame.bytes;
      return mergeFrames(frames).text();
    },
  };
};
