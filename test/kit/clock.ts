/**
 * A clock that moves only when told, and chance from a seed: whatever runs on it runs the same again.
 */
import { ID_ALPHABET, ID_LENGTH, type Runtime } from "@espalier/shared";

export type Random = () => number;

/** Mulberry32: small, and good enough to choose orders of events. */
export const seededRandom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};

export type ManualClock = {
  readonly now: number;
  /** Somebody sets the clock on the wall; what is waited for goes on. */
  setWall(byMs: number): void;
  /** A runtime on this clock. Each has chance of its own, so that ids never meet. */
  runtime(seed: number): Runtime;
  /** Runs what was deferred; true where there was something. */
  runDeferred(): boolean;
  /** Moves to the next timer at or before a time and runs it; false where there is none. */
  runTimer(until: number): boolean;
  moveTo(time: number): void;
  /** Timers that are set. */
  readonly timers: number;
};

type Timer = { readonly at: number; readonly order: number; readonly callback: () => void };

export const createClock = (start = 1_750_000_000_000): ManualClock => {
  let now = start;
  let wallOffset = 0;
  let order = 0;
  let deferred: (() => void)[] = [];
  const timers = new Set<Timer>();

  const nextTimer = (): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers)
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        next = timer;
    return next;
  };

  return {
    get now() {
      return now;
    },
    setWall: (byMs) => {
      wallOffset += byMs;
    },
    get timers() {
      return timers.size;
    },
    runtime: (seed) => {
      const random = seededRandom(seed);
      return {
        now: () => now + wallOffset,
        elapsed: () => now - start,
        random,
        newId: () =>
          Array.from(
            { length: ID_LENGTH },
            () => ID_ALPHABET[Math.floor(random() * ID_ALPHABET.length)],
          ).join(""),
        setTimer: (delayMs, callback) => {
          order += 1;
          const timer: Timer = { at: now + Math.max(0, delayMs), order, callback };
          timers.add(timer);
          return () => void timers.delete(timer);
        },
        defer: (callback) => void deferred.push(callback),
      };
    },
    runDeferred: () => {
      const batch = deferred;
      deferred = [];
      for (const callback of batch) callback();
      return batch.length > 0;
    },
    runTimer: (until) => {
      const timer = nextTimer();
      if (timer === undefined || timer.at > until) return false;
      timers.delete(timer);
      now = Math.max(now, timer.at);
      timer.callback();
      return true;
    },
    moveTo: (time) => {
      now = Math.max(now, time);
    },
  };
};
