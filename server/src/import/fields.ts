/** Careful looks into foreign JSON, where any field may be missing or of another shape. */
import type { Json } from "@espalier/shared";
import { jsonText } from "./json-text.js";

export type Fields = { readonly [key: string]: Json };

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** A pointer as text, whatever a file has in its place; null where there is none. */
export const pointerOf = (value: unknown): string | null => {
  if (value === undefined || value === null || value === "") return null;
  return typeof value === "string" ? value : jsonText(value);
};

/** The ids of a list; what is none points at nothing. */
export const idsOf = (list: readonly Json[]): string[] => list.map((id) => pointerOf(id) ?? "");

/** What is left once the named fields were used; without those that are null or empty. */
export const restOf = (fields: Fields, ...used: readonly string[]): Fields => {
  const keys = Object.keys(fields).filter((key) => !used.includes(key) && !isEmpty(fields[key]));
  return keys.length === 0 ? NONE : Object.fromEntries(keys.map((key) => [key, fields[key] as Json]));
};
const NONE: Fields = Object.freeze({});

/** The same of a value that should be fields; all of one that is none. */
export const restOfAny = (value: Json | undefined, ...used: readonly string[]): Json =>
  isFields(value) ? restOf(value, ...used) : (value ?? null);

/** Those of the keys whose values are texts: what reads texts has used them up. */
export const textsAmong = (fields: Fields, ...keys: readonly string[]): string[] =>
  keys.filter((key) => typeof fields[key] === "string");

/** Those of the keys whose values hold no others: a report of one tells all of it. */
export const scalarsAmong = (fields: Fields, ...keys: readonly string[]): string[] =>
  keys.filter((key) => typeof fields[key] !== "object");

/** Those of the keys whose values are lists. */
export const listsAmong = (fields: Fields, ...keys: readonly string[]): string[] =>
  keys.filter((key) => Array.isArray(fields[key]));

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
  if (ms === null && !isAbsent) report(`${where}: unreadable time ${clip(jsonText(value))}; passed over`);
  return ms;
};

/** The earliest of some times; null where there is none. */
export const earliestOf = (timed: readonly { readonly time: number | null }[]): number | null =>
  timed.reduce<number | null>(
    (least, { time }) => (time !== null && (least === null || time < least) ? time : least),
    null,
  );

/** A source's count of tokens, where it is one. */
export const countOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

const MAX_SHOWN_LENGTH = 500;
const clip = (text: string): string =>
  text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…`;
