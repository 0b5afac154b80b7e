/**
 * What waits for one reader (J7): frames of records, merged when they go out, and answers between them,
 * in order. Changes of the session list come last, the latest of each session. Pure; whoever owns it
 * closes a reader that is past a bound, and the reader catches up later.
 */
import type { ServerMessage, SessionId, SessionSummary } from "@espalier/shared";
import { type Frame, mergeFrames } from "./frame.js";
import { createQueue } from "./queue.js";

export type Outbox = {
  /** Bytes of records that wait. Answers do not count. */
  readonly bytes: number;
  /** Bytes of answers that wait. */
  readonly answerBytes: number;
  readonly isEmpty: boolean;
  pushFrame(frame: Frame): void;
  pushAnswer(text: string): void;
  pushSummary(summary: SessionSummary): void;
  /** A session was deleted: nothing is told of it after that. */
  pushGone(id: SessionId): void;
  /** The next message to send, or undefined where nothing waits. */
  take(): string | undefined;
};

/** The frames between two answers, by session: what is for different sessions does not bear on each other. */
type Frames = Map<number, Frame[]>;

export const createOutbox = (): Outbox => {
  const waiting = createQueue<Frames | string>();
  const summariesById = new Map<SessionId, SessionSummary>();
  let gone: SessionId[] = [];
  let bytes = 0;
  let answerBytes = 0;

  const takeFrames = (framesByCh: Frames): string => {
    const [ch, frames] = framesByCh.entries().next().value as [number, Frame[]];
    framesByCh.delete(ch);
    if (framesByCh.size === 0) waiting.shift();
    for (const frame of frames) bytes -= frame.bytes;
    return mergeFrames(frames).text();
  };

  const takeListed = (): string | undefined => {
    if (gone.length > 0) {
      const sessions = gone;
      gone = [];
      return JSON.stringify({ type: "gone", sessions } satisfies ServerMessage);
    }
    if (summariesById.size === 0) return undefined;
    const sessions = [...summariesById.values()];
    summariesById.clear();
    return JSON.stringify({ type: "sessions", sessions } satisfies ServerMessage);
  };

  return {
    get bytes() {
      return bytes;
    },
    get answerBytes() {
      return answerBytes;
    },
    get isEmpty() {
      return waiting.size === 0 && summariesById.size === 0 && gone.length === 0;
    },
    pushFrame: (frame) => {
      bytes += frame.bytes;
      const last = waiting.last();
      const framesByCh: Frames = last instanceof Map ? last : new Map();
      if (framesByCh !== last) waiting.push(framesByCh);
      const frames = framesByCh.get(frame.ch);
      if (frames === undefined) framesByCh.set(frame.ch, [frame]);
      else frames.push(frame);
    },
    pushAnswer: (text) => {
      waiting.push(text);
      answerBytes += text.length;
    },
    pushSummary: (summary) => void summariesById.set(summary.id, summary),
    pushGone: (id) => {
      summariesById.delete(id);
      gone.push(id);
    },
    take: () => {
      const first = waiting.first();
      if (first === undefined) return takeListed();
      if (typeof first !== "string") return takeFrames(first);
      waiting.shift();
      answerBytes -= first.length;
      return first;
    },
  };
};
