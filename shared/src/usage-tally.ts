/**
 * Sums of usage from which a figure can be taken away again, exactly: whole numbers without bound inside, so
 * that neither the order of adding nor an absurd figure changes a sum. A figure that is no finite positive
 * number counts as zero, and a total beyond the safe integers is shown as the largest of them.
 */
import type { UsageSum, UsageTotals } from "./protocol.js";
import type { Usage } from "./record.js";

export type Tally = {
  add(usage: Usage): void;
  /** Takes away what was added before. */
  remove(usage: Usage): void;
  addTotals(totals: UsageTotals): void;
  /** Frozen. */
  totals(): UsageTotals;
};

const UNKNOWN_MODEL = "unknown";
const COST_UNITS_PER_USD = 1e10;
const FIELDS = ["input", "output", "cachedInput", "reasoning", "costUsd"] as const;

type Sums = Record<(typeof FIELDS)[number], bigint> & { figures: number };

export const createTally = (): Tally => {
  const all = noSums();
  const sumsByModel = new Map<string, Sums>();

  const change = (model: string, figure: Partial<UsageSum>, sign: 1 | -1): void => {
    const ofModel = sumsByModel.get(model) ?? noSums();
    for (const sums of [all, ofModel]) {
      sums.figures += sign;
      for (const field of FIELDS) sums[field] += BigInt(sign) * unitsOf(field, figure[field]);
    }
    if (ofModel.figures > 0) sumsByModel.set(model, ofModel);
    else sumsByModel.delete(model);
  };

  return {
    add: (usage) => change(usage.model ?? UNKNOWN_MODEL, usage, 1),
    remove: (usage) => change(usage.model ?? UNKNOWN_MODEL, usage, -1),
    addTotals: ({ byModel }) => {
      for (const [model, sum] of Object.entries(byModel)) change(model, sum, 1);
    },
    totals: () => {
      const sums = [...sumsByModel].map(([model, ofModel]): [string, UsageSum] => [model, sumOf(ofModel)]);
      return Object.freeze({ ...sumOf(all), byModel: Object.freeze(Object.fromEntries(sums)) });
    },
  };
};

/**
 * Totals put together: a session's and its sidechains', say.
 *
 * ```ts
 * addUsage(session.totals(), ...sidechains.map((each) => each.totals()));
 * ```
 */
export const addUsage = (...totals: readonly UsageTotals[]): UsageTotals => {
  const tally = createTally();
  for (const each of totals) tally.addTotals(each);
  return tally.totals();
};

const noSums = (): Sums => ({
  input: 0n,
  output: 0n,
  cachedInput: 0n,
  reasoning: 0n,
  costUsd: 0n,
  figures: 0,
});

const unitsOf = (field: (typeof FIELDS)[number], amount: number | undefined): bigint => {
  if (amount === undefined || !(amount > 0) || amount === Number.POSITIVE_INFINITY) return 0n;
  const units = field === "costUsd" ? amount * COST_UNITS_PER_USD : amount;
  return BigInt(Math.round(Math.min(units, Number.MAX_SAFE_INTEGER)));
};

const sumOf = (sums: Sums): UsageSum =>
  Object.freeze({
    input: shown(sums.input),
    output: shown(sums.output),
    cachedInput: shown(sums.cachedInput),
    reasoning: shown(sums.reasoning),
    costUsd: shown(sums.costUsd) / COST_UNITS_PER_USD,
  });

const shown = (units: bigint): number => Math.min(Number(units), Number.MAX_SAFE_INTEGER);
