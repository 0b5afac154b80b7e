/** The real clock, timers and chance: the one place of this package that reaches for them. */
import { ID_ALPHABET, ID_LENGTH, type Runtime } from "@espalier/shared";
import { customAlphabet } from "nanoid";

const newId = customAlphabet(ID_ALPHABET, ID_LENGTH);

/** A page has no `setImmediate`; a message to oneself is as soon, where a timer waits 4 ms. */
const createDefer = (): ((callback: () => void) => void) => {
  const immediate = (globalThis as { setImmediate?: (callback: () => void) => void }).setImmediate;
  if (immediate !== undefined) return (callback) => immediate(callback);
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return (callback) => {
    waiting.push(callback);
    port2.postMessage(null);
  };
};

export const createRuntime = (): Runtime => ({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random: () => Math.random(),
  newId: () => newId(),
  setTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  defer: createDefer(),
});
