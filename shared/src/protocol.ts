/**
 * What a client may say, and what a server may say: JSON text frames over one socket, for all the
 * sessions that a client has joined. A command with `n` is answered by exactly one message with the
 * same `n`; an append is answered by cumulative `appended` messages instead.
 *
 * A change here changes the wire: the test that hashes these schemas asks for a new PROTOCOL_VERSION.
 */
import { z } from "zod";
import { type Epoch, ID_PATTERN } from "./ids.js";
import {
  appendDraftSchema,
  countSchema,
  draftSchema,
  entryIdSchema,
  entrySchema,
  errorBodySchema,
  jsonSchema,
  list,
  originSchema,
  placeSchema,
  principalIdSchema,
  recordSchema,
  registerKeySchema,
  registerSchema,
  runIdSchema,
  runSchema,
  seqSchema,
  sessionIdSchema,
  statusSchema,
  timeSchema,
  usageSchema,
  writerIdSchema,
} from "./record.js";

const epochSchema = z.string().regex(ID_PATTERN) as unknown as z.ZodType<Epoch, Epoch>;

/** Names a command, so that its answer can be told; chosen by the client, rising within a connection. */
const n = countSchema;
/** Stands for a joined session on this connection; given by the server in `joined`. */
const ch = countSchema;
const limit = z.int().min(1).max(1000);
const headSchema = countSchema;

/** The head of a log that has no record yet is 0. */
const cursorSchema = z.strictObject({ epoch: epochSchema, seq: headSchema });
export type Cursor = z.infer<typeof cursorSchema>;

/**
 * A line that a view asks for. The server takes the first candidate that it knows (J2); `null` stands
 * for the place before the first entry, which is always known. With none: the line of the entry with
 * the highest seq (V2). From there it walks on:
 * - `stay`: it ends there, as a held view does (V4);
 * - `oldest`: along the oldest child at each step, as a connected view would have grown (V3);
 * - `newest`: along the newest child at each step, as a reader chooses who picks a branch (V2).
 */
export const lineAskSchema = z.strictObject({
  candidates: z.array(entryIdSchema.nullable()).max(256).readonly(),
  walk: z.enum(["stay", "oldest", "newest"]),
  limit,
});
export type LineAsk = z.infer<typeof lineAskSchema>;

/** Where a run writes; `regenerate` is resolved by the server to the prompt above that entry (V12). */
const runPlaceSchema = z.union([placeSchema, z.strictObject({ regenerate: entryIdSchema })]);
export type RunPlace = z.infer<typeof runPlaceSchema>;

const runRequestSchema = z.strictObject({
  id: runIdSchema,
  /** Absent with `regenerate`, where the server fills in the prompt. */
  inputId: entryIdSchema.nullable().exactOptional(),
  place: runPlaceSchema,
  options: z.record(z.string(), jsonSchema).exactOptional(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;

/** The tool call that began a sidechain: in the session it is a sidechain of, or in another sidechain of that. */
const startSchema = z.strictObject({
  session: sessionIdSchema,
  entry: entryIdSchema,
  callId: z.string().exactOptional(),
});
export type Start = z.infer<typeof startSchema>;

/** An entry to publish. Without a place it goes where its run writes (R1). */
const publishItemSchema = z.strictObject({ draft: draftSchema, place: placeSchema.exactOptional() });
export type PublishItem = z.infer<typeof publishItemSchema>;

export const clientMessageSchema = z.discriminatedUnion("type", [
  /** The first message of a connection. */
  z.strictObject({
    type: z.literal("hello"),
    protocol: z.int(),
    writer: writerIdSchema,
    token: z.string().exactOptional(),
  }),
  /** Subscribe and read in one step (J1). With `cursor`, catch up from there (J2). */
  z.strictObject({
    type: z.literal("join"),
    n,
    session: sessionIdSchema,
    create: z.boolean().exactOptional(),
    /** Where a session that this join begins comes from: a sidechain's tool call (F5). */
    origin: startSchema.exactOptional(),
    cursor: cursorSchema.exactOptional(),
    lines: z.array(lineAskSchema).max(64).readonly(),
  }),
  z.strictObject({ type: z.literal("leave"), ch }),
  /** Placed and committed as a whole or not at all (L7); `run` asks for an answer in the same step. */
  z.strictObject({
    type: z.literal("publish"),
    n,
    ch,
    items: z.array(publishItemSchema).max(1000).readonly(),
    run: runRequestSchema.exactOptional(),
  }),
  z.strictObject({ type: z.literal("append"), ch, ...appendDraftSchema.shape }),
  z.strictObject({ type: z.literal("claim"), n, ch, id: runIdSchema }),
  z.strictObject({
    type: z.literal("end"),
    n,
    ch,
    id: runIdSchema,
    status: z.enum(["done", "failed"]),
    usage: usageSchema.exactOptional(),
    error: errorBodySchema.exactOptional(),
  }),
  z.strictObject({ type: z.literal("register"), n, ch, key: registerKeySchema, value: jsonSchema }),
  /** Registers that a join left out, in order of their keys. */
  z.strictObject({ type: z.literal("registers"), n, ch, after: registerKeySchema.exactOptional(), limit }),
  /** Takes an entry's content away for good; for admins (L2). */
  z.strictObject({ type: z.literal("erase"), n, ch, id: entryIdSchema }),
  /**
   * The entries that the model's context at `leaf` is made of, the last `limit` of those before `before`
   * (C2); the settings in force are among them.
   */
  z.strictObject({
    type: z.literal("context"),
    n,
    ch,
    leaf: entryIdSchema,
    before: entryIdSchema.exactOptional(),
    limit,
  }),
  /** What was used: by the line that ends at `leaf`, by a run, or by the session itself (C9). */
  z.strictObject({
    type: z.literal("usage"),
    n,
    ch,
    leaf: entryIdSchema.exactOptional(),
    run: runIdSchema.exactOptional(),
  }),
  /**
   * Makes a session of the line up to an entry (null: of nothing): `copy` with ids of its own (F1), `share`
   * with the same entries and no copies (F2). The new session's id is the client's, so a repeat is harmless.
   */
  z.strictObject({
    type: z.literal("fork"),
    n,
    session: sessionIdSchema,
    from: z.strictObject({ session: sessionIdSchema, entry: entryIdSchema.nullable() }),
    mode: z.enum(["copy", "share"]),
  }),
  /** Removes a session and its sidechains for good (F8). */
  z.strictObject({ type: z.literal("delete"), n, session: sessionIdSchema }),
  /** Up to `limit` entries above `before`, along its ancestors. */
  z.strictObject({ type: z.literal("page"), n, ch, before: entryIdSchema, limit }),
  /** The newest `limit` entries of a line. */
  z.strictObject({ type: z.literal("line"), n, ch, ...lineAskSchema.shape }),
  /** The ids of one parent's children, from a position on. */
  z.strictObject({
    type: z.literal("alternatives"),
    n,
    ch,
    parentId: entryIdSchema.nullable(),
    from: countSchema,
    limit,
  }),
  /**
   * Sessions, newest change first; archived ones and sidechains only where they are asked for. With `watch`,
   * `sessions` and `gone` messages follow as they change, of all of them.
   */
  z.strictObject({
    type: z.literal("list"),
    n,
    limit,
    after: sessionIdSchema.exactOptional(),
    /** Those that are archived as well. */
    archived: z.boolean().exactOptional(),
    /** The sidechains of this session, instead of the sessions themselves. */
    of: sessionIdSchema.exactOptional(),
    watch: z.boolean().exactOptional(),
  }),
  z.strictObject({ type: z.literal("ping") }),
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;

/**
 * The children of one parent, in order: `ids` are those at positions `from`, `from + 1`, … of `total`
 * (V9). In an answer with entries, a parent of one of them that is not named has that child alone;
 * the leaf, where it is not named, has none.
 */
export const alternativesSchema = z.object({
  parentId: entryIdSchema.nullable(),
  total: countSchema,
  from: countSchema,
  ids: list(entryIdSchema),
});
export type Alternatives = z.infer<typeof alternativesSchema>;

/** A streaming entry outside the windows of an answer. */
const openEntrySchema = z.object({
  id: entryIdSchema,
  parentId: entryIdSchema.nullable(),
  size: countSchema,
});
export type OpenEntry = z.infer<typeof openEntrySchema>;

export const sessionSummarySchema = z.object({
  id: sessionIdSchema,
  title: z.string().nullable(),
  /** Time of the first and of the last record, ms. */
  createdAt: timeSchema,
  changedAt: timeSchema,
  /** Its own: those that a fork took over are not counted. */
  entries: countSchema,
  /** Where it comes from, if it was not begun by itself (F4, F5). */
  origin: originSchema.exactOptional(),
  /** Hidden from lists that do not ask for it (F8). */
  isArchived: z.literal(true).exactOptional(),
  /** How many sidechains it has, where it has any. */
  sidechains: countSchema.exactOptional(),
  /** Runs that were asked for and that no agent has taken. */
  waiting: countSchema,
  /** Why it cannot be opened, where it cannot. */
  error: errorBodySchema.exactOptional(),
});
export type SessionSummary = z.infer<typeof sessionSummarySchema>;

/** Sums over entries, each counted once (C9). */
const usageSumSchema = z.object({
  input: countSchema,
  output: countSchema,
  cachedInput: countSchema,
  reasoning: countSchema,
  costUsd: z.number().nonnegative(),
});
export const usageTotalsSchema = z.object({
  ...usageSumSchema.shape,
  byModel: z.record(z.string(), usageSumSchema),
});
export type UsageSum = z.infer<typeof usageSumSchema>;
export type UsageTotals = z.infer<typeof usageTotalsSchema>;

const placedEntrySchema = z.object({
  id: entryIdSchema,
  seq: seqSchema,
  parentId: entryIdSchema.nullable(),
});
export type PlacedEntry = z.infer<typeof placedEntrySchema>;

const recordsMessageSchema = z.object({
  /** In order of seq; appends to one entry may have been merged (S6). */
  records: list(recordSchema),
  ch,
  /** Moves the cursor: everything up to this seq has been sent. */
  upto: headSchema,
});
/** What the wire carries most, so it alone goes without a `type`. */
export type RecordsMessage = z.infer<typeof recordsMessageSchema>;

export const serverMessageSchema = z.union([
  recordsMessageSchema,
  z.discriminatedUnion("type", [
    z.object({
      type: z.literal("welcome"),
      protocol: z.int(),
      principal: principalIdSchema,
      /** How long a writer may be away before what it left open is ended, ms (S7). */
      graceMs: timeSchema,
    }),
    z.object({
      type: z.literal("joined"),
      n,
      ch,
      session: sessionIdSchema,
      epoch: epochSchema,
      head: headSchema,
      /** `tail`: `records` follow the cursor that was sent. Else what is given replaces what was held. */
      mode: z.enum(["fresh", "tail", "reset"]),
      /** The leaf of each line asked for, in that order; null: before the first entry. */
      lines: list(z.object({ leaf: entryIdSchema.nullable() })),
      /** In order of seq. */
      entries: list(entrySchema),
      alternatives: list(alternativesSchema),
      open: list(openEntrySchema),
      runs: list(runSchema),
      /** The newest of them, where there are too many (G1); `registers` asks for the others. */
      registers: list(registerSchema),
      hasMoreRegisters: z.literal(true).exactOptional(),
      records: list(recordSchema),
      /** Time of the first and of the last record, ms; null where there is none. */
      createdAt: timeSchema.nullable(),
      changedAt: timeSchema.nullable(),
      origin: originSchema.exactOptional(),
      /** Entries up to this seq were taken over by a fork; 0 where none were. */
      inherited: headSchema,
    }),
    z.object({
      type: z.literal("ack"),
      n,
      entries: list(placedEntrySchema),
      run: runSchema.exactOptional(),
    }),
    /** Everything of the entry below `size` is on disk. */
    z.object({
      type: z.literal("appended"),
      ch,
      id: entryIdSchema,
      size: countSchema,
      status: statusSchema,
    }),
    /** Of a command with `n`; or, with `id`, of an append. With neither, the connection ends. */
    z.object({
      type: z.literal("refused"),
      n: n.exactOptional(),
      ch: ch.exactOptional(),
      id: entryIdSchema.exactOptional(),
      error: errorBodySchema,
    }),
    /** Answers `page` and `line`. */
    z.object({
      type: z.literal("window"),
      n,
      epoch: epochSchema,
      head: headSchema,
      /** The last entry of the line asked for; for a page, the one it ends with. */
      leaf: entryIdSchema.nullable(),
      entries: list(entrySchema),
      alternatives: list(alternativesSchema),
    }),
    z.object({
      type: z.literal("alternatives"),
      n,
      epoch: epochSchema,
      head: headSchema,
      ...alternativesSchema.shape,
    }),
    z.object({
      type: z.literal("listed"),
      n,
      sessions: list(sessionSummarySchema),
      /** There are more after the last one. */
      more: z.boolean(),
    }),
    /** Answers `registers`, in order of their keys. */
    z.object({
      type: z.literal("registers"),
      n,
      registers: list(registerSchema),
      /** There are more after the last one. */
      more: z.boolean(),
    }),
    /** Answers `context`: the oldest first; `more`: there are others before the first one. */
    z.object({
      type: z.literal("context"),
      n,
      epoch: epochSchema,
      head: headSchema,
      entries: list(entrySchema),
      more: z.boolean(),
    }),
    z.object({ type: z.literal("usage"), n, usage: usageTotalsSchema }),
    /** Answers `fork`. Another entry than was asked for: the line was cut back to where nothing is open (F3). */
    z.object({
      type: z.literal("forked"),
      n,
      session: sessionIdSchema,
      entry: entryIdSchema.nullable(),
    }),
    /** To those who watch the list: sessions that were deleted. */
    z.object({ type: z.literal("gone"), sessions: list(sessionIdSchema) }),
    /** To those who watch the list: sessions that are new or changed. */
    z.object({ type: z.literal("sessions"), sessions: list(sessionSummarySchema) }),
    /** The server ended the subscription. */
    z.object({ type: z.literal("left"), ch, error: errorBodySchema }),
    z.object({ type: z.literal("pong") }),
  ]),
]);
export type ServerMessage = z.infer<typeof serverMessageSchema>;
