/** Careful looks into foreign JSON, where any field may be missing or of another shape. */
import type { Json } from "@espalier/shared";

export type Fields = { readonly [key: string]: Json };

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** What is left once the named fields were used; without those that are null or empty. */
export const restOf = (fields: Fields, ...used: readonly string[]): Fields => {
  const keys = Object.keys(fields).filter((key) => !used.includes(key) && !isEmpty(fields[key]));
  return keys.length === 0 ? NONE : Object.fromEntries(keys.map((key) => [key, fields[key] as Json]));
};
const NONE: Fields = Object.freeze({});

export const isEmpty = (value: Json | undefined): boolean => {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  for (const _ in value) return false;
  return true;
};

/** A source's time in ms. Sources give seconds or milliseconds; no conversation is older than 1973. */
export const msOf = (value: unknown): number | null => {
  const given = typeof value === "string" ? Date.parse(value) / 1000 : value;
  if (typeof given !== "number" || !Number.isFinite(given) || given <= 0) return null;
  return Math.round(given < 100_000_000_000 ? given * 1000 : given);
};
