/**
 * The state of one view: its leaf and hold, what was selected, the line and the overlay it shows, and
 * the listeners that hear of it. What moves it, widens it and writes through it are rooms of their own.
 */
import {
  type EntryId,
  type ErrorBody,
  type Json,
  type LineAsk,
  type PrincipalId,
  RESET,
  type RunId,
  type Runtime,
} from "@espalier/shared";
import type { ForkAsk, Forked } from "./client-types.js";
import { createLine, type Line } from "./line.js";
import type { Branches } from "./marks/branches.js";
import { createOverlay, type Overlay } from "./overlay.js";
import type { PendingQueue, Placer, Write } from "./pending.js";
import type { Replica } from "./replica.js";
import type { SessionReads } from "./session-reads.js";
import { createViewEvents, type ViewEvents } from "./view-events.js";
import { readOptions } from "./view-options.js";
import type { Settled, ViewOptions } from "./view-types.js";

/** What a view needs of the session that it belongs to. */
export type ViewHost = {
  readonly replica: Replica;
  readonly queue: PendingQueue;
  readonly runtime: Runtime;
  readonly principal: PrincipalId;
  /** Queues a write and sends it when it can be; the placer is asked where it goes then. */
  submit(write: Write, placer: Placer): Promise<Settled>;
  resend(writeId: string): void;
  discard(writeId: string): void;
  whenSettled(writeId: string): Promise<Settled>;
  /** Resolves with null once the session is joined, or with why it will not be. */
  whenJoined(): Promise<ErrorBody | null>;
  readonly branches: Branches;
  /** What the model reads at a leaf, from the server where the line is not loaded. */
  readonly contextWith: SessionReads["contextWith"];
  /** A session of the line up to an entry. */
  fork(entry: EntryId | null, ask: Omit<ForkAsk, "from">): Promise<Forked | ErrorBody>;
  /** Loads a line into the replica; resolves with its leaf. Waits while there is no connection. */
  loadLine(ask: LineAsk): Promise<{ leafId: EntryId | null } | ErrorBody>;
  loadPage(before: EntryId, limit: number): Promise<ErrorBody | null>;
  loadAlternatives(parentId: EntryId | null, from: number, limit: number): Promise<ErrorBody | null>;
};

export type Watch = { watch(id: EntryId): void; unwatch(id: EntryId): void };

export type ViewCore = {
  readonly host: ViewHost;
  readonly limit: number;
  readonly events: ViewEvents;
  readonly line: Line;
  readonly overlay: Overlay;
  /** What was last shown under each entry (V6): its child, or where a state was restored an entry below it. */
  readonly selections: Map<EntryId | null, EntryId>;
  /** Runs that were asked for here: the view moves to what they write (V3). */
  readonly awaitedRuns: Set<RunId>;
  readonly leafId: EntryId | null;
  readonly isHeld: boolean;
  /** False for a view that takes the newest line, whichever that is (V2). */
  readonly isPlaced: boolean;
  readonly isReady: boolean;
  readonly isLoading: boolean;
  /** The content of what a reader or the view itself chose is on its way. */
  readonly isMoving: boolean;
  readonly isClosed: boolean;
  readonly error: ErrorBody | null;
  /** Counts the changes of what is shown; a token is none. */
  readonly version: number;
  /** Counts what a reader did to the view. */
  readonly acts: number;
  /** The last reset that it knows of (F8); undefined before it knows the session. */
  readonly resetId: Json | undefined;
  hasOlder(): boolean;
  /** Undefined children count as some: a line that may go on is held. */
  hasChildren(id: EntryId | null): boolean;
  /**
   * Moves to an entry; one that is not loaded shows nothing of its line until it is. Shows up to `length`
   * entries, by default the view's limit, and more where they were shown before.
   */
  setLeaf(id: EntryId | null, isHeld?: boolean, length?: number): void;
  /** The leaf has a new last entry: the line grows by one. */
  growTo(id: EntryId): void;
  release(): void;
  /**
   * Looks at the session's last reset. True where that was not known and the view follows its line: it is at
   * no entry then, and takes the line that is asked for by nobody in particular (V2). One that is held, or was
   * put on an earlier line since, stays where it is (F8).
   */
  learnReset(): boolean;
  /** A reader's act: cancels what an earlier one still loads (V3). */
  act(): void;
  /** Shows that something loads until `work` is done, unless another act comes first. */
  during<T>(work: Promise<T>, arrive: (result: T) => void): void;
  fail(error: ErrorBody | null): void;
  /** Resolves when nothing of the line is on its way. */
  whenLoaded(): Promise<void>;
  ready(): void;
  touch(): void;
  flush(): void;
  close(): void;
};

export const createViewCore = (host: ViewHost, options: ViewOptions, watch: Watch): ViewCore => {
  const { replica } = host;
  const begin = readOptions(options);
  const { limit } = begin;
  const selections = new Map<EntryId | null, EntryId>(begin.selections);
  const awaitedRuns = new Set<RunId>();
  const overlay = createOverlay({
    queue: host.queue,
    getTree: () => replica.tree,
    getAuthor: () => host.principal,
  });
  const events = createViewEvents(host.runtime, () => shownLeafId({ overlay, leafId }));
  let leafId = begin.place?.leafId ?? null;
  let isHeld = begin.place?.isHeld ?? false;
  let isPlaced = begin.place !== null;
  let isReady = false;
  let isClosed = false;
  let loading: symbol | null = null;
  let error: ErrorBody | null = null;
  let version = 0;
  let acts = 0;
  let resetId: Json | undefined = begin.resetId;
  const waiting: (() => void)[] = [];
  /** Pending entries as they were told last. */
  let told = overlay.entries;

  const line = createLine({
    shown: ({ entry }) => {
      selections.set(entry.parentId, entry.id);
      if (entry.status === "streaming") watch.watch(entry.id);
    },
    hidden: ({ entry }) => watch.unwatch(entry.id),
  });

  const touch = (): void => {
    version += 1;
    events.lineChanged();
  };

  /** What was pending and is so no more, or in another way, is told to those who listen to it alone. */
  const tellStates = (): void => {
    const pending = overlay.entries;
    if (pending === told || told.every((entry, index) => pending[index] === entry)) {
      told = pending;
      return;
    }
    const same = new Set(pending);
    for (const entry of told) if (!same.has(entry)) events.stateChanged(entry.id);
    told = pending;
  };

  const goOn = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  const core: ViewCore = {
    host,
    limit,
    events,
    line,
    overlay,
    selections,
    awaitedRuns,
    get leafId() {
      return leafId;
    },
    get isHeld() {
      return isHeld;
    },
    get isPlaced() {
      return isPlaced;
    },
    get isReady() {
      return isReady;
    },
    get isMoving() {
      return loading !== null;
    },
    get isLoading() {
      return loading !== null || !isReady;
    },
    get isClosed() {
      return isClosed;
    },
    get error() {
      return error;
    },
    get version() {
      return version;
    },
    get acts() {
      return acts;
    },
    get resetId() {
      return resetId;
    },
    hasOlder: () => (line.top === undefined ? leafId !== null : line.top.entry.parentId !== null),
    hasChildren: (id) => (replica.siblings.count(id) ?? 1) > 0,
    setLeaf: (id, held = false, length = limit) => {
      leafId = id;
      isHeld = held;
      isPlaced = true;
      const node = id === null ? undefined : replica.tree.get(id);
      if (node === undefined) line.clear();
      else {
        line.moveTo(node, length);
        if (line.length < length) line.extend(length - line.length);
      }
      touch();
    },
    growTo: (id) => {
      const node = replica.tree.get(id);
      if (node === undefined) return;
      leafId = id;
      isPlaced = true;
      line.grow(node);
      touch();
    },
    release: () => {
      isHeld = false;
      isPlaced = true;
    },
    learnReset: () => {
      const knownId = resetId;
      resetId = replica.registers.get(RESET);
      if (knownId === undefined || knownId === resetId || isHeld || !isPlaced) return false;
      core.act();
      leafId = null;
      isPlaced = false;
      selections.delete(null);
      line.clear();
      touch();
      return true;
    },
    act: () => {
      acts += 1;
      loading = null;
      error = null;
      awaitedRuns.clear();
    },
    during: (work, arrive) => {
      const mine = Symbol("load");
      loading = mine;
      touch();
      void work.then((result) => {
        if (loading !== mine || isClosed) return;
        loading = null;
        touch();
        arrive(result);
        core.flush();
      });
    },
    fail: (cause) => {
      error = cause;
      touch();
    },
    ready: () => {
      isReady = true;
      error = null;
      touch();
    },
    touch,
    whenLoaded: () =>
      core.isLoading && !isClosed ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(),
    flush: () => {
      tellStates();
      events.flush();
      if (!core.isLoading) goOn();
    },
    close: () => {
      isClosed = true;
      goOn();
      line.clear();
      events.close();
    },
  };
  return core;
};

/** The last shown entry, pending ones included. */
export const shownLeafId = ({ overlay, leafId }: Pick<ViewCore, "overlay" | "leafId">): EntryId | null =>
  overlay.entries.at(-1)?.id ?? leafId;

/** The write that an entry belongs to while it is not confirmed. */
export const pendingWriteOf = ({ replica, queue }: ViewHost, entryId: EntryId): Write | undefined =>
  replica.tree.get(entryId) === undefined ? queue.ofEntry(entryId) : undefined;
