/** One session on this client: puts its rooms together, and its views beside each other. */
import type {
  EntryId,
  ErrorBody,
  Json,
  LineAsk,
  PrincipalId,
  RecordsMessage,
  Runtime,
  ServerMessage,
  SessionId,
} from "@espalier/shared";
import { createOutgoing, type Outgoing, type QueueStorage } from "./outgoing.js";
import { createPublisher } from "./publisher.js";
import { createReplica, type ReplicaChange } from "./replica.js";
import { errorOf, type Reply, type Unnumbered } from "./requests.js";
import type { Session, SessionChange, SessionSnapshot } from "./session-types.js";
import { createSync } from "./sync.js";
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
  readonly getPrincipal: () => PrincipalId;
  readonly ask: (message: Unnumbered) => Promise<Reply>;
  readonly send: Parameters<typeof createOutgoing>[0]["send"];
  readonly leave: (ch: number) => void;
  readonly onClosed: () => void;
};

export const createSession = (host: SessionHost): SessionControl => {
  const { id, runtime } = host;
  const replica = createReplica();
  const views = new Set<ViewControl>();
  const listeners = new Set<(change: SessionChange) => void>();
  /** The views that show a streaming entry: a token costs those and no others (V11). */
  const watchersByEntry = new Map<EntryId, Set<ViewControl>>();
  const loading = new Map<string, Promise<Reply>>();
  let defaultView: ViewControl | null = null;
  let storageFault: ErrorBody | null = null;
  let snapshot: SessionSnapshot | null = null;
  let isClosed = false;

  const tell = (change: SessionChange): void => {
    snapshot = null;
    for (const listener of [...listeners]) listener(change);
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
      asks: asked.map((view) => view.ask()),
      restart: (leaves: readonly { leaf: EntryId | null }[]) => {
        watchersByEntry.clear();
        asked.forEach((view, index) => {
          if (views.has(view)) view.restart(leaves[index]?.leaf ?? null);
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
    onStatus: () => tell({ type: "status" }),
  });

  const outgoing: Outgoing = createOutgoing({
    runtime,
    sync,
    storage: host.storage,
    storageKey: `espalier:${id}`,
    send: host.send,
    onChange: () => {
      for (const view of views) view.writesChanged();
      for (const view of views) view.flush();
      tell({ type: "writes" });
    },
    onStorageFault: (error) => {
      storageFault = error;
      tell({ type: "status" });
    },
  });

  // ── Views ────────────────────────────────────────────────────────────────────────────────────

  /** Two who ask for the same at the same time share one request (V8). */
  const load = (message: Parameters<typeof sync.askUntilAnswered>[0]): Promise<Reply> => {
    const key = JSON.stringify(message);
    const shared =
      loading.get(key) ??
      sync
        .askUntilAnswered(message)
        .then((reply) => {
          if (reply.type === "window") replica.add(reply);
          if (reply.type === "alternatives") replica.siblings.give(reply);
          return reply;
        })
        .finally(() => loading.delete(key));
    loading.set(key, shared);
    return shared;
  };

  const viewHost: ViewSession = {
    replica,
    queue: outgoing.queue,
    runtime,
    get principal() {
      return host.getPrincipal();
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
    unwatch: (entryId, view) => void watchersByEntry.get(entryId)?.delete(view),
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
    subscribe: (listener) => {
      const own = (change: SessionChange): void => listener(change);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    get view() {
      return getDefaultView().view;
    },
    createView: (options = {}) => addView(options).view,
    register: (key) => replica.registers.get(key),
    setRegister: async (key, value) => errorOf(await sync.askUntilAnswered({ type: "register", key, value })),
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

const titleOf = (value: Json): string | null => (typeof value === "string" ? value : null);
