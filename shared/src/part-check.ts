/**
 * The shapes of parts, checked by hand: what `partSchema` says, for those that are checked with every
 * token. A test holds the two equal.
 */
import type { Part } from "./record.js";

type FieldCheck = (value: unknown) => boolean;
type PartCheck = {
  readonly required: Record<string, FieldCheck>;
  readonly optional: Record<string, FieldCheck>;
};

const isString: FieldCheck = (value) => typeof value === "string";
const isAnything = (): boolean => true;
const TOOL_STATES = new Set<unknown>(["input", "ready", "asking", "running", "done", "failed"]);

const TEXT: PartCheck = { required: { text: isString }, optional: {} };
const PARTS: ReadonlyMap<unknown, PartCheck> = new Map<unknown, PartCheck>([
  ["text", TEXT],
  ["thinking", TEXT],
  [
    "tool-call",
    {
      required: {
        callId: isString,
        name: isString,
        input: isString,
        state: (value) => TOOL_STATES.has(value),
      },
      optional: { output: isAnything, error: isString },
    },
  ],
  [
    "tool-result",
    {
      required: { callId: isString, output: isAnything },
      optional: { isError: (value) => typeof value === "boolean" },
    },
  ],
  ["file", { required: { mediaType: isString, url: isString }, optional: { name: isString } }],
  ["source", { required: { url: isString }, optional: { title: isString } }],
  ["data", { required: { name: isString, data: isAnything }, optional: {} }],
]);

/** Whether a value parsed from JSON is a part of a type that this version knows, with no other fields. */
export const isPart = (value: unknown): value is Part => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const fields = value as { readonly [key: string]: unknown };
  const check = PARTS.get(fields.type);
  if (check === undefined) return false;
  for (const key in check.required) if (!(key in value)) return false;
  for (const key in value) {
    if (key === "type") continue;
    const isField = ownCheck(check.required, key) ?? ownCheck(check.optional, key);
    if (isField === undefined || !isField(fields[key])) return false;
  }
  return true;
};

const ownCheck = (checks: Record<string, FieldCheck>, key: string): FieldCheck | undefined =>
  Object.hasOwn(checks, key) ? checks[key] : undefined;

/** Whether this version knows the type of a part; one from a newer version is kept as it is (L5). */
export const isKnownPart = (part: Part): boolean => PARTS.has(part.type);
