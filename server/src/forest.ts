/**
 * What is done to sessions as wholes: forking, deleting, and erasing across the sessions that share an entry.
 * What bears on who shares with whom is done one after the other, so that nothing is shared from a session
 * that is being deleted, or whole before it was erased.
 */
import type { Runtime } from "@espalier/shared";
import { createDeletion, type DeleteSession } from "./deletion.js";
import { createErasure, type EraseEntry } from "./erasure.js";
import { createFork, type Fork } from "./forks.js";
import type { Hub } from "./hub.js";
import { createInTurn } from "./in-turn.js";
import type { LogStore } from "./store/log-store.js";

export type Forest = {
  readonly fork: Fork;
  readonly delete: DeleteSession;
  readonly erase: EraseEntry;
  /** Resolves when what was asked for so far is done. */
  settled(): Promise<void>;
};

type ForestOptions = { readonly hub: Hub; readonly store: LogStore; readonly runtime: Runtime };

export const createForest = ({ hub, store, runtime }: ForestOptions): Forest => {
  const inTurn = createInTurn();
  const pending = new Set<Promise<unknown>>();

  const counted =
    <Args extends readonly unknown[], T>(work: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> => {
      const done = work(...args);
      pending.add(done);
      const forget = (): void => void pending.delete(done);
      done.then(forget, forget);
      return done;
    };

  return {
    fork: counted(createFork({ hub, store, runtime, inTurn })),
    delete: counted(createDeletion({ hub, store, inTurn })),
    erase: counted(createErasure({ hub, store, inTurn })),
    settled: async () => {
      await Promise.allSettled(pending);
    },
  };
};
