/** What a view shows and tells: the shapes that its listeners and its owner see. */
import type {
  ContextMessage,
  ContextOptions,
  Draft,
  Entry,
  EntryId,
  ErrorBody,
  Json,
  Part,
  Run,
  RunId,
  ToolOutcome,
} from "@espalier/shared";
import type { ForkAsk, Forked } from "./client-types.js";
import type { BranchInfo } from "./siblings.js";

/** An entry as it is shown. The same object until something of it changes (S8). */
export type ViewEntry = {
  readonly id: EntryId;
  /** While it is pending its seq is 0, and time and author are this client's guess. */
  readonly entry: Entry;
  readonly state: "confirmed" | "pending" | "failed";
  /** Why it failed. */
  readonly error: ErrorBody | null;
};

/** One object a change; it is told after the view has changed. */
export type ViewChange =
  /** Which entries are shown, or how, other than their content: read the snapshot. */
  | { readonly type: "line"; readonly from: EntryId | null; readonly to: EntryId | null }
  /** The content of one shown entry. */
  | { readonly type: "entry"; readonly id: EntryId }
  /** The alternatives of one shown entry. */
  | { readonly type: "branches"; readonly id: EntryId }
  /** A run that the shown line asked for or is written by. */
  | { readonly type: "run"; readonly id: RunId };

/** The same object until one of these changes; a streamed token changes none. */
export type ViewSnapshot = {
  /** The shown entries, the oldest first; made when it is first read. */
  readonly ids: readonly EntryId[];
  readonly length: number;
  /** The last shown entry, pending ones included: a checkpoint for `branch` (V5). Null: before the first. */
  readonly leafId: EntryId | null;
  /** Nothing grows under it: it was put there by `branch` (V4). */
  readonly isHeld: boolean;
  /** There are entries above the first shown one (V8). */
  readonly hasOlder: boolean;
  /** The content of another branch, or of this one for the first time, is on its way (V9). */
  readonly isLoading: boolean;
  /** Why the last load came to nothing. */
  readonly error: ErrorBody | null;
};

/** A view's leaf, hold and selections, to restore elsewhere (V7). JSON. */
export type ViewState = {
  readonly leafId: EntryId | null;
  readonly isHeld: boolean;
  /** An entry, or null above the roots, and what was last shown below it: the next entry where one chooses. */
  readonly selections: readonly (readonly [EntryId | null, EntryId])[];
  /** The last reset that it knew of: a view that follows begins anew after another one (F8). */
  readonly resetId?: string | null;
};

/** What somebody typed, on a shown line. */
export type Prompt = {
  readonly id: EntryId;
  /** Its text parts; empty where its content was erased. */
  readonly text: string;
  readonly parts: readonly Part[];
  /** ms, of the server's clock. */
  readonly time: number;
};

/** What is sent: a text, parts of a message, or a whole draft with or without an id. */
export type Content = string | readonly Part[] | DraftContent;
type WithoutId<D> = D extends Draft ? Omit<D, "id"> & { id?: EntryId } : never;
export type DraftContent = WithoutId<Draft>;

/** Asks an agent to answer. `true` is the same as `{}`. */
export type RunAsk = boolean | { readonly options?: Record<string, Json> };

export type SendOptions = { readonly run?: RunAsk };

export type ViewOptions = {
  /** Entries that it begins with; 50 by default, from 1 to 1000. */
  readonly limit?: number;
  /** Restores a line (V7). One that is not whole is taken for none. */
  readonly state?: ViewState;
  /** Begins at this entry, held as `branch` would hold it. */
  readonly leafId?: EntryId | null;
  /** `newest` moves to whatever is written last, by anyone (V3). */
  readonly follow?: "line" | "newest";
};

/** A write on its way. It never rejects: a refusal is shown by the view, and told here. */
export type Sent = {
  /** The entry's id, or the run's for `regenerate`. */
  readonly id: string;
  /** The run that was asked for with it, or by it. */
  readonly runId: RunId | undefined;
  /** Resolves when it is on the server's disk, or was refused. */
  readonly settled: Promise<Settled>;
};

/** `seq` and `parentId` are those that the server decided (P4); undefined where no entry was published. */
export type Settled =
  | { readonly ok: true; readonly seq: number | undefined; readonly parentId: EntryId | null | undefined }
  | { readonly ok: false; readonly error: ErrorBody };

/** One line through the tree, chosen, widened and written through here. */
export type View = {
  /** What is shown, but for the content of its entries. */
  readonly snapshot: ViewSnapshot;
  /** Returns its undo. */
  subscribe(listener: (change: ViewChange) => void): () => void;
  /** Hears of one entry alone: its content, its state and its alternatives. Returns its undo. */
  subscribeEntry(id: EntryId, listener: () => void): () => void;
  /** A shown entry. */
  get(id: EntryId): ViewEntry | undefined;
  /** By position, the oldest shown first; without making the list of all. */
  at(index: number): ViewEntry | undefined;
  /** Every shown entry with its id. Costs their number: for a list on screen read `snapshot.ids`. */
  getMessages(): readonly ViewEntry[];
  /**
   * Goes back, or elsewhere, to exactly this entry; null: to before the first one. Where it has children the
   * view is then held there (V4, V5): what is sent next begins a branch, and `follow` returns to the tip.
   */
  branch(id: EntryId | null): void;
  /** Where an entry stands among its alternatives: "2 of 3" is index 1 of total 3. */
  branchInfo(id: EntryId): BranchInfo;
  /**
   * Shows an alternative, with the line that was last shown below it (V6). One that is not loaded is shown when it
   * is; what is sent, or chosen, before that cancels it, and goes below what is shown then (V3).
   */
  select(id: EntryId): void;
  /** Selects a neighbour of an entry among its alternatives; loads its id where it is not known. */
  step(id: EntryId, by: 1 | -1): void;
  /** Ends a hold and goes to the tip of the line. */
  follow(): void;
  /**
   * The last prompts of the shown line, the newest first: what one can rewind past. Loads older ones where need
   * be (50 by default); what is shown does not change. Resolves with what was found where loading fails.
   */
  prompts(ask?: { readonly limit?: number }): Promise<readonly Prompt[]>;
  /**
   * Goes back to before a prompt, and is held there (V4): what is sent next is an alternative to it. Resolves
   * with the prompt, for the composer, or with the refusal: `invalid` where it is no prompt, `not_found`,
   * `cancelled` where the view was moved meanwhile.
   *
   * @example
   * const [last] = await view.prompts({ limit: 1 });
   * if (last !== undefined) composer.text = last.text, await view.rewind(last.id);
   */
  rewind(promptId: EntryId): Promise<Prompt | ErrorBody>;
  /** Goes to the entry that a named branch stands on, as `branch` does. Null, or `not_found`. */
  switchTo(name: string): ErrorBody | null;
  /** Puts a name on the shown leaf, once that is confirmed; `invalid` before the first entry. */
  saveBranch(name: string): Promise<ErrorBody | null>;
  /** Makes a session of the shown line, once its leaf is confirmed (F1, F2). */
  fork(ask?: Omit<ForkAsk, "from">): Promise<Forked | ErrorBody>;
  /** The shown entries that readers see (C1). */
  transcript(): readonly ViewEntry[];
  /** The last shown message that readers see. */
  lastMessage(): ViewEntry | undefined;
  /** What the model is sent for the shown line, pending entries included (C2). */
  context(options?: ContextOptions): Promise<readonly ContextMessage[] | ErrorBody>;
  /** How a tool call of a shown entry stands on this line (C6); null where there is no such call. */
  toolState(entryId: EntryId, callId: string): ToolOutcome | null;
  /** Shows up to `count` more; resolves with how many there were. Concurrent calls share one. */
  loadOlder(count?: number): Promise<number>;
  /** Loads older entries until one passes, and returns it; undefined where none does. */
  loadUntil(test: (entry: Entry) => boolean): Promise<Entry | undefined>;
  /** Goes on from the shown leaf. */
  send(content: Content, options?: SendOptions): Sent;
  /** Makes an alternative to an entry, with the same role (P2). */
  edit(id: EntryId, content: Content, options?: SendOptions): Sent;
  /** Asks for an alternative to everything since the last prompt at or above an entry (V12). */
  regenerate(id: EntryId, options?: { readonly options?: Record<string, Json> }): Sent;
  /** Sends a failed write again, from what is shown now (O2). */
  retry(id: string): void;
  /** Takes a failed write away (O2); after an edit the view goes back to where it was (V5). */
  discard(id: string): void;
  /** Runs that have not ended and that belong to the shown line. */
  runs(): readonly Run[];
  /** To restore with `createView({ state })`, here or elsewhere. */
  state(): ViewState;
  /** Its listeners hear nothing more. What was sent through it goes on. */
  close(): void;
};
