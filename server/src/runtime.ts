/** The real clock, timers and chance: the one place of this package that reaches for them. */
import { ID_ALPHABET, ID_LENGTH, type Runtime } from "@espalier/shared";
import { customAlphabet } from "nanoid";

const newId = customAlphabet(ID_ALPHABET, ID_LENGTH);

export const createRuntime = (): Runtime => ({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random: () => Math.random(),
  newId: () => newId(),
  setTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  defer: (callback) => void setImmediate(callback),
});
