/** A storage like the browser's, which outlives the client that is given it. */
import type { QueueStorage } from "@espalier/client";

export const createStorage = (): QueueStorage & { readonly keys: string[] } => {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
    get keys() {
      return [...values.keys()];
    },
  };
};
