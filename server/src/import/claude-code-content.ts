/**
 * A Claude Code record as the content of an entry, read in the second pass. What no field of ours holds
 * is kept in `meta.source`; the model is `meta.model`, and records of one reply share `meta.replyId`.
 */
import type { Json, Part, Role } from "@espalier/shared";
import { type Blocks, readBlocks } from "./claude-code-blocks.js";
import type { ClaudeFact } from "./claude-code-facts.js";
import { countOf, type Fields, fieldsOf, isFields, restOf, textOf } from "./fields.js";
import type { ForeignContent, Report } from "./foreign.js";
import { whereOf } from "./jsonl.js";
import { clip, isTime, typeNameOf, usageOf } from "./jsonl-fields.js";

/** What is known of an entry beside its record. */
export type Surroundings = {
  readonly fact: ClaudeFact;
  /** Where it was put; null for a root. */
  readonly parentId: string | null;
  /** Which every record repeats. */
  readonly sessionId: string | null;
  readonly countsUsage: boolean;
  readonly isAnswered: (callId: string) => boolean;
  /** Records beside the tree, kept with this one. */
  readonly outside: Json;
  /** Of a compaction. */
  readonly summary?: { readonly id: string; readonly record: Fields; readonly firstKeptId: string | null };
};

export const toContent = (record: Fields, around: Surroundings, report: Report): ForeignContent => {
  const { shape } = around.fact;
  if (around.summary !== undefined) return toCompaction(record, around, around.summary);
  if (shape === "custom" || shape === "boundary") return toCustom(record, around, report);
  return toMessage(record, around, report);
};

const ROLES: Readonly<Partial<Record<ClaudeFact["shape"], Role>>> = { assistant: "assistant", tool: "tool" };

const roleOf = ({ shape }: ClaudeFact): Role => ROLES[shape] ?? "user";

const toMessage = (record: Fields, around: Surroundings, report: Report): ForeignContent => {
  const { fact, countsUsage, isAnswered } = around;
  const message = fieldsOf(record.message);
  const blocks = readBlocks(message.content, isAnswered);
  for (const type of blocks.unknown)
    report(`${whereOf(fact.place)}: unknown content type "${type}"; kept as data`);
  const role = roleOf(fact);
  const usage = countsUsage ? messageUsageOf(record, message) : null;
  const meta = restOf({
    model: textOf(message.model),
    replyId: fact.replyId,
    outside: around.outside,
    source: messageSourceOf(record, message, blocks, around),
  });
  return {
    type: "message",
    role,
    parts: [...blocks.parts],
    status: statusOf(record, role, blocks.parts),
    meta,
    ...(fact.isMeta ? { audience: "model" as const } : {}),
    ...(usage === null ? {} : { usage }),
  };
};

/** Nothing said, and errors that stand in a reply's place, are states and no damage. */
const statusOf = (record: Fields, role: Role, parts: readonly Part[]): "complete" | "aborted" | "failed" => {
  if (record.isApiErrorMessage === true) return "failed";
  return role === "assistant" && parts.length === 0 ? "aborted" : "complete";
};

const messageUsageOf = (record: Fields, message: Fields) => {
  const usage = fieldsOf(message.usage);
  return usageOf({
    input: usage.input_tokens,
    output: usage.output_tokens,
    cachedInput: usage.cache_read_input_tokens,
    costUsd: record.costUSD,
    model: message.model,
  });
};

const messageSourceOf = (record: Fields, message: Fields, blocks: Blocks, around: Surroundings): Fields =>
  restOf({
    ...recordRestOf(record, around, "type", "message"),
    message: restOf(
      message,
      "content",
      ...(message.role === record.type ? ["role"] : []),
      ...(message.type === "message" ? ["type"] : []),
      ...(typeof message.model === "string" ? ["model"] : []),
      ...(message.id === around.fact.replyId ? ["id"] : []),
    ),
    blocks: blocks.leftovers,
  });

/** What an entry's place, time and audience do not tell already. */
const recordRestOf = (record: Fields, around: Surroundings, ...used: readonly string[]): Fields => {
  const { fact, parentId, sessionId } = around;
  return restOf(
    record,
    "uuid",
    ...used,
    ...(typeof record.isSidechain === "boolean" ? ["isSidechain"] : []),
    ...(typeof record.isMeta === "boolean" ? ["isMeta"] : []),
    ...(isTime(record.timestamp, fact.time) ? ["timestamp"] : []),
    ...(record.parentUuid === parentId ? ["parentUuid"] : []),
    ...(record.sessionId === sessionId ? ["sessionId"] : []),
  );
};

/** Types that have a meaning for the harness, and none for the talk. */
const KNOWN_TYPES: ReadonlySet<unknown> = new Set(["progress", "system", "attachment"]);

const toCustom = (record: Fields, around: Surroundings, report: Report): ForeignContent => {
  const { fact, outside } = around;
  const where = whereOf(fact.place);
  const type = typeNameOf(record);
  if (fact.shape === "boundary")
    report(`${where}: compact boundary without a summary; kept as a custom entry`);
  else if (!KNOWN_TYPES.has(record.type))
    report(`${where}: unknown record type "${type}"; kept as a custom entry`);
  const subtype = type === "system" ? textOf(record.subtype) : null;
  const meta = restOf({ outside });
  return {
    type: "custom",
    name: subtype === null ? type : clip(`${type}/${subtype}`, MAX_NAME_LENGTH),
    data: recordRestOf(record, around),
    ...(outside === null ? {} : { meta }),
  };
};
const MAX_NAME_LENGTH = 200;

const toCompaction = (
  record: Fields,
  around: Surroundings,
  summary: NonNullable<Surroundings["summary"]>,
): ForeignContent => {
  const { fact, parentId, outside } = around;
  const message = fieldsOf(summary.record.message);
  const { parts, leftovers } = readBlocks(message.content, () => false);
  const others = parts.filter(({ type }) => type !== "text");
  const tokensBefore = countOf(fieldsOf(record.compactMetadata).preTokens);
  const meta = restOf({
    aliases: [summary.id],
    outside,
    source: recordRestOf(record, around, "type", "subtype"),
    summary: restOf({
      ...restOf(summary.record, "uuid", "parentUuid", "message", "isCompactSummary"),
      message: restOf(message, "content", ...(message.role === summary.record.type ? ["role"] : [])),
      blocks: leftovers,
      others: others as unknown as Json,
    }),
  });
  return {
    type: "compaction",
    summary: parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
    firstKeptId: summary.firstKeptId as never,
    upToId: (parentId ?? fact.id) as never,
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    meta,
  };
};

/** The record behind a place; what is no record has no fields. */
export const recordOf = (value: unknown): Fields => (isFields(value) ? value : {});
