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
const msOf = (value: unknown): number | null => {
  const given = typeof value === "string" ? Date.parse(value) / 1000 : value;
  if (typeof given !== "number" || !(given > 0)) return null;
  const ms = Math.round(given < 100_000_000_000 ? given * 1000 : given);
  return ms <= MAX_DATE_MS ? ms : null;
};

/** No date lies beyond this. */
const MAX_DATE_MS = 8.64e15;

/** The same, for one that stands in a file: one that cannot be read is reported. */
export const readTime = (value: unknown, where: string, report: (line: string) => void): number | null => {
  const ms = msOf(value);
  const isAbsent = value === undefined || value === null || value === 0 || value === "";
  if (ms === null && !isAbsent) report(`${where}: unreadable time ${JSON.stringify(value)}; passed over`);
  return ms;
};
