/** What a session shows and does: the shapes that its users see. */
import type {
  Draft,
  Entry,
  EntryId,
  ErrorBody,
  Json,
  MessageDraft,
  Place,
  Run,
  RunId,
  SessionId,
  Usage,
} from "@espalier/shared";
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
  /** A register's value, or null (G1). */
  register(key: string): Json;
  /** Resolves with null once it is on the server's disk, else with the refusal. */
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
  /** Joins again after a refusal. */
  retry(): void;
  /** Leaves it, and closes its views. What was not sent stays in the storage. */
  close(): void;
};
