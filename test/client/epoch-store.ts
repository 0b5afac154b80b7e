/** A store in memory whose logs can begin a new epoch, as after a machine that stopped (D2). */
import { createMemoryStore, type LogStore } from "@espalier/server";
import type { Epoch } from "@espalier/shared";

export type EpochStore = LogStore & {
  /** What is loaded from now on is of another epoch: every client is given a fresh window. */
  begin(): void;
};

export const createEpochStore = (): EpochStore => {
  let count = 1;
  const epoch = (): Epoch => `epoch${count}` as Epoch;
  const inner = createMemoryStore({ newEpoch: epoch });
  return {
    ...inner,
    get epoch() {
      return epoch();
    },
    load: async (id) => {
      const outcome = await inner.load(id);
      return outcome.type === "ok" ? { type: "ok", log: { ...outcome.log, epoch: epoch() } } : outcome;
    },
    begin: () => {
      count += 1;
    },
  };
};
