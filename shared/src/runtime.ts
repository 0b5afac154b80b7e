/** What the world hands in: no module here or above reaches for a clock, a timer or chance by itself. */

export type Cancel = () => void;

export type Runtime = {
  /** Milliseconds since 1970, for people and records. It may be set, and jump. */
  now(): number;
  /** Milliseconds since some moment; it only rises. Whatever is waited for is measured by it. */
  elapsed(): number;
  /** At least 0 and below 1. */
  random(): number;
  /** A fresh id of letters and digits. */
  newId(): string;
  /** Calls back once after a time, ms; the result undoes it. */
  setTimer(delayMs: number, callback: () => void): Cancel;
  /** Calls back after what is happening now: whatever arrived together is then there together. */
  defer(callback: () => void): void;
};
