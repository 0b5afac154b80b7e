/**
 * What goes out of one session: writes in their order, and streams. Each is kept until it is
 * acknowledged, and sent again after every join (O1, O3); a repeat is harmless (L4).
 */
import {
  type AppendDraft,
  type EntryId,
  type ErrorBody,
  type ErrorCode,
  jsonFault,
  type Place,
  type PrincipalId,
  type PublishItem,
  type Runtime,
  refusal,
  type ServerMessage,
} from "@espalier/shared";
import {
  createPendingQueue,
  type PendingQueue,
  type Placer,
  type Write,
  type WriteChange,
} from "./pending.js";
import { createQueueKeeper, type QueueStorage } from "./queue-storage.js";
import { isPassing } from "./requests.js";
import { createStreamWriter, type StreamControl, type StreamWriter } from "./stream-writer.js";
import type { Sync } from "./sync.js";
import type { Settled } from "./view-types.js";

export type Outgoing = {
  readonly queue: PendingQueue;
  submit(write: Write, placer: Placer | null): Promise<Settled>;
  resend(writeId: string): void;
  discard(writeId: string): void;
  /** How a pending write ends; at once where it has. */
  whenSettled(writeId: string): Promise<Settled>;
  /** Hands the writes that an earlier page left to a view. */
  adopt(view: Placer & { adopt(writes: readonly Write[]): void }): void;
  stream(id: EntryId): StreamWriter;
  /** The session is joined: everything that is not acknowledged goes out again. */
  sendAll(): void;
  appended(message: Extract<ServerMessage, { type: "appended" }>): void;
  appendRefused(id: EntryId, error: ErrorBody): void;
  /** The session was refused for good: what waits is refused with it, to be seen and retried (O2). */
  failAll(error: ErrorBody): void;
  /** Ends what waits for an answer here; the queue stays in its storage. */
  close(): void;
};

type OutgoingOptions = {
  readonly runtime: Runtime;
  readonly sync: Sync;
  readonly storage: QueueStorage | undefined;
  readonly storageKey: string;
  readonly send: (message: { type: "append"; ch: number } & AppendDraft) => ErrorBody | null;
  /** Null before the server has said who this is. */
  readonly getPrincipal: () => PrincipalId | null;
  /** A write was acknowledged, refused, added or taken away. */
  readonly onChange: (change: WriteChange) => void;
  readonly onStorageFault: (error: ErrorBody) => void;
};

const RETRY_MS = 1000;
/** Not the write's fault: it is sent again after the next join. */
const UNANSWERED: ReadonlySet<ErrorCode> = new Set(["offline", "not_joined"]);
export const createOutgoing = (options: OutgoingOptions): Outgoing => {
  const { sync, runtime, storage, storageKey, onChange } = options;
  const placers = new Map<string, Placer>();
  /** Those that were looked through and found fit to be sent. */
  const checked = new WeakSet<Write>();
  const settlers = new Map<string, ((settled: Settled) => void)[]>();
  const streams = new Map<EntryId, StreamControl>();
  /** Added and not tried yet, in order: one that a listener adds goes after the one that it heard of. */
  const toTry: Write[] = [];
  let isClosed = false;

  const keeper =
    storage === undefined ? null : createQueueKeeper(storage, storageKey, options.onStorageFault);
  const restored = keeper?.load() ?? [];

  const queue = createPendingQueue({
    restored,
    onChange: (change) => {
      if (change.after !== undefined) keeper?.keep(change.after);
      else keeper?.drop(change.id);
      onChange(change);
    },
  });

  const answer = (id: string, settled: Settled): void => {
    const waiting = settlers.get(id) ?? [];
    settlers.delete(id);
    for (const resolve of waiting) resolve(settled);
  };

  const settle = (id: string, settled: Settled): void => {
    placers.delete(id);
    answer(id, settled);
  };

  const untilSettled = (id: string): Promise<Settled> =>
    new Promise((resolve) => settlers.set(id, [...(settlers.get(id) ?? []), resolve]));

  const refuse = (id: string, error: ErrorBody): void => {
    queue.fail(id, error);
    answer(id, { ok: false, error });
    for (const { draft } of queue.get(id)?.items ?? []) streams.get(draft.id)?.refused(error);
  };

  const itemsOf = (write: Write): PublishItem[] =>
    write.items.map(({ draft, intent }, index) => {
      const place = placers.get(write.id)?.placeOf(write, index) ?? placeWithoutView(write, index);
      return intent === undefined || place === undefined ? { draft } : { draft, place };
    });

  const sendWrite = async (write: Write): Promise<void> => {
    const items = itemsOf(write);
    const reply = await sync.ask({
      type: "publish",
      items,
      ...(write.run === undefined ? {} : { run: write.run }),
    });
    if (reply.type === "ack") {
      queue.remove(write.id);
      const last = reply.entries.at(-1);
      settle(write.id, { ok: true, seq: last?.seq, parentId: last?.parentId });
    } else if (reply.type === "refused" && !UNANSWERED.has(reply.error.code)) {
      if (isStreamed(write) && isPassing(reply.error)) trySoon(write.id);
      else refuse(write.id, reply.error);
    }
  };

  /** The beginning of a stream has nobody to press a button: what passes is tried again. */
  const isStreamed = ({ items }: Write): boolean => items.some(({ draft }) => streams.has(draft.id));

  const trySoon = (id: string): void => {
    runtime.setTimer(RETRY_MS * (1 + runtime.random()), () => {
      const write = queue.get(id);
      if (write?.state === "pending" && !isClosed) trySend(write);
    });
  };

  /** What cannot be taken is refused here, at each try; what cannot be sent now waits for the next join. */
  const trySend = (write: Write): void => {
    const fault = (checked.has(write) ? null : writeFault(write)) ?? strangerFault(write);
    checked.add(write);
    if (fault !== null) refuse(write.id, fault);
    else if (sync.status === "live") void sendWrite(write);
    else if (sync.status === "failed" && sync.error !== null) refuse(write.id, sync.error);
  };

  /** What a storage kept for somebody else is not sent in this one's name. */
  const strangerFault = ({ id, by }: Write): ErrorBody | null => {
    const principal = options.getPrincipal();
    return by === undefined || principal === null || by === principal
      ? null
      : refusal("forbidden", `unable to send ${id}; ${by} wrote it, and this is ${principal}`);
  };

  const stream = (id: EntryId): StreamWriter => {
    const control = createStreamWriter({
      id,
      runtime,
      send: (append) => sync.ch !== null && options.send({ type: "append", ch: sync.ch, ...append }) === null,
      onSettled: () => void streams.delete(id),
    });
    if (isClosed) control.refused(SHUT);
    else streams.set(id, control);
    return control.writer;
  };

  /** The text of a stream that was refused is gone. Tried again it is ended at once: nothing streams for ever (S7). */
  const endLost = ({ items }: Write): void => {
    for (const { draft } of items)
      if (draft.status === "streaming" && !streams.has(draft.id)) void stream(draft.id).end("aborted");
  };

  const tryAdded = (): void => {
    for (let write = toTry.shift(); write !== undefined; write = toTry.shift()) trySend(write);
  };

  return {
    queue,
    submit: (write, placer) => {
      if (isClosed) return Promise.resolve({ ok: false, error: SHUT });
      if (placer !== null) placers.set(write.id, placer);
      const settled = untilSettled(write.id);
      const by = options.getPrincipal();
      const own: Write = by === null ? write : { ...write, by };
      toTry.push(own);
      queue.add(own);
      tryAdded();
      return settled;
    },
    resend: (id) => {
      const write = queue.get(id);
      if (write === undefined) return;
      trySend(write);
      if (queue.get(id)?.state === "pending") endLost(write);
    },
    discard: (id) => {
      const items = queue.get(id)?.items ?? [];
      queue.discard(id);
      const error = refusal("shut", `the write ${id} was discarded`);
      settle(id, { ok: false, error });
      for (const { draft } of items) streams.get(draft.id)?.abandon(error);
    },
    whenSettled: (id) => {
      if (isClosed) return Promise.resolve({ ok: false, error: SHUT });
      const write = queue.get(id);
      if (write === undefined) return Promise.resolve({ ok: true, seq: undefined, parentId: undefined });
      return write.error === null ? untilSettled(id) : Promise.resolve({ ok: false, error: write.error });
    },
    adopt: (view) => {
      const left = restored.flatMap(({ id }) => queue.get(id) ?? []).filter(({ id }) => !placers.has(id));
      for (const { id } of left) placers.set(id, view);
      view.adopt(left);
    },
    stream,
    sendAll: () => {
      for (const write of queue.all()) if (write.state === "pending") trySend(write);
      for (const stream of [...streams.values()]) stream.resume();
    },
    appended: ({ id, size, status }) => streams.get(id)?.acknowledged(size, status),
    appendRefused: (id, error) => {
      // While the publish itself is unanswered, its answer tells why the entry is not there.
      const isUnpublished = error.code === "not_found" && queue.get(id) !== undefined;
      if (!UNANSWERED.has(error.code) && !isUnpublished) streams.get(id)?.refused(error);
    },
    failAll: (error) => {
      for (const { id, state } of queue.all()) if (state === "pending") refuse(id, error);
      for (const stream of [...streams.values()]) stream.refused(error);
    },
    close: () => {
      isClosed = true;
      for (const id of [...settlers.keys()]) answer(id, { ok: false, error: SHUT });
      for (const stream of [...streams.values()]) stream.refused(SHUT);
    },
  };
};

/** Where a write goes that no view shows. */
const placeWithoutView = (write: Write, index: number): Place => {
  const intent = write.items[index]?.intent;
  const previous = write.items[index - 1];
  if (intent !== undefined && !("at" in intent)) return intent;
  return { after: previous === undefined ? (write.afterId ?? write.anchorId) : previous.draft.id };
};

/** What is no JSON cannot be sent at all (L6); what is too large is told by the connection. */
const writeFault = ({ id, items, run }: Write): ErrorBody | null => {
  const sent = [items.map(({ draft }) => draft), run ?? null];
  const fault = jsonFault(sent);
  if (fault !== null) return refusal("invalid", `unable to send ${id}; ${fault}`);
  return null;
};

const SHUT = refusal("shut", "unable to send; the session was closed here");
