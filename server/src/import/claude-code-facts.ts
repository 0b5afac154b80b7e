/**
 * What the first pass over a Claude Code file keeps of each record: its place in file and tree, and the
 * few facts that placing asks for. Everything else is read again when the entry is written.
 */
import { type Fields, fieldsOf, isFields, listOf, textOf } from "./fields.js";
import type { Report } from "./foreign.js";
import { type Place, whereOf } from "./jsonl.js";
import { readStamp } from "./jsonl-fields.js";

/** What a record is for the tree. A `tool` record holds tool results and nothing else. */
type ClaudeShape = "user" | "assistant" | "tool" | "boundary" | "digest" | "custom";

export type Call = { readonly callId: string; readonly prompt: number | null };

/** What a boundary keeps of the talk before it. */
type Preserved = {
  readonly head: string | null;
  readonly tail: string | null;
  readonly ids: readonly string[];
};

export type ClaudeFact = {
  readonly place: Place;
  readonly id: string;
  readonly parentId: string | null;
  readonly shape: ClaudeShape;
  readonly time: number | null;
  /** Records of one reply share it. */
  readonly replyId: string | null;
  /** Written by the harness for the model, not by the user: it begins no turn. */
  readonly isMeta: boolean;
  readonly isSidechain: boolean;
  readonly hasUsage: boolean;
  readonly calls: readonly Call[];
  readonly results: readonly string[];
  readonly rare: RareFacts;
};

/** What few records tell; those that tell nothing share one object. */
type RareFacts = {
  /** The agent that a record of a sidechain belongs to, where it says so. */
  readonly agentId: string | null;
  /** The agent whose work a tool result brings. */
  readonly resultAgent: string | null;
  /** Of the text of a record that may begin a sidechain. */
  readonly prompt: number | null;
  /** Of a boundary. */
  readonly logicalParentId: string | null;
  readonly preserved: Preserved | null;
};

/** Null for a record that has no id of its own, and so no place in the tree. */
export const factOf = (
  record: Fields,
  place: Place,
  { idOf, report }: { readonly idOf: (id: string) => string; readonly report: Report },
): ClaudeFact | null => {
  const id = textOf(record.uuid);
  if (id === null || id === "") return null;
  const message = fieldsOf(record.message);
  const blocks = listOf(message.content).filter(isFields);
  const shape = shapeOf(record, blocks);
  const isAssistant = shape === "assistant";
  const parentId = textOf(record.parentUuid);
  return {
    place,
    id,
    parentId: parentId === null || parentId === "" ? null : idOf(parentId),
    shape,
    time: readStamp(record.timestamp, whereOf(place), report),
    replyId: isAssistant ? textOf(message.id) : null,
    isMeta: record.isMeta === true,
    isSidechain: record.isSidechain === true,
    hasUsage: isAssistant && isFields(message.usage),
    calls: isAssistant ? callsOf(blocks) : NO_CALLS,
    results: shape === "tool" || shape === "user" ? resultsOf(blocks) : NO_RESULTS,
    rare: rareOf(record, message, shape),
  };
};

const NOTHING_RARE: RareFacts = Object.freeze({
  agentId: null,
  resultAgent: null,
  prompt: null,
  logicalParentId: null,
  preserved: null,
});

const rareOf = (record: Fields, message: Fields, shape: ClaudeShape): RareFacts => {
  const agentId = textOf(record.agentId);
  const resultAgent = textOf(fieldsOf(record.toolUseResult).agentId);
  const mayBegin = record.isSidechain === true && shape === "user" && textOf(record.parentUuid) === null;
  const prompt = mayBegin ? promptOf(message.content) : null;
  if (shape === "boundary") return { agentId, resultAgent, prompt, ...boundaryOf(record) };
  const isPlain = agentId === null && resultAgent === null && prompt === null;
  return isPlain ? NOTHING_RARE : { ...NOTHING_RARE, agentId, resultAgent, prompt };
};

const NO_CALLS: readonly Call[] = Object.freeze([]);
const NO_RESULTS: readonly string[] = Object.freeze([]);

const shapeOf = (record: Fields, blocks: readonly Fields[]): ClaudeShape => {
  const { type, message } = record;
  if (type === "system" && record.subtype === "compact_boundary") return "boundary";
  if ((type !== "user" && type !== "assistant") || !isFields(message)) return "custom";
  if (type === "assistant") return "assistant";
  if (record.isCompactSummary === true) return "digest";
  const hasOnlyResults =
    blocks.length > 0 &&
    blocks.length === listOf(message.content).length &&
    blocks.every((block) => isResult(block));
  return hasOnlyResults ? "tool" : "user";
};

export const isCall = (block: Fields): boolean =>
  block.type === "tool_use" && typeof block.id === "string" && typeof block.name === "string";
export const isResult = (block: Fields): boolean =>
  block.type === "tool_result" && typeof block.tool_use_id === "string";

const callsOf = (blocks: readonly Fields[]): readonly Call[] => {
  const calls = blocks
    .filter(isCall)
    .map(({ id, input }) => ({ callId: id as string, prompt: promptOf(fieldsOf(input).prompt) }));
  return calls.length === 0 ? NO_CALLS : calls;
};

const resultsOf = (blocks: readonly Fields[]): readonly string[] => {
  const ids = blocks.filter(isResult).map(({ tool_use_id }) => tool_use_id as string);
  return ids.length === 0 ? NO_RESULTS : ids;
};

const promptOf = (content: unknown): number | null => {
  if (typeof content === "string") return hashOf(content);
  const blocks = listOf(content).filter(isFields);
  return blocks.length > 0 && blocks.every(({ text }) => typeof text === "string")
    ? hashOf(blocks.map(({ text }) => text).join(""))
    : null;
};

/** A text's fingerprint in 53 bits: enough to know a prompt again among those of one talk. */
const hashOf = (text: string): number => {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x5f356495);
  }
  low ^= Math.imul(high ^ (high >>> 15), 0x735a2d97);
  high ^= Math.imul(low ^ (low >>> 15), 0xcaf649a9);
  return ((high >>> 0) & 0x1fffff) * 0x100000000 + (low >>> 0);
};

const boundaryOf = (record: Fields): Pick<RareFacts, "logicalParentId" | "preserved"> => {
  const { preservedSegment, preservedMessages } = fieldsOf(record.compactMetadata);
  const logicalParentId = textOf(record.logicalParentUuid);
  if (!isFields(preservedSegment)) return { logicalParentId, preserved: null };
  const head = textOf(preservedSegment.headUuid);
  const tail = textOf(preservedSegment.tailUuid);
  const listed = listOf(fieldsOf(preservedMessages).uuids).filter((id) => typeof id === "string");
  const ids = listed.length > 0 ? listed : [head, tail].filter((id) => id !== null);
  return { logicalParentId, preserved: { head, tail, ids } };
};
