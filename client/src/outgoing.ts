/**
 * What goes out of one session: writes in their order, and streams. Each is kept until it is
 * acknowledged, and sent again after every join (O1, O3); a repeat is harmless (L4).
 */
import {
  type EntryId,
  type ErrorBody,
  type ErrorCode,
  jsonFault,
  MESSAGE_BYTES,
  type Place,
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
import { createStreamWriter, type StreamControl, type StreamWriter } from "./stream-writer.js";
import type { Sync } from "./sync.js";
import type { Settled } from "./view-types.js";

export type Outgoing = {
  readonly queue: PendingQueue;
  submit(write: Write, placer: Placer | null): Promise<Settled>;
  resend(writeId: string): void;
  discard(writeId: string): void;
  /** Hands the writes that an earlier page left to a view. */
  adopt(view: Placer & { adopt(writes: readonly Write[]): void }): void;
  stream(id: EntryId): StreamWriter;
  /** The session is joined: everything that is not acknowledged goes out again. */
  sendAll(): void;
  appended(message: Extract<ServerMessage, { type: "appended" }>): void;
  appendRefused(id: EntryId, error: ErrorBody): void;
  /** Ends what waits for an answer here; the queue stays in its storage. */
  close(): void;
};

type OutgoingOptions = {
  readonly runtime: Runtime;
  readonly sync: Sync;
  readonly storage: QueueStorage | undefined;
  readonly storageKey: string;
  readonly send: (
    message: { type: "append"; ch: number } & Parameters<Parameters<typeof createStreamWriter>[0]["send"]>[0],
  ) => boolean;
  /** A write was acknowledged, refused, added or taken away. */
  readonly onChange: (change: WriteChange) => void;
  readonly onStorageFault: (error: ErrorBody) => void;
};

/** Not the write's fault: it is sent again after the next join. */
const UNANSWERED: ReadonlySet<ErrorCode> = new Set(["offline", "not_joined"]);
/** Room for what the message holds beside the write. */
const MAX_WRITE_LENGTH = MESSAGE_BYTES - 4096;

export const createOutgoing = (options: OutgoingOptions): Outgoing => {
  const { sync, runtime, storage, storageKey, onChange } = options;
  const placers = new Map<string, Placer>();
  /** Those that were looked through and found fit to be sent. */
  const checked = new WeakSet<Write>();
  const settlers = new Map<string, (settled: Settled) => void>();
  const streams = new Map<EntryId, StreamControl>();

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

  const settle = (id: string, settled: Settled): void => {
    const resolve = settlers.get(id);
    settlers.delete(id);
    placers.delete(id);
    resolve?.(settled);
  };

  const refuse = (id: string, error: ErrorBody): void => {
    queue.fail(id, error);
    const resolve = settlers.get(id);
    settlers.delete(id);
    resolve?.({ ok: false, error });
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
    } else if (reply.type === "refused" && !UNANSWERED.has(reply.error.code)) refuse(write.id, reply.error);
  };

  /** What cannot be taken is refused here, at each try; what cannot be sent now waits for the next join. */
  const trySend = (write: Write): void => {
    const fault = checked.has(write) ? null : writeFault(write);
    checked.add(write);
    if (fault !== null) refuse(write.id, fault);
    else if (sync.status === "live") void sendWrite(write);
  };

  return {
    queue,
    submit: (write, placer) => {
      if (placer !== null) placers.set(write.id, placer);
      const settled = new Promise<Settled>((resolve) => settlers.set(write.id, resolve));
      queue.add(write);
      trySend(write);
      return settled;
    },
    resend: (id) => {
      const write = queue.get(id);
      if (write !== undefined) trySend(write);
    },
    discard: (id) => {
      const items = queue.get(id)?.items ?? [];
      queue.discard(id);
      const error = refusal("shut", `the write ${id} was discarded`);
      settle(id, { ok: false, error });
      for (const { draft } of items) streams.get(draft.id)?.abandon(error);
    },
    adopt: (view) => {
      const left = restored.flatMap(({ id }) => queue.get(id) ?? []).filter(({ id }) => !placers.has(id));
      for (const { id } of left) placers.set(id, view);
      view.adopt(left);
    },
    stream: (id) => {
      const control = createStreamWriter({
        id,
        runtime,
        send: (append) => sync.ch !== null && options.send({ type: "append", ch: sync.ch, ...append }),
        onSettled: () => void streams.delete(id),
      });
      streams.set(id, control);
      return control.writer;
    },
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
    close: () => {
      const error = refusal("shut", "unable to wait for the answer; the session was closed here");
      for (const resolve of settlers.values()) resolve({ ok: false, error });
      settlers.clear();
      for (const stream of [...streams.values()]) stream.refused(error);
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

/** What the server would not take at all is refused here, so that it cannot end the connection (L6). */
const writeFault = ({ id, items, run }: Write): ErrorBody | null => {
  const sent = [items.map(({ draft }) => draft), run ?? null];
  const fault = jsonFault(sent);
  if (fault !== null) return refusal("invalid", `unable to send ${id}; ${fault}`);
  const bytes = new TextEncoder().encode(JSON.stringify(sent)).length;
  return bytes > MAX_WRITE_LENGTH
    ? refusal("too_large", `unable to send ${id}; it takes ${bytes} bytes of at most ${MAX_WRITE_LENGTH}`)
    : null;
};
