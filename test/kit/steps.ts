/** Cost without a clock: how many steps something takes, the same on every machine. */

/** Counts the look-ups in maps and sets, and the steps of walks over them, while something runs. */
export const countSteps = (run: () => void): number => {
  let steps = 0;
  const restores: (() => void)[] = [];
  for (const [prototype, names] of [
    [Map.prototype, ["get", "set", "has", "delete", "values", "entries", "forEach"]],
    [Set.prototype, ["add", "has", "delete", "values", "forEach"]],
    [Array.prototype, ["slice", "concat", "map", "filter", "find", "indexOf", "includes", "push", "at"]],
  ] as const) {
    for (const name of names) {
      const methods = prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
      const original = methods[name] as (...args: unknown[]) => unknown;
      methods[name] = function (this: unknown, ...args: unknown[]) {
        steps += 1;
        return original.apply(this, args);
      };
      restores.push(() => {
        methods[name] = original;
      });
    }
  }
  try {
    run();
  } finally {
    for (const restore of restores) restore();
  }
  return steps;
};
