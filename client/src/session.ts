/** One session on this client: puts its rooms together, and its views beside each other. */
import {
  type EntryId,
  type ErrorBody,
  type Json,
  jsonFault,
  type LineAsk,
  type PrincipalId,
  type RecordsMessage,
  type Runtime,
  refusal,
  type ServerMessage,
  type SessionId,
} from "@espalier/shared";
import { createListeners } from "./listeners.js";
import { createOutgoing, type Outgoing } from "./outgoing.js";
import { createPublisher } from "./publisher.js";
import type { QueueStorage } from "./queue-storage.js";
import { createReplica, type ReplicaChange } from "./replica.js";
import { type Ask, errorOf, type Reply, type Unnumbered } from "./requests.js";
import type { Session, SessionChange, SessionSnapshot } from "./session-types.js";
import { type ChannelMessage, createSync } from "./sync.js";
import { createView, type ViewControl, type ViewSession } from "./view.js";
import type { ViewOptions } from "./view-types.js";

/** What the client tells a session. */
export type SessionControl = {
  readonly session: Session;
  readonly ch: number | null;
  connected(): void;
  disconnected(): void;
  records(message: RecordsMessage): void;
  message(message: Extract<ServerMessage, { type: "appended" | "left" | "refused" }>): void;
};

export type SessionHost = {
  readonly id: SessionId;
  readonly create: boolean;
  readonly view: ViewOptions;
  readonly runtime: Runtime;
  readonly storage: QueueStorage | undefined;
  /** Null before the server has said who this is. */
  readonly getPrincipal: () => PrincipalId | null;
  readonly ask: Ask<Unnumbered>;
  readonly send: Parameters<typeof createOutgoing>[0]["send"];
  readonly leave: (ch: number) => void;
  readonly onClosed: () => void;
};

const NOBODY = "unknown" as PrincipalId;

export const createSession = (host: SessionHost): SessionControl => {
  const { id, runtime } = host;
  const replica = createReplica();
  const views = new Set<ViewControl>();
  const listeners = createListeners<SessionChange>(runtime);
  /** The views that show a streaming entry: a token costs those and no others (V11). */
  const watchersByEntry = new Map<EntryId, Set<ViewControl>>();
  const loading = new Map<string, Promise<Reply>>();
  let defaultView: ViewControl | null = null;
  let storageFault: ErrorBody | null = null;
  let snapshot: SessionSnapshot | null = null;
  let isClosed = false;

  const tell = (change: SessionChange): void => {
    snapshot = null;
    listeners.tell(change);
  };

  // ── What comes in ────────────────────────────────────────────────────────────────────────────

  const applyToViews = (changes: readonly ReplicaChange[]): Set<ViewControl> => {
    const touched = new Set<ViewControl>();
    for (const change of changes) {
      const concerned = change.type === "grown" ? watchersByEntry.get(change.node.entry.id) : views;
      for (const view of concerned ?? []) {
        view.applied(change);
        touched.add(view);
      }
      if (change.type === "grown" && change.node.entry.status !== "streaming")
        watchersByEntry.delete(change.node.entry.id);
    }
    return touched;
  };

  const onChanges = (changes: readonly ReplicaChange[]): void => {
    // Everything is in place before anyone is told, so a listener may act, or join another session.
    for (const view of applyToViews(changes)) view.flush();
    for (const change of changes) {
      if (change.type === "run") tell({ type: "run", id: change.id });
      if (change.type === "register") tell({ type: "register", key: change.key });
    }
  };

  const lines = () => {
    const asked = [...views];
    return {
      // Views past those that a join may ask for ask for their line after it.
      asks: asked.slice(0, JOIN_LINES).map((view) => view.ask()),
      restart: (leaves: readonly { leaf: EntryId | null }[]) => {
        watchersByEntry.clear();
        asked.forEach((view, index) => {
          if (views.has(view)) view.restart(leaves[index]?.leaf);
        });
        for (const view of asked) view.flush();
        for (const register of replica.registers.all()) tell({ type: "register", key: register.key });
        for (const run of replica.runs.all()) tell({ type: "run", id: run.id });
      },
    };
  };

  const sync = createSync({
    id,
    create: host.create,
    replica,
    runtime,
    ask: host.ask,
    leave: host.leave,
    lines,
    onChanges,
    onLive: () => {
      for (const view of [...views]) view.start();
      outgoing.sendAll();
    },
    onFailed: (error) => outgoing.failAll(error),
    onStatus: () => tell({ type: "status" }),
  });

  const outgoing: Outgoing = createOutgoing({
    runtime,
    sync,
    storage: host.storage,
    storageKey: `espalier:${id}`,
    send: host.send,
    getPrincipal: host.getPrincipal,
    onChange: (change) => {
      const concerned = [...views].filter((view) => view.writeChanged(change));
      for (const view of concerned) view.flush();
      tell({ type: "writes" });
    },
    onStorageFault: (error) => {
      storageFault = error;
      tell({ type: "status" });
    },
  });

  // ── Views ────────────────────────────────────────────────────────────────────────────────────

  /** What came is put in at once, before what was sent after it; then the views are told what it changed. */
  const take = (reply: Reply): void => {
    if (reply.type !== "window" && reply.type !== "alternatives") return;
    const parentIds = reply.type === "window" ? replica.add(reply) : replica.siblings.give(reply);
    const concerned = [...views].filter((view) => view.branchesKnown(parentIds));
    for (const view of concerned) view.flush();
  };

  const askForThisReplica = async (message: ChannelMessage): Promise<Reply> => {
    for (;;) {
      const takers: unknown[] = [];
      const reply = await sync.askUntilAnswered(message, (answer) => {
        // Until the answer to a join has come, this may be ahead of it: it would hide what comes.
        if (sync.status !== "live") return;
        // What is of another incarnation of the log is not mixed with this one (D2).
        if ("epoch" in answer && answer.epoch !== replica.cursor?.epoch) return sync.lost();
        take(answer);
        takers.push(replica.tree);
      });
      // Where a fresh window came after it, what it brought is gone again.
      if (reply.type === "refused" || takers.at(-1) === replica.tree) return reply;
    }
  };

  /** Two who ask for the same at the same time share one request (V8). */
  const load = (message: ChannelMessage): Promise<Reply> => {
    const key = JSON.stringify(message);
    const shared = loading.get(key) ?? askForThisReplica(message).finally(() => loading.delete(key));
    loading.set(key, shared);
    return shared;
  };

  const viewHost: ViewSession = {
    replica,
    queue: outgoing.queue,
    runtime,
    get principal() {
      return host.getPrincipal() ?? NOBODY;
    },
    submit: (write, view) => outgoing.submit(write, view),
    resend: (writeId) => outgoing.resend(writeId),
    discard: (writeId) => outgoing.discard(writeId),
    loadLine: async (ask: LineAsk) => {
      const reply = await load({ type: "line", ...ask });
      return reply.type === "window" ? { leafId: reply.leaf } : (errorOf(reply) as ErrorBody);
    },
    loadPage: async (before, limit) => errorOf(await load({ type: "page", before, limit })),
    loadAlternatives: async (parentId, from, limit) =>
      errorOf(await load({ type: "alternatives", parentId, from, limit })),
    watch: (entryId, view) => {
      const watchers = watchersByEntry.get(entryId) ?? new Set();
      watchers.add(view);
      watchersByEntry.set(entryId, watchers);
    },
    unwatch: (entryId, view) => {
      const watchers = watchersByEntry.get(entryId);
      if (watchers?.delete(view) === true && watchers.size === 0) watchersByEntry.delete(entryId);
    },
    remove: (view) => void views.delete(view),
  };

  const addView = (options: ViewOptions): ViewControl => {
    const view = createView(viewHost, options);
    views.add(view);
    if (sync.status === "live") view.start();
    return view;
  };

  const getDefaultView = (): ViewControl => {
    if (defaultView === null) {
      defaultView = addView(host.view);
      outgoing.adopt(defaultView);
    }
    return defaultView;
  };

  const publisher = createPublisher({ runtime, replica, outgoing, sync, load });

  const session: Session = {
    id,
    get snapshot() {
      snapshot ??= Object.freeze({
        status: sync.status,
        error: sync.error ?? storageFault,
        title: titleOf(replica.registers.get("title")),
        writes: outgoing.queue.all(),
      });
      return snapshot;
    },
    subscribe: listeners.add,
    get view() {
      return getDefaultView().view;
    },
    createView: (options = {}) => addView(options).view,
    register: (key) => replica.registers.get(key),
    setRegister: async (key, value) => {
      const fault = jsonFault(value);
      if (fault !== null) return refusal("invalid", `unable to set ${key}; ${fault}`);
      return errorOf(await sync.askUntilAnswered({ type: "register", key, value }));
    },
    runs: () => [...replica.runs.open()],
    run: (runId) => replica.runs.get(runId),
    claim: async (runId) => {
      const reply = await sync.askUntilAnswered({ type: "claim", id: runId });
      if (reply.type === "ack" && reply.run !== undefined) return publisher.hold(reply.run);
      return errorOf(reply) as ErrorBody;
    },
    stream: (draft, place) => publisher.stream(draft, place),
    publish: (items) => publisher.publish(items.map(({ draft, place }) => ({ draft, intent: place }))),
    loadPath: publisher.loadPath,
    retry: () => sync.retry(),
    close: () => {
      if (isClosed) return;
      isClosed = true;
      for (const view of [...views]) view.view.close();
      sync.close();
      outgoing.close();
      listeners.clear();
      host.onClosed();
    },
  };

  return {
    session,
    get ch() {
      return sync.ch;
    },
    connected: () => sync.connected(),
    disconnected: () => sync.disconnected(),
    records: (message) => sync.records(message),
    message: (message) => {
      if (message.type === "appended") outgoing.appended(message);
      else if (message.type === "left") sync.left(message.error);
      else if (message.error.code === "not_joined") sync.lost();
      else if (message.id !== undefined) outgoing.appendRefused(message.id, message.error);
    },
  };
};

/** Lines that one join may ask for. */
const JOIN_LINES = 64;

const titleOf = (value: Json): string | null => (typeof value === "string" ? value : null);
