/**
 * Those who listen to one thing, and what they are told: each thing to all of them before the next one,
 * also where a listener acts and so brings about more. One that throws stops none of the others; what it
 * threw is thrown again by itself, outside of whatever was going on.
 */
import type { Runtime } from "@espalier/shared";

export type Listeners<T> = {
  readonly size: number;
  /** Two subscriptions of one function are two. Returns its undo. */
  add(listener: (told: T) => void): () => void;
  tell(told: T): void;
  clear(): void;
};

export const createListeners = <T>(runtime: Pick<Runtime, "defer">): Listeners<T> => {
  const listeners = new Set<(told: T) => void>();
  const waiting: T[] = [];
  let isTelling = false;

  return {
    get size() {
      return listeners.size;
    },
    add: (listener) => {
      const own = (told: T): void => listener(told);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    tell: (told) => {
      waiting.push(told);
      if (isTelling) return;
      isTelling = true;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        for (const listener of [...listeners]) callSafely(runtime, listener, next);
      isTelling = false;
    },
    clear: () => {
      listeners.clear();
      waiting.length = 0;
    },
  };
};

export const callSafely = <A extends unknown[]>(
  runtime: Pick<Runtime, "defer">,
  callback: (...args: A) => void,
  ...args: A
): void => {
  try {
    callback(...args);
  } catch (cause) {
    runtime.defer(() => {
      throw cause;
    });
  }
};
