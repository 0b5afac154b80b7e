/**
 * Whether a client's message is a well-formed `append`: the one message that comes for every token, so
 * it is checked by hand, several times faster than by its schema and without one. A test holds the two
 * equal for everything that JSON can say; a change to `appendDraftSchema` is a change here.
 */
import { ID_PATTERN } from "./ids.js";
import { isPart } from "./part-check.js";
import type { ClientMessage } from "./protocol.js";

export type AppendMessage = Extract<ClientMessage, { type: "append" }>;

/** For a value parsed from JSON; depth and text of its content are checked by `jsonFault`. */
export const isAppendMessage = (value: unknown): value is AppendMessage => {
  if (!isObject(value) || value.type !== "append") return false;
  for (const key in value) if (!isMessageField(key, value[key])) return false;
  return "ch" in value && "id" in value && "at" in value && "deltas" in value;
};

type Fields = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isString = (value: unknown): boolean => typeof value === "string";

const isMessageField = (key: string, value: unknown): boolean => {
  switch (key) {
    case "type":
      return true;
    case "ch":
    case "at":
      return isCount(value);
    case "id":
      return typeof value === "string" && ID_PATTERN.test(value);
    case "deltas":
      return Array.isArray(value) && value.every(isDelta);
    case "status":
      return value === "complete" || value === "aborted" || value === "failed";
    case "usage":
      return isUsage(value);
    default:
      return false;
  }
};

const isDelta = (value: unknown): boolean => {
  if (!isObject(value)) return false;
  if ("text" in value) return hasOnly(value, "text", "part") && isString(value.text) && isOptionalPart(value);
  if ("push" in value) return hasOnly(value, "push", "push") && isPart(value.push);
  return hasOnly(value, "set", "part") && isObject(value.set) && isCount(value.part);
};

const hasOnly = (value: Fields, one: string, other: string): boolean => {
  for (const key in value) if (key !== one && key !== other) return false;
  return true;
};

const isOptionalPart = (value: Fields): boolean => !("part" in value) || isCount(value.part);

const isUsage = (value: unknown): boolean => {
  if (!isObject(value) || !("input" in value) || !("output" in value)) return false;
  for (const key in value) if (!isUsageField(key, value[key])) return false;
  return true;
};

const isUsageField = (key: string, value: unknown): boolean => {
  switch (key) {
    case "input":
    case "output":
    case "cachedInput":
    case "reasoning":
      return isCount(value);
    case "costUsd":
      return Number.isFinite(value) && (value as number) >= 0;
    case "model":
      return isString(value);
    default:
      return false;
  }
};
