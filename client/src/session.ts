/** One session on this client: puts its rooms together, and its views beside each other. */
import {
  type EntryId,
  type ErrorBody,
  type Json,
  type LineAsk,
  type PrincipalId,
  type RecordsMessage,
  type Runtime,
  type ServerMessage,
  type SessionId,
  type Start,
  TITLE,
} from "@espalier/shared";
import type { Client } from "./client-types.js";
import { createListeners } from "./listeners.js";
import { createMarks } from "./marks/marks.js";
import type { Model } from "./model.js";
import { createOutgoing, type Outgoing } from "./outgoing.js";
import { createPublisher } from "./publisher.js";
import type { QueueStorage } from "./queue-storage.js";
import { createRegisterPages } from "./register-pages.js";
import { createReplica, type ReplicaChange } from "./replica.js";
import { type Ask, errorOf, type Unnumbered } from "./requests.js";
import { createSessionActs } from "./session-acts.js";
import { createLoads } from "./session-loads.js";
import { createSessionReads } from "./session-reads.js";
import type { Session, SessionChange, SessionSnapshot } from "./session-types.js";
import { createSessionViews } from "./session-views.js";
import { createShownRegisters } from "./shown-registers.js";
import { createSync } from "./sync.js";
import type { ViewControl, ViewSession } from "./view.js";
import { setOwner } from "./view-owner.js";
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
  readonly origin: Start | undefined;
  readonly view: ViewOptions;
  readonly runtime: Runtime;
  readonly storage: QueueStorage | undefined;
  readonly model: Model | undefined;
  /** Null before the server has said who this is. */
  readonly getPrincipal: () => PrincipalId | null;
  readonly ask: Ask<Unnumbered>;
  readonly send: Parameters<typeof createOutgoing>[0]["send"];
  readonly leave: (ch: number) => void;
  /** The client that it is part of. */
  readonly client: Pick<Client, "session" | "list" | "fork">;
  readonly onClosed: () => void;
};

const NOBODY = "unknown" as PrincipalId;

export const createSession = (host: SessionHost): SessionControl => {
  const { id, runtime } = host;
  const replica = createReplica();
  const views = createSessionViews();
  const listeners = createListeners<SessionChange>(runtime);
  let defaultView: ViewControl | null = null;
  let storageFault: ErrorBody | null = null;
  let snapshot: SessionSnapshot | null = null;
  let isClosed = false;

  const tell = (change: SessionChange): void => {
    snapshot = null;
    listeners.tell(change);
  };

  // ── What comes in ────────────────────────────────────────────────────────────────────────────

  const onChanges = (changes: readonly ReplicaChange[]): void => {
    // Everything is in place before anyone is told, so a listener may act, or join another session.
    views.apply(changes);
    for (const change of changes) {
      if (change.type === "run") tell({ type: "run", id: change.id });
      if (change.type === "register") registers.changed(change.key);
    }
  };

  const lines = () => {
    const { asks, restart } = views.lines();
    const keys = new Set(replica.registers.all().map(({ key }) => key));
    return {
      asks,
      restart: (leaves: readonly { leaf: EntryId | null }[]) => {
        restart(leaves);
        // What was set and is not any more has changed as well.
        for (const register of replica.registers.all()) keys.add(register.key);
        for (const key of keys) registers.changed(key);
        for (const run of replica.runs.all()) tell({ type: "run", id: run.id });
      },
    };
  };

  const sync = createSync({
    id,
    create: host.create,
    origin: host.origin,
    replica,
    runtime,
    ask: host.ask,
    leave: host.leave,
    lines,
    onChanges,
    onLive: () => {
      views.start();
      outgoing.sendAll();
      loadRegisters();
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
      views.writeChanged(change);
      tell({ type: "writes" });
    },
    onStorageFault: (error) => {
      storageFault = error;
      tell({ type: "status" });
    },
  });

  const loadRegisters = createRegisterPages({ replica, sync, onChanges });
  const registers = createShownRegisters({
    getRegisters: () => replica.registers,
    send: async (key, value) => errorOf(await sync.askUntilAnswered({ type: "register", key, value })),
    onChange: (key) => tell({ type: "register", key }),
  });
  const marks = createMarks({
    registers,
    getPrincipal: host.getPrincipal,
    getSeq: (entryId) => replica.tree.get(entryId)?.entry.seq,
  });
  const { contextEntries, contextWith, ...reads } = createSessionReads(replica, sync);

  // ── Views ────────────────────────────────────────────────────────────────────────────────────

  const load = createLoads({ replica, sync, onBranchesKnown: views.branchesKnown });

  const viewHost: ViewSession = {
    ...views.watching,
    replica,
    queue: outgoing.queue,
    runtime,
    get principal() {
      return host.getPrincipal() ?? NOBODY;
    },
    submit: (write, view) => outgoing.submit(write, view),
    resend: (writeId) => outgoing.resend(writeId),
    discard: (writeId) => outgoing.discard(writeId),
    whenSettled: (writeId) => outgoing.whenSettled(writeId),
    whenJoined: () => sync.untilLive(),
    branches: marks.branches,
    contextWith,
    fork: (entry, ask) => host.client.fork({ ...ask, from: { session: id, entry } }),
    loadLine: async (ask: LineAsk) => {
      const reply = await load({ type: "line", ...ask });
      return reply.type === "window" ? { leafId: reply.leaf } : (errorOf(reply) as ErrorBody);
    },
    loadPage: async (before, limit) => errorOf(await load({ type: "page", before, limit })),
    loadAlternatives: async (parentId, from, limit) =>
      errorOf(await load({ type: "alternatives", parentId, from, limit })),
  };

  const addView = (options: ViewOptions): ViewControl => {
    const view = views.add(viewHost, options);
    setOwner(view.view, { session, contextEntries, model: host.model, newId: runtime.newId });
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

  const acts = createSessionActs({
    id,
    newId: runtime.newId,
    registers,
    sync,
    outgoing,
    client: host.client,
  });
  const openSidechain = acts.sidechain;
  const publisher = createPublisher({ runtime, replica, outgoing, sync, load, openSidechain });

  const session: Session = {
    id,
    get snapshot() {
      snapshot ??= Object.freeze({
        status: sync.status,
        error: sync.error ?? storageFault,
        title: titleOf(registers.get(TITLE)),
        writes: outgoing.queue.all(),
      });
      return snapshot;
    },
    subscribe: listeners.add,
    get view() {
      return getDefaultView().view;
    },
    createView: (options = {}) => addView(options).view,
    marks,
    get revision() {
      return replica.cursor?.seq ?? 0;
    },
    get lastChangedAt() {
      return replica.facts.changedAt;
    },
    get createdAt() {
      return replica.facts.createdAt;
    },
    get origin() {
      return replica.facts.origin;
    },
    get inheritedSeq() {
      return replica.facts.inherited;
    },
    register: registers.get,
    setRegister: registers.set,
    ...reads,
    ...acts,
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
      views.close();
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
