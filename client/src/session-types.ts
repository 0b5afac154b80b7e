/** What a session shows and does: the shapes that its users see. */
import type {
  ContextMessage,
  ContextOptions,
  Draft,
  Entry,
  EntryId,
  ErrorBody,
  Json,
  MessageDraft,
  Origin,
  Place,
  Run,
  RunId,
  SessionId,
  Settings,
  ToolOutcome,
  Usage,
  UsageTotals,
} from "@espalier/shared";
import type { ListAsk, ListPage } from "./client-types.js";
import type { Marks } from "./marks/marks.js";
import type { Write } from "./pending.js";
import type { StreamWriter } from "./stream-writer.js";
import type { SyncStatus } from "./sync.js";
import type { Settled, View, ViewOptions } from "./view-types.js";

/** The same object until something of it changes. */
export type SessionSnapshot = {
  /** `live`: joined; `failed`: refused for good, until `retry`. */
  readonly status: SyncStatus;
  /** Why it failed or is tried again, or why unsent writes cannot be kept. */
  readonly error: ErrorBody | null;
  /** The register `title`. */
  readonly title: string | null;
  /** What was written here and is not acknowledged, failed ones included, in order (O2). */
  readonly writes: readonly Write[];
};

/** One object a change; the snapshot and the registers are as they are then. */
export type SessionChange =
  | { readonly type: "status" }
  | { readonly type: "writes" }
  | { readonly type: "register"; readonly key: string }
  | { readonly type: "run"; readonly id: RunId };

/** What a run publishes: a message or another entry, without an id of its own if need be. */
export type RunDraft = Draft extends infer D
  ? D extends Draft
    ? Omit<D, "id" | "runId"> & { id?: EntryId }
    : never
  : never;

/** How a streaming message begins: an assistant's, without parts, unless it says otherwise. */
export type StreamDraft = Partial<Pick<MessageDraft, "role" | "parts" | "meta" | "audience">>;

/** The tool call that began a sidechain. */
export type SidechainStart = { readonly entryId: EntryId; readonly callId?: string };

/** A run that this client holds. */
export type HeldRun = {
  /** As it was when it was claimed. */
  readonly run: Run;
  /** The first failure of its streams, or null. */
  readonly error: ErrorBody | null;
  /** Begins a streaming message where the run writes. */
  stream(draft?: StreamDraft): StreamWriter;
  /** Publishes a whole entry where the run writes. */
  publish(draft: RunDraft): Promise<Settled>;
  /** The line that the run answers, the oldest entry first. Loads what is missing. */
  history(): Promise<readonly Entry[] | ErrorBody>;
  /**
   * Opens the sidechain of a subagent, with a log, tree and usage of its own (F5); begins it where it is not
   * there yet. Close it when the subagent is done.
   *
   * @throws `invalid_id` where the agent's id is none
   * @example
   * const chain = run.sidechain(client.newId(), { entryId: message.id, callId: "call_7" });
   * chain.view.send("Look through the seed lists.");
   */
  sidechain(agentId: string, start: SidechainStart): Session;
  /** Ends the run, and what it has open. */
  end(status?: "done" | "failed", details?: { usage?: Usage; error?: ErrorBody }): Promise<ErrorBody | null>;
};

/** One conversation as this client has it: its views, its registers, and the writing side for agents. */
export type Session = {
  readonly id: SessionId;
  readonly snapshot: SessionSnapshot;
  /** Returns its undo. */
  subscribe(listener: (change: SessionChange) => void): () => void;
  /** The default view: made when it is first asked for. */
  readonly view: View;
  /** Another view over the same tree, with a leaf, selections and window of its own (V1). */
  createView(options?: ViewOptions): View;
  /** Names, labels, pins and what else people set beside the entries. */
  readonly marks: Marks;
  /** The highest seq of its log: it rises with every change, and with nothing else. 0 before the first. */
  readonly revision: number;
  /** Time of the last record, ms of the server's clock; null where there is none, or none is known yet. */
  readonly lastChangedAt: number | null;
  readonly createdAt: number | null;
  /** What it was forked from, or the tool call that began it as a sidechain; null where it was begun by itself. */
  readonly origin: Origin | null;
  /** Entries up to this seq were taken over by a fork; 0 where none were. */
  readonly inheritedSeq: number;
  /** A register's value, or null (G1); what was set here is shown before it is confirmed. */
  register(key: string): Json;
  /**
   * Resolves with null once it is on the server's disk, else with the refusal. While there is no connection it
   * waits, in memory; what is set again meanwhile takes its place.
   */
  setRegister(key: string, value: Json): Promise<ErrorBody | null>;
  /** Runs that have not ended, the oldest first. */
  runs(): readonly Run[];
  /** A run that is open, or that belongs to an entry that was loaded. */
  run(id: RunId): Run | undefined;
  /** Takes a requested run; only one writer gets it (R1). */
  claim(id: RunId): Promise<HeldRun | ErrorBody>;
  /** Begins a streaming message outside any run. */
  stream(draft: StreamDraft, place: Place): StreamWriter;
  /** Publishes entries in one step, all or none (L7). */
  publish(items: readonly { draft: Draft; place: Place }[]): Promise<Settled>;
  /** The whole path to an entry, from the server where it is not loaded; the oldest first. */
  loadPath(id: EntryId): Promise<readonly Entry[] | ErrorBody>;
  /**
   * What the model is sent at a leaf (C2), from the server where the line is not loaded. `edit` clears or
   * shortens messages for this request alone (C10).
   *
   * @example await session.context(leafId, { edit: (message) => (message.role === "tool" ? null : message) })
   */
  context(leafId: EntryId, options?: ContextOptions): Promise<readonly ContextMessage[] | ErrorBody>;
  /** The model and the options in force at a leaf (C7). */
  settings(leafId: EntryId): Promise<Settings | ErrorBody>;
  /**
   * How a tool call stands on the line to a leaf, by default along the newest entries below the call (C6). Null
   * where there is no such call among what is loaded.
   */
  toolState(entryId: EntryId, callId: string, leafId?: EntryId): ToolOutcome | null;
  /** What was used: by the line to a leaf, by a run, or by this session since its last reset (C9). */
  usage(of?: { readonly leaf: EntryId } | { readonly run: RunId }): Promise<UsageTotals | ErrorBody>;
  /** Takes an entry's content away for good, for admins (L2); its place stays. Resolves with null or the refusal. */
  erase(id: EntryId): Promise<ErrorBody | null>;
  /**
   * Begins a new logical session in the same place (F8): views that follow begin anew, and so does the usage;
   * what was said before keeps its ids and can be branched to.
   */
  reset(): Promise<ErrorBody | null>;
  /** Hides it from lists that do not ask for it, or shows it again (F8). */
  archive(isArchived?: boolean): Promise<ErrorBody | null>;
  /** As `HeldRun.sidechain`, for whoever holds no run. */
  sidechain(agentId: string, start: SidechainStart): Session;
  /** Those of this session, or of the one that this is a sidechain of. */
  sidechains(page?: Omit<ListAsk, "of">): Promise<ListPage | ErrorBody>;
  /** Joins again after a refusal. */
  retry(): void;
  /** Leaves it, and closes its views. What was not sent stays in the storage. */
  close(): void;
};
