/**
 * Makes a foreign record one that a log can hold and give back exactly (L6): half of a surrogate pair
 * becomes U+FFFD, a number past what a double holds becomes null, and what is nested too deep becomes
 * its JSON text. Each kind is told once. All other text, U+0000 and U+2028 included, stays as it is.
 */
import { jsonFault, MAX_JSON_DEPTH } from "@espalier/shared";
import type { Report } from "./foreign.js";
import { jsonText } from "./json-text.js";

const SURROGATE = "half of a surrogate pair; replaced by U+FFFD";
const INFINITE = "a number that is not finite; replaced by null";
const DEEP = "nested too deep; the inner part is kept as JSON text";

/** The value itself where nothing is wrong with it. */
export const clean = <T>(value: T, where: string, report: Report): T => {
  if (jsonFault(value) === null) return value;
  const faults = new Set<string>();
  const holder: { value?: T } = {};
  const pending: Copy[] = [{ from: { value }, to: holder, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) copyItems(next, pending, faults);
  for (const fault of faults) report(`${where}: ${fault}`);
  return holder.value as T;
};

type Copy = { from: object; to: object; depth: number };

const copyItems = ({ from, to, depth }: Copy, pending: Copy[], faults: Set<string>): void => {
  for (const [key, item] of Object.entries(from)) {
    if (typeof item !== "object" || item === null) put(to, key, cleanScalar(item, faults), faults);
    else if (depth === MAX_JSON_DEPTH) put(to, key, textOf(item, faults), faults);
    else {
      const copy = Array.isArray(item) ? [] : {};
      put(to, key, copy, faults);
      pending.push({ from: item, to: copy, depth: depth + 1 });
    }
  }
};

/** Defined, not assigned: a key may be `__proto__`. */
const put = (to: object, key: string, value: unknown, faults: Set<string>): void => {
  const name = cleanScalar(key, faults) as string;
  Object.defineProperty(to, name, { value, writable: true, enumerable: true, configurable: true });
};

const cleanScalar = (value: unknown, faults: Set<string>): unknown => {
  if (typeof value === "number" && !Number.isFinite(value)) {
    faults.add(INFINITE);
    return null;
  }
  if (typeof value !== "string" || value.isWellFormed()) return value;
  faults.add(SURROGATE);
  return value.toWellFormed();
};

const textOf = (value: object, faults: Set<string>): string => {
  faults.add(DEEP);
  return jsonText(value).toWellFormed();
};
