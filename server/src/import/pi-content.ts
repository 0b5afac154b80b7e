/**
 * A pi record as the content of an entry, read in the second pass. What no field of ours holds is kept
 * in `meta.source`; the model is `meta.model`.
 */
import type { Audience, Json, Usage } from "@espalier/shared";
import { countOf, type Fields, fieldsOf, restOf, textOf } from "./fields.js";
import type { ForeignContent, Report } from "./foreign.js";
import { whereOf } from "./jsonl.js";
import { clip, isTime, typeNameOf, usageOf } from "./jsonl-fields.js";
import type { PiFact } from "./pi-facts.js";
import { heldByCommand, type PiParts, readPiBlocks, readPiCommand, readPiResult } from "./pi-message.js";

/** What is known of an entry beside its record. */
export type Surroundings = {
  readonly fact: PiFact;
  /** Where it was put; null for a root. */
  readonly parentId: string | null;
  readonly isAnswered: (callId: string) => boolean;
  /** Records beside the tree, kept with this one. */
  readonly outside: Json;
  /** What a compaction keeps. */
  readonly firstKeptId: string | null;
};

export const toPiContent = (record: Fields, around: Surroundings, report: Report): ForeignContent => {
  const { fact, outside } = around;
  switch (fact.kind.type) {
    case "message":
      return toMessage(record, around, report);
    case "model-change":
      return {
        type: "model-change",
        provider: textOf(record.provider) ?? "",
        modelId: textOf(record.modelId) ?? "",
        ...metaOf({ outside, source: sourceOf(record, around, "type", "provider", "modelId") }),
      };
    case "option-change":
      return {
        type: "option-change",
        option: "thinkingLevel",
        value: record.thinkingLevel ?? null,
        ...metaOf({ outside, source: sourceOf(record, around, "type", "thinkingLevel") }),
      };
    case "compaction":
      return toCompaction(record, around);
    case "branch-summary":
      return toBranchSummary(record, around);
    default:
      return toCustom(record, around, report);
  }
};

const metaOf = (fields: Fields): { meta?: Json } => {
  const meta = restOf(fields);
  return Object.keys(meta).length === 0 ? {} : { meta };
};

/** What an entry's place and time do not tell already. */
const sourceOf = (record: Fields, { fact, parentId }: Surroundings, ...used: readonly string[]): Fields =>
  restOf(
    record,
    ...used,
    ...(record.id === fact.id ? ["id"] : []),
    ...(record.parentId === parentId ? ["parentId"] : []),
    ...(isTime(record.timestamp, fact.time) ? ["timestamp"] : []),
  );

const toMessage = (record: Fields, around: Surroundings, report: Report): ForeignContent => {
  const isOwn = record.type === "custom_message";
  const message = isOwn ? record : fieldsOf(record.message);
  const { fact, outside } = around;
  const role = fact.kind.role ?? "user";
  const { parts, leftovers, unknown } = partsOf(message, around);
  for (const type of unknown) report(`${whereOf(fact.place)}: unknown content type "${type}"; kept as data`);
  const usage = role === "assistant" ? usageIn(message.usage, message.model) : null;
  const audience = audienceOf(message);
  const source = {
    ...(isOwn ? sourceOf(record, around, ...heldOf(record)) : sourceOf(record, around, "type", "message")),
    message: isOwn ? {} : messageRestOf(message, fact),
    blocks: leftovers,
  };
  return {
    type: "message",
    role,
    parts: [...parts],
    status: statusOf(message, role === "assistant" && parts.length === 0),
    ...(audience === "both" ? {} : { audience }),
    ...(usage === null ? {} : { usage }),
    ...metaOf({ model: textOf(message.model), outside, source: restOf(source) }),
  };
};

const partsOf = (message: Fields, { isAnswered }: Surroundings): PiParts => {
  if (message.role === "toolResult") return readPiResult(message);
  if (message.role === "bashExecution") return readPiCommand(message);
  return readPiBlocks(message.content, isAnswered);
};

const PLAIN_ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "toolResult", "system"]);

/** The fields of a message that its parts and its audience hold. */
const heldOf = (message: Fields): readonly string[] => [
  ...(message.role === "bashExecution" ? heldByCommand(message) : ["content"]),
  ...["display", "excludeFromContext", "isError"].filter((key) => typeof message[key] === "boolean"),
];

const messageRestOf = (message: Fields, fact: PiFact): Fields =>
  restOf(
    message,
    ...heldOf(message),
    ...(PLAIN_ROLES.has(message.role) ? ["role"] : []),
    ...(typeof message.model === "string" ? ["model"] : []),
    ...(message.role === "toolResult" ? ["toolCallId"] : []),
    ...(isTime(message.timestamp, fact.time) ? ["timestamp"] : []),
  );

const audienceOf = (message: Fields): Audience => {
  if (message.display === false) return "model";
  return message.excludeFromContext === true ? "reader" : "both";
};

/** Stopped, failed, or nothing said: states, and no damage. */
const statusOf = ({ stopReason }: Fields, isEmpty: boolean): "complete" | "aborted" | "failed" => {
  if (stopReason === "error") return "failed";
  return stopReason === "aborted" || isEmpty ? "aborted" : "complete";
};

const usageIn = (value: Json | undefined, model: Json | undefined): Usage | null => {
  const usage = fieldsOf(value);
  return usageOf({
    input: usage.input,
    output: usage.output,
    cachedInput: usage.cacheRead,
    costUsd: fieldsOf(usage.cost).total,
    model,
  });
};

const usageField = (record: Fields): { usage?: Usage } => {
  const usage = usageIn(record.usage, record.model);
  return usage === null ? {} : { usage };
};

const toCompaction = (record: Fields, around: Surroundings): ForeignContent => {
  const { fact, parentId, outside, firstKeptId } = around;
  const tokensBefore = countOf(record.tokensBefore);
  const held = ["type", "summary", ...(tokensBefore === undefined ? [] : ["tokensBefore"])];
  return {
    type: "compaction",
    summary: textOf(record.summary) ?? "",
    firstKeptId: firstKeptId as never,
    upToId: (parentId ?? fact.id) as never,
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...usageField(record),
    ...metaOf({ outside, source: sourceOf(record, around, ...held) }),
  };
};

/** A summary of a line from before the first entry, or of nothing that it names, names itself. */
const toBranchSummary = (record: Fields, around: Surroundings): ForeignContent => {
  const { fact, outside } = around;
  const from = textOf(record.fromId);
  const isNamed = from !== null && from !== "" && from !== "root";
  return {
    type: "branch-summary",
    fromId: (isNamed ? from : fact.id) as never,
    summary: textOf(record.summary) ?? "",
    ...usageField(record),
    ...metaOf({ outside, source: sourceOf(record, around, "type", "summary") }),
  };
};

/** Types that are known to have no entry of their own here. */
const KNOWN_TYPES: ReadonlySet<unknown> = new Set([
  "custom",
  "label",
  "session_info",
  "usage",
  "context_edit",
]);
const MAX_NAME_LENGTH = 200;

const toCustom = (record: Fields, around: Surroundings, report: Report): ForeignContent => {
  const { fact, outside } = around;
  const where = whereOf(fact.place);
  const type = typeNameOf(record);
  const target = textOf(record.targetId);
  if (record.type === "context_edit")
    report(`${where}: context edit of ${clip(target ?? "nothing", MAX_NAME_LENGTH)} is kept but not applied`);
  else if (!KNOWN_TYPES.has(record.type)) {
    const role = type === "message" ? textOf(fieldsOf(record.message).role) : null;
    report(`${where}: unknown record type "${clip(role ?? type, MAX_NAME_LENGTH)}"; kept as a custom entry`);
  }
  const customType = type === "custom" ? textOf(record.customType) : null;
  return {
    type: "custom",
    name: customType === null ? type : clip(`${type}/${customType}`, MAX_NAME_LENGTH),
    data: sourceOf(record, around),
    ...usageField(record),
    ...metaOf({ outside }),
  };
};
