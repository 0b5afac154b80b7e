/**
 * The records of a log, as schemas; the types are inferred from them. The same shapes serve the wire,
 * the disk, a page of history and the tree: the fold of an entry and its appends is again an entry.
 *
 * The schemas describe what this version knows. Records from a newer one are kept as they are (L5):
 * nothing is ever rebuilt from a schema's output.
 */
import { z } from "zod";
import { ERRORS, type ErrorBody, type ErrorCode } from "./errors.js";
import {
  type EntryId,
  ID_PATTERN,
  PRINCIPAL_ID_PATTERN,
  type PrincipalId,
  type RunId,
  SESSION_ID_PATTERN,
  type Seq,
  type SessionId,
  type WriterId,
} from "./ids.js";
import type { Json } from "./json.js";

/** Nothing changes what a record holds (S8), so its lists are read-only. */
export const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();

const branded = <T extends string>(pattern: RegExp) =>
  z.string().regex(pattern) as unknown as z.ZodType<T, T>;

export const entryIdSchema = branded<EntryId>(ID_PATTERN);
export const runIdSchema = branded<RunId>(ID_PATTERN);
export const writerIdSchema = branded<WriterId>(ID_PATTERN);
export const principalIdSchema = branded<PrincipalId>(PRINCIPAL_ID_PATTERN);
export const seqSchema = z.int().positive() as unknown as z.ZodType<Seq, Seq>;
/** Milliseconds of the server's clock. */
export const timeSchema = z.number();
export const countSchema = z.int().nonnegative();
/** Its depth and content are checked once for a whole message, by `jsonFault`. */
export const jsonSchema = z.unknown() as unknown as z.ZodType<Json, Json>;
const jsonMapSchema = z.record(z.string(), jsonSchema);

export const errorBodySchema = z.strictObject({
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  size: countSchema.exactOptional(),
}) satisfies z.ZodType<ErrorBody>;

export const usageSchema = z.strictObject({
  input: countSchema,
  output: countSchema,
  cachedInput: countSchema.exactOptional(),
  reasoning: countSchema.exactOptional(),
  costUsd: z.number().nonnegative().exactOptional(),
  model: z.string().exactOptional(),
});
export type Usage = z.infer<typeof usageSchema>;

const toolStateSchema = z.enum(["input", "ready", "asking", "running", "done", "failed"]);
export type ToolState = z.infer<typeof toolStateSchema>;

export const partSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking"), text: z.string() }),
  z.strictObject({
    type: z.literal("tool-call"),
    callId: z.string(),
    name: z.string(),
    /** JSON text; it may still be streaming. */
    input: z.string(),
    state: toolStateSchema,
    output: jsonSchema.exactOptional(),
    error: z.string().exactOptional(),
  }),
  z.strictObject({
    type: z.literal("tool-result"),
    callId: z.string(),
    output: jsonSchema,
    isError: z.boolean().exactOptional(),
  }),
  z.strictObject({
    type: z.literal("file"),
    mediaType: z.string(),
    url: z.string(),
    name: z.string().exactOptional(),
  }),
  z.strictObject({ type: z.literal("source"), url: z.string(), title: z.string().exactOptional() }),
  z.strictObject({ type: z.literal("data"), name: z.string(), data: jsonSchema }),
]);
export type Part = z.infer<typeof partSchema>;

export const statusSchema = z.enum(["streaming", "complete", "aborted", "failed"]);
export type EntryStatus = z.infer<typeof statusSchema>;

const audienceSchema = z.enum(["both", "model", "reader"]);
export type Audience = z.infer<typeof audienceSchema>;

const roleSchema = z.enum(["system", "user", "assistant", "tool"]);
export type Role = z.infer<typeof roleSchema>;

const content = {
  message: {
    type: z.literal("message"),
    role: roleSchema,
    parts: list(partSchema),
    audience: audienceSchema.exactOptional(),
  },
  modelChange: {
    type: z.literal("model-change"),
    provider: z.string(),
    modelId: z.string(),
    options: jsonMapSchema.exactOptional(),
  },
  optionChange: { type: z.literal("option-change"), option: z.string(), value: jsonSchema },
  compaction: {
    type: z.literal("compaction"),
    summary: z.string(),
    firstKeptId: entryIdSchema.nullable(),
    upToId: entryIdSchema,
    keptIds: list(entryIdSchema).exactOptional(),
    tokensBefore: countSchema.exactOptional(),
    data: jsonSchema.exactOptional(),
  },
  branchSummary: {
    type: z.literal("branch-summary"),
    fromId: entryIdSchema,
    summary: z.string(),
    data: jsonSchema.exactOptional(),
  },
  custom: {
    type: z.literal("custom"),
    name: z.string(),
    data: jsonSchema,
    audience: audienceSchema.exactOptional(),
  },
} as const;

/** What stands in the place of an entry whose content was erased (L2): its role and audience stay, for the turns around it. */
const erasedContent = {
  type: z.literal("erased"),
  role: roleSchema.exactOptional(),
  audience: audienceSchema.exactOptional(),
  erasedAt: timeSchema,
  erasedBy: principalIdSchema,
} as const;

/** What a writer may say of an entry besides its content. */
const drafted = {
  id: entryIdSchema,
  runId: runIdSchema.exactOptional(),
  usage: usageSchema.exactOptional(),
  meta: jsonSchema.exactOptional(),
};
const settledStatus = { status: statusSchema.exclude(["streaming"]).exactOptional() };

/** An entry as its writer publishes it: the server adds parent, seq, time and author (L1). */
export const draftSchema = z.discriminatedUnion("type", [
  /** Only a message may begin as `streaming` (S1); absent means `complete`. */
  z.strictObject({ ...drafted, status: statusSchema.exactOptional(), ...content.message }),
  z.strictObject({ ...drafted, ...settledStatus, ...content.modelChange }),
  z.strictObject({ ...drafted, ...settledStatus, ...content.optionChange }),
  z.strictObject({ ...drafted, ...settledStatus, ...content.compaction }),
  z.strictObject({ ...drafted, ...settledStatus, ...content.branchSummary }),
  z.strictObject({ ...drafted, ...settledStatus, ...content.custom }),
]);
export type Draft = z.infer<typeof draftSchema>;
export type MessageDraft = Extract<Draft, { type: "message" }>;

const placed = {
  kind: z.literal("entry"),
  id: entryIdSchema,
  parentId: entryIdSchema.nullable(),
  seq: seqSchema,
  /** The seq of the last record folded into the entry. */
  rev: seqSchema,
  time: timeSchema,
  author: principalIdSchema,
  writer: writerIdSchema.exactOptional(),
  status: statusSchema,
  /** What appends have folded, in UTF-16 code units and whole parts (S2). */
  size: countSchema,
  runId: runIdSchema.exactOptional(),
  usage: usageSchema.exactOptional(),
  meta: jsonSchema.exactOptional(),
};

export const entrySchema = z.discriminatedUnion("type", [
  z.object({ ...placed, ...content.message }),
  z.object({ ...placed, ...content.modelChange }),
  z.object({ ...placed, ...content.optionChange }),
  z.object({ ...placed, ...content.compaction }),
  z.object({ ...placed, ...content.branchSummary }),
  z.object({ ...placed, ...content.custom }),
  z.object({ ...placed, ...erasedContent }),
]);
export type Entry = Readonly<z.infer<typeof entrySchema>>;
export type MessageEntry = Extract<Entry, { type: "message" }>;
export type CompactionEntry = Extract<Entry, { type: "compaction" }>;

/**
 * A text delta goes to the named part, else to the last one: it extends `text`, or a tool call's
 * `input`; on an entry with no part it starts a text part. `set` changes fields of one part.
 */
export const deltaSchema = z.union([
  z.strictObject({ text: z.string(), part: countSchema.exactOptional() }),
  z.strictObject({ push: partSchema }),
  z.strictObject({ set: jsonMapSchema, part: countSchema }),
]);
export type Delta = z.infer<typeof deltaSchema>;

const appended = {
  id: entryIdSchema,
  /** The entry's size before this append. */
  at: countSchema,
  deltas: list(deltaSchema),
  /** Ends the entry. */
  status: statusSchema.exclude(["streaming"]).exactOptional(),
  usage: usageSchema.exactOptional(),
};

/** An append as its writer sends it. */
export const appendDraftSchema = z.strictObject(appended);
export type AppendDraft = z.infer<typeof appendDraftSchema>;

export const appendSchema = z.object({
  kind: z.literal("append"),
  seq: seqSchema,
  time: timeSchema,
  ...appended,
});
export type Append = Readonly<z.infer<typeof appendSchema>>;

/** An admin took an entry's content away for good (L2). Its records before this one no longer hold it either. */
export const eraseSchema = z.object({
  kind: z.literal("erase"),
  id: entryIdSchema,
  seq: seqSchema,
  time: timeSchema,
  author: principalIdSchema,
});
export type Erase = Readonly<z.infer<typeof eraseSchema>>;

/** Where a new entry goes; the server decides the parent (P1–P3). */
export const placeSchema = z.union([
  z.strictObject({ after: entryIdSchema.nullable() }),
  z.strictObject({ under: entryIdSchema.nullable() }),
  z.strictObject({ forkOf: entryIdSchema }),
]);
export type Place = z.infer<typeof placeSchema>;

const runStatusSchema = z.enum([
  "requested",
  "active",
  "suspended",
  "cancelling",
  "done",
  "failed",
  "cancelled",
  "interrupted",
]);
export type RunStatus = z.infer<typeof runStatusSchema>;

export const runSchema = z.object({
  kind: z.literal("run"),
  id: runIdSchema,
  seq: seqSchema,
  rev: seqSchema,
  time: timeSchema,
  status: runStatusSchema,
  inputId: entryIdSchema.nullable(),
  place: placeSchema,
  /** Who asked for it. */
  author: principalIdSchema.exactOptional(),
  options: jsonMapSchema.exactOptional(),
  agent: principalIdSchema.exactOptional(),
  writer: writerIdSchema.exactOptional(),
  usage: usageSchema.exactOptional(),
  error: errorBodySchema.exactOptional(),
});
export type Run = Readonly<z.infer<typeof runSchema>>;

/** `title`, `branch:NAME`, `pin:ENTRY`, …; a name is any text without control characters. */
const REGISTER_KEY_PATTERN = /^[A-Za-z][A-Za-z0-9_.-]{0,63}(?::[^\p{Cc}\p{Cs}]{1,192})?$/u;
export const registerKeySchema = z.string().regex(REGISTER_KEY_PATTERN);

export const registerSchema = z.object({
  kind: z.literal("register"),
  key: registerKeySchema,
  /** `null` clears. */
  value: jsonSchema,
  seq: seqSchema,
  time: timeSchema,
  author: principalIdSchema,
});
export type Register = Readonly<z.infer<typeof registerSchema>>;

export const recordSchema = z.union([entrySchema, appendSchema, runSchema, registerSchema, eraseSchema]);
export type LogRecord = Entry | Append | Run | Register | Erase;

export const sessionIdSchema = z.string().regex(SESSION_ID_PATTERN) as unknown as z.ZodType<
  SessionId,
  SessionId
>;

/**
 * Where a session comes from (F1, F2, F5). A fork: the entry that its line was taken up to. A sidechain:
 * the entry that holds the tool call that began it.
 */
export const originSchema = z.object({
  /** Null for a reader who may not read that session (F4). */
  session: sessionIdSchema.nullable(),
  /** Null for a fork from before the first entry, or where it is not known. */
  entry: entryIdSchema.nullable(),
  /** The tool call that began a sidechain. */
  callId: z.string().exactOptional(),
  /** The entries up to `entry` are those of `session`, not copies of them (F2). */
  isShared: z.literal(true).exactOptional(),
});
export type Origin = Readonly<z.infer<typeof originSchema>>;
