/** The fold of register records: the last seq wins, `null` clears (G1). */
import type { Json } from "./json.js";
import type { Register } from "./record.js";

export type Registers = {
  readonly size: number;
  get(key: string): Json;
  record(key: string): Register | undefined;
  /** Those that are set, in the order in which they were first set. */
  all(): Register[];
  /** False where a later one is held already. */
  apply(record: Register): boolean;
};

export const createRegisters = (): Registers => {
  const registersByKey = new Map<string, Register>();
  return {
    get size() {
      return registersByKey.size;
    },
    get: (key) => registersByKey.get(key)?.value ?? null,
    record: (key) => registersByKey.get(key),
    all: () => [...registersByKey.values()].filter((register) => register.value !== null),
    apply: (record) => {
      const held = registersByKey.get(record.key);
      if (held !== undefined && held.seq >= record.seq) return false;
      registersByKey.set(record.key, Object.freeze(record));
      return true;
    },
  };
};
