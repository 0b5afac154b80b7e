import { isAppendMessage } from "@espalier/shared";
import { clientMessageSchema } from "@espalier/shared/schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const count = fc.constantFrom(0, 1, 7, 2 ** 53 - 1);
const string = fc.constantFrom("", "a", "x\u0000", "text");
const json = fc.constantFrom<unknown>(null, 0, "s", [], {}, [1, { a: null }]);
const optional = { requiredKeys: [] as never[] };

const usage = fc
  .tuple(
    fc.record({ input: count, output: count }),
    fc.record(
      { cachedInput: count, reasoning: count, costUsd: fc.constantFrom(0, 0.5), model: string },
      optional,
    ),
  )
  .map(([required, more]) => ({ ...required, ...more }));

const part = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "thinking"), text: string }),
  fc.record(
    {
      type: fc.constant("tool-call"),
      callId: string,
      name: string,
      input: string,
      state: fc.constantFrom("input", "ready", "asking", "running", "done", "failed"),
      output: json,
      error: string,
    },
    { requiredKeys: ["type", "callId", "name", "input", "state"] },
  ),
  fc.record(
    { type: fc.constant("tool-result"), callId: string, output: json, isError: fc.boolean() },
    { requiredKeys: ["type", "callId", "output"] },
  ),
  fc.record(
    { type: fc.constant("file"), mediaType: string, url: string, name: string },
    { requiredKeys: ["type", "mediaType", "url"] },
  ),
  fc.record({ type: fc.constant("source"), url: string, title: string }, { requiredKeys: ["type", "url"] }),
  fc.record({ type: fc.constant("data"), name: string, data: json }),
);

const delta = fc.oneof(
  fc.record({ text: string, part: count }, { requiredKeys: ["text"] }),
  fc.record({ push: part }),
  fc.record({ set: fc.dictionary(string, json), part: count }),
);

const message = fc.record(
  {
    type: fc.constant("append"),
    ch: count,
    id: fc.constantFrom("a", "A-1_b", "x".repeat(64)),
    at: count,
    deltas: fc.array(delta, { maxLength: 3 }),
    status: fc.constantFrom("complete", "aborted", "failed"),
    usage,
  },
  { requiredKeys: ["type", "ch", "id", "at", "deltas"] },
);

const SCRAP: readonly unknown[] = [
  null, true, 0, 1, -1, 1.5, 2 ** 53, -0, "", "a", "append", "streaming", "complete", "text", "thinking", "tool-call",
  "tool-result", "file", "source", "data", "input", "a b", "a\n", [], {}, [null], { text: "a" }, { push: {} },
  { set: {}, part: 0 }, { input: 0, output: 0 },
]; // biome-ignore format: a list
const KEYS = ["type", "ch", "id", "at", "deltas", "status", "usage", "text", "part", "push", "set", "input", "output",
  "n", "state", "error", "isError", "name", "data", "url", "title", "constructor", "__proto__", "toString"]; // biome-ignore format: a list

type Change = {
  holder: number;
  own: number;
  act: "drop" | "add" | "replace" | "wrap" | "rename";
  key: string;
  scrap: unknown;
};
const change: fc.Arbitrary<Change> = fc.record({
  holder: fc.nat(),
  own: fc.nat(),
  act: fc.constantFrom("drop", "add", "replace", "wrap", "rename"),
  key: fc.constantFrom(...KEYS),
  scrap: fc.constantFrom(...SCRAP),
});

/** Each object or list in a value, with the keys in it. */
const holdersOf = (value: unknown): Record<string, unknown>[] => {
  if (typeof value !== "object" || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(holdersOf)];
};

const define = (holder: object, key: string, value: unknown): void => {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
};

const changed = (value: unknown, { holder: at, own: ownAt, act, key, scrap }: Change): unknown => {
  const holders = holdersOf(value);
  const holder = holders[at % holders.length] as Record<string, unknown>;
  const keys = Object.keys(holder);
  const own = keys[ownAt % Math.max(1, keys.length)] ?? key;
  const copy = JSON.parse(JSON.stringify(scrap)) as unknown;
  const held = Object.hasOwn(holder, own) ? holder[own] : null;
  if (Array.isArray(holder)) {
    if (act === "drop") holder.pop();
    else if (act === "add" || holder.length === 0) holder.push(copy);
    else holder[0] = act === "wrap" ? [holder[0]] : copy;
  } else if (act === "add") define(holder, key, copy);
  else if (act === "replace") define(holder, own, copy);
  else if (act === "wrap") define(holder, own, [held]);
  else {
    delete holder[own];
    if (act === "rename") define(holder, key, held);
  }
  return value;
};

const isBySchema = (value: unknown): boolean =>
  (value as { type?: unknown } | null)?.type === "append" && clientMessageSchema.safeParse(value).success;

const RUNS = 20_000;

describe("the check of an append says what the schema says", () => {
  test("of messages that are well formed", () => {
    fc.assert(
      fc.property(message, (value) => {
        const parsed: unknown = JSON.parse(JSON.stringify(value));
        expect(isAppendMessage(parsed)).toBe(true);
        expect(isBySchema(parsed)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("of messages that are nearly so", () => {
    let refused = 0;
    let accepted = 0;
    fc.assert(
      fc.property(message, fc.array(change, { minLength: 1, maxLength: 3 }), (value, changes) => {
        const parsed = JSON.parse(JSON.stringify(value)) as unknown;
        const mutant = changes.reduce(changed, parsed);
        const isValid = isBySchema(mutant);
        if (isValid) accepted += 1;
        else refused += 1;
        expect(isAppendMessage(mutant)).toBe(isValid);
      }),
      { numRuns: RUNS },
    );
    expect(refused).toBeGreaterThan(RUNS / 10);
    expect(accepted).toBeGreaterThan(RUNS / 100);
  });

  test("of any JSON", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => isAppendMessage(value) === isBySchema(value)));
  });
});
