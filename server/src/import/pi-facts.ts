/**
 * What the first pass over a pi session keeps of each record. Versions 2 and 3 are trees by `id` and
 * `parentId`. Version 1 knows no ids: its records form one line, each is known by its line's number, and
 * a compaction counts what it keeps from, the header being 0.
 */
import { type Fields, fieldsOf, isFields, textOf } from "./fields.js";
import type { ForeignKind, Report } from "./foreign.js";
import { type Place, whereOf } from "./jsonl.js";
import { readStamp } from "./jsonl-fields.js";

export type PiFact = {
  readonly place: Place;
  readonly id: string;
  readonly parentId: string | null;
  readonly time: number | null;
  readonly kind: ForeignKind;
  /** Calls whose results the record holds. */
  readonly answers: string | null;
  /** Of a compaction in version 1. */
  readonly firstKeptIndex: number | null;
};

/** A record has a type of its own, and an id or a time. */
export const isPiRecord = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === "string" &&
  ("timestamp" in value || ("id" in value && "parentId" in value));

/** A session header tells pi's files from all others; where it is lost, messages with a role do. */
export const isPiSign = (value: unknown): boolean => {
  if (!isFields(value) || !isPiRecord(value) || "uuid" in value || "sessionId" in value) return false;
  if (value.type === "session") return typeof value.id === "string";
  return value.type === "message" && typeof fieldsOf(value.message).role === "string";
};

export const piFactOf = (
  record: Fields,
  place: Place,
  ids: { readonly id: string; readonly parentId: string | null },
  report: Report,
): PiFact => {
  const where = whereOf(place);
  const message = fieldsOf(record.message);
  const index = record.firstKeptEntryIndex;
  return {
    place,
    ...ids,
    time: readStamp(record.timestamp, where, report) ?? readStamp(message.timestamp, where, report),
    kind: kindOf(record, message),
    answers: message.role === "toolResult" ? textOf(message.toolCallId) : null,
    firstKeptIndex: typeof index === "number" ? index : null,
  };
};

const USER: ForeignKind = { type: "message", role: "user" };
const ASSISTANT: ForeignKind = { type: "message", role: "assistant" };
const TOOL: ForeignKind = { type: "message", role: "tool" };
const SYSTEM: ForeignKind = { type: "message", role: "system" };
const CUSTOM: ForeignKind = { type: "custom" };
const MODEL_CHANGE: ForeignKind = { type: "model-change" };
const OPTION_CHANGE: ForeignKind = { type: "option-change" };
const COMPACTION: ForeignKind = { type: "compaction" };
const BRANCH_SUMMARY: ForeignKind = { type: "branch-summary" };

const KINDS_BY_ROLE: ReadonlyMap<unknown, ForeignKind> = new Map([
  ["user", USER],
  ["custom", USER],
  ["hookMessage", USER],
  ["bashExecution", USER],
  ["assistant", ASSISTANT],
  ["system", SYSTEM],
]);

/** A record that has not the shape of its type is a custom entry. */
const kindOf = (record: Fields, message: Fields): ForeignKind => {
  switch (record.type) {
    case "message":
      if (message.role === "toolResult") return typeof message.toolCallId === "string" ? TOOL : CUSTOM;
      if (message.role === "bashExecution" && typeof message.command !== "string") return CUSTOM;
      return KINDS_BY_ROLE.get(message.role) ?? CUSTOM;
    case "custom_message":
      return USER;
    case "model_change":
      return areTexts(record.provider, record.modelId) ? MODEL_CHANGE : CUSTOM;
    case "thinking_level_change":
      return "thinkingLevel" in record ? OPTION_CHANGE : CUSTOM;
    case "compaction":
      return areTexts(record.summary) ? COMPACTION : CUSTOM;
    case "branch_summary":
      return areTexts(record.summary) ? BRANCH_SUMMARY : CUSTOM;
    default:
      return CUSTOM;
  }
};

const areTexts = (...values: readonly unknown[]): boolean =>
  values.every((value) => typeof value === "string");
