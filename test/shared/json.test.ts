import { type Json, jsonEqual, jsonFault, MAX_JSON_DEPTH } from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const nested = (depth: number, open: string, close: string): unknown =>
  JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);

describe("[L6] what a log can hold", () => {
  test("whatever is passed comes back exactly", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        if (jsonFault(value) !== null) return;
        const back = JSON.parse(new TextDecoder().decode(new TextEncoder().encode(JSON.stringify(value))));
        expect(jsonEqual(back, JSON.parse(JSON.stringify(value)))).toBe(true);
      }),
    );
  });

  test.each([["\u0000"], ["a\u2028b\u2029c"], ["line\nbreak\r"], ["😀"], ["\uFFFD"], ["\uFEFF"]])(
    "%j is held",
    (text) => expect(jsonFault({ [text]: text })).toBeNull(),
  );

  test.each<[string, unknown]>([
    ["half a pair", "\ud83d"],
    ["half a pair in a list", [["a", "\ude00"]]],
    ["half a pair in a key", { a: { "\ud83d": 1 } }],
    ["a pair the wrong way round", "\ude00\ud83d"],
    ["infinity", [Number.POSITIVE_INFINITY]],
    ["not a number", { a: Number.NaN }],
    ["undefined", { a: undefined }],
    ["a function", [() => 1]],
    ["a bigint", 1n],
  ])("%s is refused", (_, value) => expect(jsonFault(value)).toEqual(expect.any(String)));

  test.each([
    ["[", "]"],
    ['{"a":', "}"],
  ])("up to %s × 64, and no deeper", (open, close) => {
    expect(jsonFault(nested(MAX_JSON_DEPTH, open, close))).toBeNull();
    expect(jsonFault(nested(MAX_JSON_DEPTH + 1, open, close))).toBe("nested deeper than 64 levels");
    expect(jsonFault(nested(3, open, close), 2)).toBe("nested deeper than 2 levels");
  });

  test("a hostile depth is a fault, not a stack overflow", () => {
    expect(jsonFault(nested(500_000, "[", "]"))).toEqual(expect.any(String));
  });
});

describe("[L4] equality of JSON values", () => {
  const shuffled = (value: Json): Json => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(shuffled);
    return Object.fromEntries(
      Object.entries(value as Record<string, Json>)
        .reverse()
        .map(([key, item]) => [key, shuffled(item)]),
    );
  };

  test("is the same whatever the order of keys", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => jsonEqual(value, shuffled(value as Json))));
  });

  test("agrees with canonical text", () => {
    const canonical = (value: unknown): string =>
      JSON.stringify(value, (_, item) =>
        typeof item === "object" && item !== null && !Array.isArray(item)
          ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
          : item,
      );
    const small = fc.jsonValue({ maxDepth: 2 });
    fc.assert(
      fc.property(small, small, (a, b) => {
        const isSame = canonical(a) === canonical(b);
        expect(jsonEqual(a, b)).toBe(isSame);
        expect(jsonEqual(a, JSON.parse(JSON.stringify(a)))).toBe(true);
      }),
    );
  });

  test.each<[unknown, unknown]>([
    [{}, []],
    [null, {}],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, { b: undefined }],
    [
      [1, 2],
      [2, 1],
    ],
    ["1", 1],
    [0, false],
    [JSON.parse('{"__proto__":1}'), {}],
    [{ toString: 1 }, {}],
  ])("%j is not %j", (a, b) => {
    expect(jsonEqual(a, b)).toBe(false);
    expect(jsonEqual(b, a)).toBe(false);
  });

  test("takes a hostile depth", () => {
    expect(jsonEqual(nested(500_000, "[", "]"), nested(500_000, "[", "]"))).toBe(true);
  });
});
