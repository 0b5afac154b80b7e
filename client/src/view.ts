/**
 * A view: a leaf, what was selected, a window of one line, and listeners (V1–V12). It belongs to one
 * client; nothing that it does is seen elsewhere except what it writes.
 *
 * It shows the confirmed line up to its leaf, then its own pending writes (O1). Everything that changes
 * it ends in `flush`, which tells the listeners once.
 */
import {
  type Draft,
  type Entry,
  type EntryId,
  type ErrorBody,
  isRunEnded,
  type LineAsk,
  type Place,
  type PrincipalId,
  promptOf,
  type Run,
  type RunId,
  type RunPlace,
  type RunRequest,
  type Runtime,
  type TreeNode,
  WINDOW_ENTRIES,
} from "@espalier/shared";
import { createLine } from "./line.js";
import { createOverlay } from "./overlay.js";
import type { Intent, PendingQueue, Write } from "./pending.js";
import type { Replica, ReplicaChange } from "./replica.js";
import { toDraft } from "./view-content.js";
import { createViewEvents } from "./view-events.js";
import type {
  Content,
  RunAsk,
  SendOptions,
  Sent,
  Settled,
  View,
  ViewEntry,
  ViewOptions,
  ViewSnapshot,
} from "./view-types.js";

/** What a view needs of the session that it belongs to. */
export type ViewHost = {
  readonly replica: Replica;
  readonly queue: PendingQueue;
  readonly runtime: Runtime;
  readonly principal: PrincipalId;
  /** Queues a write and sends it when it can be; the view is asked where it goes. */
  submit(write: Write, view: ViewControl): Promise<Settled>;
  resend(writeId: string): void;
  discard(writeId: string): void;
  /** Loads a line into the replica; resolves with its leaf. Waits while there is no connection. */
  loadLine(ask: LineAsk): Promise<{ leafId: EntryId | null } | ErrorBody>;
  loadPage(before: EntryId, limit: number): Promise<ErrorBody | null>;
  loadAlternatives(parentId: EntryId | null, from: number, limit: number): Promise<ErrorBody | null>;
  /** Begins or ends telling a view of each append to a streaming entry. */
  watch(id: EntryId, view: ViewControl): void;
  unwatch(id: EntryId, view: ViewControl): void;
  remove(view: ViewControl): void;
};

/** What the session tells a view. */
export type ViewControl = {
  readonly view: View;
  /** The line to ask for in a join (J2). */
  ask(): LineAsk;
  /** The session is joined: a view that has no line yet takes one. */
  start(): void;
  /** A join gave a fresh window with this leaf. */
  restart(leafId: EntryId | null): void;
  applied(change: ReplicaChange): void;
  /** The queue has changed: a write was acknowledged, refused or restored. */
  writesChanged(): void;
  /** Shows writes that an earlier page left in the storage. */
  adopt(writes: readonly Write[]): void;
  placeOf(write: Write, index: number): Place | undefined;
  flush(): void;
};

/** A leaf's ancestors that are named in a join, for a server that lost the leaf (D2). */
const CANDIDATES = 100;
const PAGE_ENTRIES = 50;

export const createView = (host: ViewHost, options: ViewOptions): ViewControl => {
  const { replica, queue, runtime } = host;
  const limit = options.limit ?? WINDOW_ENTRIES;
  const events = createViewEvents();
  const selections = new Map<EntryId | null, EntryId>(options.state?.selections ?? []);
  const awaitedRuns = new Set<RunId>();
  const shownById = new Map<EntryId, ViewEntry>();
  const overlay = createOverlay({ queue, getTree: () => replica.tree, getAuthor: () => host.principal });
  let leafId = options.state?.leafId ?? options.leafId ?? null;
  let isHeld = options.state?.isHeld ?? options.leafId !== undefined;
  /** Without a line of its own yet it takes the newest one (V2). */
  let isPlaced = options.state !== undefined || options.leafId !== undefined;
  let isReady = false;
  let loading: symbol | null = null;
  let error: ErrorBody | null = null;
  let older: Promise<number> | null = null;
  let snapshot: ViewSnapshot | null = null;
  let isClosed = false;

  const line = createLine({
    shown: (node) => {
      const { id, parentId, status } = node.entry;
      selections.set(parentId, id);
      if (status === "streaming") host.watch(id, control);
    },
    hidden: (node) => {
      const { id, status } = node.entry;
      shownById.delete(id);
      if (status === "streaming") host.unwatch(id, control);
    },
  });

  const touch = (): void => {
    snapshot = null;
    events.lineChanged();
  };

  const flush = (): void => events.flush(shownLeafId());

  const shownLeafId = (): EntryId | null => overlay.entries.at(-1)?.id ?? leafId;

  /** `id` may be an entry that is not loaded: then nothing of its line is shown until it is. */
  const setLeaf = (id: EntryId | null): void => {
    leafId = id;
    isPlaced = true;
    const node = id === null ? undefined : replica.tree.get(id);
    if (node === undefined) line.clear();
    else line.moveTo(node, limit);
    touch();
  };

  /** Every act of the reader cancels what an earlier one still loads (V3). */
  const act = (): void => {
    loading = null;
    error = null;
    awaitedRuns.clear();
  };

  const hasOlder = (): boolean =>
    line.top === undefined ? leafId !== null : line.top.entry.parentId !== null;

  // ── What is shown ────────────────────────────────────────────────────────────────────────────

  const confirmed = (node: TreeNode): ViewEntry => {
    const { entry } = node;
    const held = shownById.get(entry.id);
    if (held !== undefined && held.entry === entry) return held;
    const shown: ViewEntry = Object.freeze({ id: entry.id, entry, state: "confirmed", error: null });
    shownById.set(entry.id, shown);
    return shown;
  };

  const at = (index: number): ViewEntry | undefined => {
    const node = line.nodes[index];
    return node === undefined ? overlay.entries[index - line.length] : confirmed(node);
  };

  const get = (id: EntryId): ViewEntry | undefined => {
    const node = line.has(id) ? replica.tree.get(id) : undefined;
    return node === undefined ? overlay.entries.find((shown) => shown.id === id) : confirmed(node);
  };

  const makeSnapshot = (): ViewSnapshot => {
    const pending = overlay.entries;
    let ids: readonly EntryId[] | undefined;
    const { nodes } = line;
    const length = nodes.length + pending.length;
    return Object.freeze({
      get ids() {
        ids ??= Object.freeze([...nodes.map(({ entry }) => entry.id), ...pending.map(({ id }) => id)]);
        return ids;
      },
      length,
      leafId: shownLeafId(),
      isHeld,
      hasOlder: hasOlder(),
      isLoading: loading !== null || !isReady,
      error,
    });
  };

  // ── Moving ───────────────────────────────────────────────────────────────────────────────────

  const load = (ask: Omit<LineAsk, "limit">, arrive: (leafId: EntryId | null) => void): void => {
    const mine = Symbol("load");
    loading = mine;
    touch();
    void host.loadLine({ ...ask, limit }).then((answer) => {
      if (loading !== mine || isClosed) return;
      loading = null;
      if ("code" in answer) {
        error = answer;
        touch();
      } else arrive(answer.leafId);
      flush();
    });
  };

  const hasChildren = (id: EntryId | null): boolean => (replica.siblings.count(id) ?? 1) > 0;

  const branch = (id: EntryId | null): void => {
    act();
    const write = id === null ? undefined : writeOf(id);
    overlay.set(write === undefined ? [] : chainTo(write));
    const target = write === undefined ? id : write.anchorId;
    if (target === null || replica.tree.get(target) !== undefined) {
      setLeaf(target);
      isHeld = write === undefined && hasChildren(target);
    } else
      load({ candidates: [target], walk: "stay" }, (loaded) => {
        setLeaf(loaded);
        isHeld = hasChildren(loaded);
      });
    flush();
  };

  const writeOf = (entryId: EntryId): Write | undefined =>
    replica.tree.get(entryId) !== undefined
      ? undefined
      : queue.all().find(({ items }) => items.some(({ draft }) => draft.id === entryId));

  /** A pending write is shown with those that it goes after. */
  const chainTo = (write: Write): string[] => {
    if (overlay.has(write.id)) return overlay.upTo(write.id);
    const isFollowing = write.items.some(({ intent }) => intent !== undefined && "at" in intent);
    const before = queue
      .all()
      .filter(({ anchorId, items }) => anchorId === write.anchorId && items.length > 0);
    return isFollowing ? before.slice(0, before.indexOf(write) + 1).map(({ id }) => id) : [write.id];
  };

  /** From an entry down: what was selected there before, else the newest (V2, V6). */
  const descend = (from: EntryId | null): void => {
    let target = from;
    for (;;) {
      if (!hasChildren(target)) return arriveAt(target);
      const count = replica.siblings.count(target);
      const next =
        selections.get(target) ?? (count === undefined ? undefined : replica.siblings.at(target, count - 1));
      if (next === undefined || replica.tree.get(next) === undefined) {
        const candidates = [...selectedBelow(target), target];
        return load({ candidates, walk: "newest" }, arriveAt);
      }
      target = next;
    }
  };

  const arriveAt = (id: EntryId | null): void => {
    setLeaf(id);
    isHeld = false;
  };

  /** Selections below an entry, the deepest first. */
  const selectedBelow = (id: EntryId | null): EntryId[] => {
    const below: EntryId[] = [];
    for (
      let next = selections.get(id);
      next !== undefined && below.length < CANDIDATES;
      next = selections.get(next)
    )
      below.push(next);
    return below.reverse();
  };

  const select = (id: EntryId): void => {
    if (writeOf(id) !== undefined) return branch(id);
    act();
    overlay.set([]);
    descend(id);
    flush();
  };

  const step = (id: EntryId, by: 1 | -1): void => {
    const node = replica.tree.get(id);
    if (node === undefined) return;
    const { parentId } = node.entry;
    const index = replica.siblings.info(node.entry).index + by;
    const count = replica.siblings.count(parentId) ?? 0;
    if (index < 0 || index >= count) return;
    const target = replica.siblings.at(parentId, index);
    if (target !== undefined) return select(target);
    act();
    const mine = Symbol("step");
    loading = mine;
    touch();
    flush();
    void host.loadAlternatives(parentId, Math.max(0, index - 16), 32).then((refused) => {
      if (loading !== mine || isClosed) return;
      loading = null;
      const loaded = replica.siblings.at(parentId, index);
      if (loaded !== undefined) return select(loaded);
      error = refused;
      touch();
      flush();
    });
  };

  // ── Older entries ────────────────────────────────────────────────────────────────────────────

  const loadMore = async (count: number): Promise<number> => {
    const before = line.length;
    const missing = count - line.extend(count);
    if (missing > 0 && hasOlder()) {
      const top = line.top?.entry.id;
      if (top !== undefined) {
        const refused = await host.loadPage(top, missing);
        if (refused !== null) error = refused;
        else if (line.top?.entry.id === top) line.extend(missing);
      } else if (leafId !== null) {
        await host.loadLine({ candidates: [leafId], walk: "stay", limit: missing });
        setLeaf(leafId);
      }
    }
    if (isClosed) return 0;
    touch();
    flush();
    return line.length - before;
  };

  const loadOlder = (count = PAGE_ENTRIES): Promise<number> => {
    older ??= loadMore(count).finally(() => {
      older = null;
    });
    return older;
  };

  const loadUntil = async (test: (entry: Entry) => boolean): Promise<Entry | undefined> => {
    let tested: EntryId | undefined;
    for (;;) {
      for (let index = line.length - 1; index >= 0; index -= 1) {
        const { entry } = line.nodes[index] as TreeNode;
        if (test(entry)) return entry;
      }
      if (!hasOlder() || isClosed || line.top?.entry.id === tested) return undefined;
      tested = line.top?.entry.id;
      await loadOlder(PAGE_ENTRIES * 2);
      if (error !== null) return undefined;
    }
  };

  // ── Writing ──────────────────────────────────────────────────────────────────────────────────

  const submit = (write: Omit<Write, "state" | "error" | "time">): Sent => {
    const full: Write = { ...write, state: "pending", error: null, time: runtime.now() };
    if (write.run !== undefined) awaitedRuns.add(write.run.id);
    if (write.items.length > 0) overlay.attach(write.id);
    const settled = host.submit(full, control);
    touch();
    flush();
    return { id: write.id, runId: write.run?.id, settled };
  };

  const runFor = (ask: RunAsk | undefined, place: RunPlace): RunRequest | undefined => {
    if (ask === undefined || ask === false) return undefined;
    const runOptions = ask === true ? undefined : ask.options;
    return {
      id: runtime.newId() as RunId,
      place,
      ...(runOptions === undefined ? {} : { options: runOptions }),
    };
  };

  const write = (
    draft: Draft,
    intent: Intent,
    { run }: SendOptions,
    anchor: { anchorId: EntryId | null; formerLeafId?: EntryId | null },
  ): Sent =>
    submit({
      id: draft.id,
      items: [{ draft, intent }],
      run: runFor(run, { after: draft.id }),
      anchorId: anchor.anchorId,
      formerLeafId: anchor.formerLeafId,
    });

  const send = (content: Content, sendOptions: SendOptions = {}): Sent => {
    act();
    const draft = toDraft(content, "user", () => runtime.newId());
    const intent: Intent = isHeld && overlay.lastId === undefined ? { under: leafId } : { at: "leaf" };
    isHeld = false;
    isPlaced = true;
    return write(draft, intent, sendOptions, { anchorId: leafId });
  };

  const edit = (id: EntryId, content: Content, sendOptions: SendOptions = {}): Sent => {
    act();
    const pending = writeOf(id);
    const node = replica.tree.get(id);
    const role = roleOf(node?.entry ?? pending?.items[0]?.draft);
    const draft = toDraft(content, role, () => runtime.newId());
    const formerLeafId = leafId;
    if (pending !== undefined) overlay.set(overlay.upTo(pending.id).slice(0, -1));
    else {
      overlay.set([]);
      if (node !== undefined) setLeaf(node.entry.parentId);
    }
    isHeld = false;
    return write(draft, { forkOf: id }, sendOptions, { anchorId: leafId, formerLeafId });
  };

  const regenerate = (
    id: EntryId,
    { options: runOptions }: { options?: RunRequest["options"] } = {},
  ): Sent => {
    act();
    const ask: RunAsk = runOptions === undefined ? true : { options: runOptions };
    const run = runFor(ask, regeneratePlace(id)) as RunRequest;
    return submit({ id: run.id, items: [], run, anchorId: leafId, formerLeafId: undefined });
  };

  /** Where the prompt is not loaded the server finds it (V12). */
  const regeneratePlace = (id: EntryId): RunPlace => {
    const node = replica.tree.get(id);
    const found = node === undefined ? undefined : promptOf(node);
    if (found === undefined || (found.prompt === null && found.top.entry.parentId !== null))
      return { regenerate: id };
    return { under: found.prompt?.entry.id ?? null };
  };

  const retry = (id: string): void => {
    const failed = queue.get(id);
    if (failed?.state !== "failed") return;
    act();
    const isLost = failed.error?.code === "unknown_parent";
    const items = isLost
      ? failed.items.map((item): Write["items"][number] => ({ ...item, intent: { at: "leaf" } }))
      : failed.items;
    if (isLost || !overlay.has(id)) overlay.attach(id);
    queue.retry(id, { items, ...(isLost ? { anchorId: leafId } : {}) });
    if (failed.run !== undefined) awaitedRuns.add(failed.run.id);
    host.resend(id);
    touch();
    flush();
  };

  const discard = (id: string): void => {
    const discarded = queue.get(id);
    if (discarded === undefined) return;
    const wasShown = overlay.has(id);
    overlay.detach(id);
    host.discard(id);
    const { formerLeafId } = discarded;
    if (wasShown && formerLeafId !== undefined && overlay.entries.length === 0) {
      act();
      descendTo(formerLeafId);
    }
    touch();
    flush();
  };

  /** Back to a leaf, which may have grown meanwhile. */
  const descendTo = (id: EntryId | null): void => (id === null ? setLeaf(null) : descend(id));

  // ── Runs ─────────────────────────────────────────────────────────────────────────────────────

  const isOfLine = (run: Run): boolean =>
    awaitedRuns.has(run.id) ||
    (run.inputId !== null && line.has(run.inputId)) ||
    line.leaf?.entry.runId === run.id;

  // ── Records ──────────────────────────────────────────────────────────────────────────────────

  const added = (node: TreeNode): void => {
    const { entry } = node;
    const own = queue.all().find(({ items }) => items.some(({ draft }) => draft.id === entry.id));
    if (own !== undefined && overlay.has(own.id)) arriveAt(entry.id);
    else if (entry.runId !== undefined && awaitedRuns.delete(entry.runId)) arriveAt(entry.id);
    else if (options.follow === "newest") arriveAt(entry.id);
    else if (canGrow() && entry.parentId === leafId && (leafId !== null || line.length === 0)) {
      leafId = entry.id;
      isPlaced = true;
      line.grow(node);
      touch();
    }
    const shown = line.childOf(entry.parentId);
    if (shown !== undefined && shown !== node) events.branchesChanged(shown.entry.id);
  };

  const canGrow = (): boolean => isReady && !isHeld && !overlay.isAnchored;

  const control: ViewControl = {
    view: {
      get snapshot() {
        snapshot ??= makeSnapshot();
        return snapshot;
      },
      subscribe: events.subscribe,
      subscribeEntry: events.subscribeEntry,
      get,
      at,
      getMessages: () => [...line.nodes.map(confirmed), ...overlay.entries],
      branch,
      branchInfo: (id) => {
        const node = replica.tree.get(id);
        return node === undefined ? ALONE : replica.siblings.info(node.entry);
      },
      select,
      step,
      follow: () => {
        act();
        overlay.set([]);
        descend(leafId);
        flush();
      },
      loadOlder,
      loadUntil,
      send,
      edit,
      regenerate,
      retry,
      discard,
      runs: () => [...replica.runs.open()].filter((run) => !isRunEnded(run.status) && isOfLine(run)),
      state: () => ({
        leafId,
        isHeld,
        selections: [...selections].filter(([parentId]) => replica.siblings.count(parentId) !== 1),
      }),
      close: () => {
        isClosed = true;
        line.clear();
        events.close();
        host.remove(control);
      },
    },
    ask: () => {
      const pending = overlay.entries.map(({ id }) => id).reverse();
      const shown = Math.min(1000, Math.max(limit, line.length));
      if (!isPlaced) return { candidates: pending, walk: "oldest", limit: shown };
      const ancestors: (EntryId | null)[] = [];
      const from = line.length - 1;
      for (let index = from; index >= 0 && ancestors.length < CANDIDATES; index -= 1)
        ancestors.push((line.nodes[index] as TreeNode).entry.id);
      const candidates = [...pending.slice(0, CANDIDATES), ...(ancestors.length > 0 ? ancestors : [leafId])];
      return { candidates, walk: isHeld ? "stay" : "oldest", limit: shown };
    },
    start: () => {
      if (isReady) return;
      isReady = true;
      const ask = control.ask();
      const loaded = ask.candidates.find((id) => id !== null && replica.tree.get(id) !== undefined);
      if (loaded === undefined || loaded === null || ask.walk !== "stay") load(ask, setLeaf);
      else setLeaf(loaded);
    },
    restart: (id) => {
      loading = null;
      error = null;
      isReady = true;
      older = null;
      line.clear();
      setLeaf(id);
    },
    applied: (change) => {
      if (change.type === "added") added(change.node);
      else if (change.type === "grown" || change.type === "changed") {
        if (line.has(change.node.entry.id)) events.entryChanged(change.node.entry.id);
      } else if (change.type === "run") {
        const run = replica.runs.get(change.id);
        if (run !== undefined && isOfLine(run)) events.runChanged(change.id);
      }
    },
    writesChanged: touch,
    adopt: (writes) => {
      overlay.set(writes.filter(({ items }) => items.length > 0).map(({ id }) => id));
      touch();
    },
    placeOf: (pending, index) => overlay.placeOf(pending, index, leafId),
    flush,
  };
  return control;
};

const ALONE = Object.freeze({ index: 0, total: 1, previousId: undefined, nextId: undefined });

const roleOf = (
  source: { type: string; role?: string } | undefined,
): "user" | "assistant" | "system" | "tool" =>
  source?.type === "message" ? ((source.role ?? "user") as "user") : "user";
