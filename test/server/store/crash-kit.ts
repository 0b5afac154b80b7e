/** What the crash simulations share: a store on a simulated disk, and timers that go off when they are told to. */
import type { Epoch } from "@espalier/shared";
import { openFileStore } from "../../../server/src/store/file/file-store.js";
import type { LogStore } from "../../../server/src/store/log-store.js";
import type { Random, SimDisk } from "./sim-disk.js";

/** What goes on over the lives of a store. */
export type Boots = { boot: number; epochs: number };

export type Timers = { after(delayMs: number, run: () => void): () => void; fire(): void };

export const createTimers = (): Timers => {
  const waiting = new Set<() => void>();
  return {
    after: (_delayMs, run) => {
      waiting.add(run);
      return () => void waiting.delete(run);
    },
    fire: () => {
      const due = [...waiting];
      waiting.clear();
      for (const run of due) run();
    },
  };
};

export const open = (disk: SimDisk, world: Boots, random: Random, timers: Timers): Promise<LogStore> =>
  openFileStore(
    disk,
    {
      dir: "/d",
      newEpoch: () => {
        world.epochs += 1;
        return `epoch${world.epochs}` as Epoch;
      },
      runtime: { now: () => 1, setTimer: timers.after, defer: (run) => void setImmediate(run) },
      bootId: `boot${world.boot}`,
      segmentBytes: 300 + Math.floor(random() * 900),
    },
    async () => {},
  );

export const seeds = Number(process.env.ESPALIER_SEEDS ?? 300);
export const firstSeed = Number(process.env.ESPALIER_SEED ?? 1);

/** Runs each seed; a failure tells which one it was. */
export const eachSeed = async (run: (seed: number) => Promise<void>, count = seeds): Promise<void> => {
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    try {
      await run(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
};
