/** What every bench shares: rows and rounds. */

export type Row = {
  /** The module. */
  readonly name: string;
  readonly work: string;
  readonly ours: number;
  /** What `ours` must not be above. */
  readonly limit?: number;
  readonly unit: string;
  /** What the limit was taken from, where it was measured in the same run. */
  readonly beside?: string;
};

export type BenchOptions = { readonly isQuick: boolean };
export type Bench = (options: BenchOptions) => Promise<readonly Row[]>;

/** The lower quartile: what else the machine does can only make work slower. */
const typical = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 2] as number;

/** One piece of work: `prepare` is not counted. */
export type Work<T> = { prepare(): T; run(prepared: T): unknown };

/** The typical time of each, ms. They take turns, so that what disturbs one disturbs the others. */
export const timesOf = <T>(rounds: number, ...works: readonly Work<T>[]): number[] => {
  const times = works.map((): number[] => []);
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [index, work] of works.entries()) {
      const time = timeOf(work);
      if (round >= 0) times[index]?.push(time);
    }
  }
  return times.map(typical);
};

const WARM_UP = 5;

const timeOf = <T>({ prepare, run }: Work<T>): number => {
  const prepared = prepare();
  globalThis.gc?.();
  const start = performance.now();
  sink = run(prepared);
  return performance.now() - start;
};

/** Holds a result, so that no work is optimised away. */
let sink: unknown;
export const lastResult = (): unknown => sink;
