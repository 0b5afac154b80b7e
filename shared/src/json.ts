/**
 * What JSON a log can hold and give back exactly (L6): finite numbers, well-formed strings, bounded
 * depth. A loop, never recursion: the value may be hostile.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export const MAX_JSON_DEPTH = 64;

/** Says what is wrong with a value parsed from JSON, or null where it can be stored. */
export const jsonFault = (value: unknown, maxDepth = MAX_JSON_DEPTH): string | null => {
  if (typeof value === "string") return value.isWellFormed() ? null : LONE_SURROGATE;
  if (typeof value !== "object" || value === null) return scalarFault(value);
  const pending: { value: object; depth: number }[] = [{ value, depth: 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.depth > maxDepth) return `nested deeper than ${maxDepth} levels`;
    for (const [key, item] of Object.entries(next.value)) {
      if (!key.isWellFormed()) return LONE_SURROGATE;
      if (typeof item === "object" && item !== null) pending.push({ value: item, depth: next.depth + 1 });
      else {
        const fault = scalarFault(item);
        if (fault !== null) return fault;
      }
    }
  }
  return null;
};

const LONE_SURROGATE = "a string holds half of a surrogate pair, which does not survive UTF-8";

const scalarFault = (value: unknown): string | null => {
  if (value === null) return null;
  switch (typeof value) {
    case "boolean":
      return null;
    case "string":
      return value.isWellFormed() ? null : LONE_SURROGATE;
    case "number":
      return Number.isFinite(value) ? null : "a number is not finite";
    default:
      return `a ${typeof value} is not JSON`;
  }
};

/** Equality of JSON values, whatever the order of keys. A loop, never recursion. */
export const jsonEqual = (left: unknown, right: unknown): boolean => {
  const pending: [unknown, unknown][] = [[left, right]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [a, b] = next;
    if (Object.is(a, b) || a === b) continue;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false;
      pending.push([(a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]]);
    }
  }
  return true;
};
