import {
  addUsage,
  createSessionUsage,
  type Entry,
  type Run,
  type RunId,
  type Usage,
  usageOfPath,
} from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { message, register, run, seq } from "./records.js";

const used = (input: number, more: Partial<Usage> = {}): Usage => ({ input, output: 1, ...more });
const entry = (name: string, at: number, usage?: Usage, more: object = {}): Entry =>
  message(name, null, at, { ...(usage && { usage }), ...more });
const ofRun = (name: string) => ({ runId: name as RunId });
const NONE = { input: 0, output: 0, cachedInput: 0, reasoning: 0, costUsd: 0 };

describe("[C9] usage of a path", () => {
  test("is the sum of its entries, also by model", () => {
    const path = [
      entry("a", 1, used(10, { model: "m", cachedInput: 4, reasoning: 2, costUsd: 0.1 })),
      entry("b", 2),
      entry("c", 3, used(5, { model: "n", costUsd: 0.2 })),
      entry("d", 4, used(1)),
    ];
    expect(usageOfPath(path)).toEqual({
      input: 16,
      output: 3,
      cachedInput: 4,
      reasoning: 2,
      costUsd: 0.3,
      byModel: {
        m: { ...NONE, input: 10, output: 1, cachedInput: 4, reasoning: 2, costUsd: 0.1 },
        n: { ...NONE, input: 5, output: 1, costUsd: 0.2 },
        unknown: { ...NONE, input: 1, output: 1 },
      },
    });
    expect(usageOfPath([])).toEqual({ ...NONE, byModel: {} });
  });

  test("takes figures that are no numbers as zero, and ends at the largest safe one", () => {
    const most = Number.MAX_SAFE_INTEGER;
    const odd = [used(Number.NaN), used(-5), used(Number.POSITIVE_INFINITY, { costUsd: Number.NaN })];
    expect(usageOfPath(odd.map((usage, index) => entry(`e${index}`, index + 1, usage)))).toMatchObject({
      input: 0,
      output: 3,
      costUsd: 0,
    });
    const huge = [entry("a", 1, used(most)), entry("b", 2, used(most, { costUsd: 1e300 }))];
    expect(usageOfPath(huge)).toMatchObject({ input: most, costUsd: most / 1e10 });
  });

  test("a model of any name is only a name", () => {
    const { byModel } = usageOfPath([entry("a", 1, used(1, { model: "__proto__" }))]);
    expect(Object.keys(byModel)).toEqual(["__proto__"]);
  });
});

describe("[C9] usage of a session", () => {
  const inputOf = (items: Parameters<ReturnType<typeof createSessionUsage>["apply"]>[0][]) => {
    const usage = createSessionUsage();
    for (const item of items) usage.apply(item);
    return usage.totals().input;
  };

  test("[case-C9] an entry counts once, by its latest figure", () => {
    const first = entry("a", 1, used(10));
    const grown = { ...first, rev: seq(4), usage: used(25) };
    expect(inputOf([first, grown, grown, first, entry("b", 2, used(1))])).toBe(26);
  });

  test("[L2] what was used stays used when the entry's content is erased", () => {
    const first = entry("a", 1, used(10));
    expect(inputOf([first, { ...entry("a", 1), rev: seq(5) }])).toBe(10);
  });

  test("a run counts by its entries; by its own figure only where they bring none", () => {
    const ended = run("r", 1, "done", { rev: seq(9), usage: used(50) });
    expect(inputOf([ended, entry("a", 2, undefined, ofRun("r"))])).toBe(50);
    expect(inputOf([ended, entry("a", 2, used(20), ofRun("r"))])).toBe(20);
    expect(inputOf([entry("a", 2, used(20), ofRun("r")), ended])).toBe(20);
    expect(inputOf([ended, ended])).toBe(50);
  });

  test("of one run is what its entries used, whoever wrote them", () => {
    const usage = createSessionUsage();
    usage.apply(entry("a", 1, used(3, { model: "m" }), ofRun("r")));
    usage.apply(entry("b", 2, used(4), ofRun("r")));
    usage.apply(entry("c", 3, used(9), ofRun("other")));
    expect(usage.ofRun("r" as RunId)).toMatchObject({ input: 7, byModel: { m: { input: 3 } } });
    expect(usage.ofRun("none" as RunId)).toEqual({ ...NONE, byModel: {} });
  });

  test("[F8] a reset begins anew, whatever comes late", () => {
    const usage = createSessionUsage();
    usage.apply(entry("a", 1, used(10), ofRun("r")));
    usage.apply(run("q", 2, "done", { usage: used(5) }));
    usage.apply(register("title", 3, "t"));
    expect(usage.totals().input).toBe(15);
    usage.apply(register("reset", 4, "first"));
    expect(usage.totals()).toEqual({ ...NONE, byModel: {} });
    usage.apply({ ...entry("a", 1, used(12), ofRun("r")), rev: seq(5) });
    usage.apply(entry("b", 6, used(7)));
    expect(usage.totals().input).toBe(7);
    expect(usage.ofRun("r" as RunId).input).toBe(12);
  });

  test("[F8] what a line of before a reset goes on with is its run's, and not the session's", () => {
    const usage = createSessionUsage();
    usage.apply(entry("a", 1, used(10), ofRun("r")));
    usage.apply(register("reset", 4, "first"));
    usage.apply(entry("b", 5, used(3), ofRun("r")), seq(1));
    usage.apply({ ...entry("b", 5, used(4), ofRun("r")), rev: seq(6) }, seq(1));
    usage.apply(run("late", 7, "done", { usage: used(100) }), seq(1));
    usage.apply(entry("c", 8, used(7)), seq(8));
    usage.apply(entry("d", 9, used(1)), seq(8));
    expect(usage.totals().input).toBe(8);
    expect(usage.ofRun("r" as RunId).input).toBe(14);
    usage.apply(register("reset", 10, "second"));
    usage.apply(entry("e", 11, used(2)), seq(8));
    expect(usage.totals().input).toBe(0);
  });

  test("[F2] what a fork inherited counts on its path, and not as its own", () => {
    const path = [entry("a", 1, used(10)), entry("b", 8, used(3))];
    const usage = createSessionUsage({ inheritedSeq: seq(5) });
    for (const each of path) usage.apply(each);
    expect(usage.totals().input).toBe(3);
    expect(usageOfPath(path).input).toBe(13);
  });

  test("[F5] a session and its sidechains add up", () => {
    const [main, side] = [used(1, { model: "m", costUsd: 0.1 }), used(2, { model: "m", costUsd: 0.2 })].map(
      (usage) => usageOfPath([entry("a", 1, usage)]),
    );
    if (main === undefined || side === undefined) throw new Error("unable to add; no totals");
    expect(addUsage(main, side)).toMatchObject({ input: 3, costUsd: 0.3, byModel: { m: { input: 3 } } });
  });

  test("[T1] is the same in whatever order and however often its items come", () => {
    const figure = fc.record({
      input: fc.nat(),
      output: fc.nat(),
      costUsd: fc.double({ min: 0, max: 1e7, noNaN: true }),
    });
    const made = fc.tuple(fc.nat(5), fc.nat(3), fc.option(figure, { nil: undefined }));
    const items = fc
      .array(fc.tuple(fc.boolean(), made), { maxLength: 12 })
      .map((drawn) =>
        drawn.map(([isRun, [name, runName, usage]], index): Entry | Run =>
          isRun
            ? run(`r${runName}`, 1, "done", { rev: seq(index + 1), ...(usage && { usage }) })
            : entry(`e${name}`, name + 1, usage, { rev: seq(index + 1), ...ofRun(`r${name % 4}`) }),
        ),
      );
    const totalsOf = (order: readonly (Entry | Run)[]) => {
      const usage = createSessionUsage();
      for (const item of order) usage.apply(item);
      return usage.totals();
    };
    fc.assert(
      fc.property(items, fc.array(fc.nat()), (order, draws) => {
        const again = draws.map((draw) => order[draw % order.length]).filter((item) => item !== undefined);
        expect(totalsOf([...again, ...order.toReversed(), ...again])).toEqual(totalsOf(order));
      }),
    );
  });
});
