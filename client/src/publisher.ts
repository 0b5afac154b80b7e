/** The writing side of a session that needs no view: batches, streams, and what a held run may do. */
import {
  type Draft,
  type EntryId,
  type ErrorBody,
  type MessageDraft,
  type Place,
  pathTo,
  type Run,
  type RunId,
  type Runtime,
} from "@espalier/shared";
import type { Outgoing } from "./outgoing.js";
import type { Write } from "./pending.js";
import type { Replica } from "./replica.js";
import { errorOf } from "./requests.js";
import type { Load } from "./session-loads.js";
import type { HeldRun, Session, StreamDraft } from "./session-types.js";
import type { StreamWriter } from "./stream-writer.js";
import type { Sync } from "./sync.js";
import type { Settled } from "./view-types.js";

export type Publisher = {
  publish(items: Write["items"]): Promise<Settled>;
  /** Without a place it goes where the run writes. */
  stream(draft: StreamDraft, place: Place | undefined, runId?: RunId): StreamWriter;
  readonly loadPath: Session["loadPath"];
  /** What the holder of a claimed run may do with it. */
  hold(run: Run): HeldRun;
};

type PublisherOptions = {
  readonly runtime: Runtime;
  readonly replica: Replica;
  readonly outgoing: Outgoing;
  readonly sync: Sync;
  /** Loads into the replica. */
  readonly load: Load;
  readonly openSidechain: Session["sidechain"];
};

const PAGE_LIMIT = 1000;

export const createPublisher = (options: PublisherOptions): Publisher => {
  const { runtime, replica, outgoing, sync, load, openSidechain } = options;
  const newEntryId = (): EntryId => runtime.newId() as EntryId;

  const publish = (items: Write["items"]): Promise<Settled> => {
    const [first] = items;
    if (first === undefined) return Promise.resolve({ ok: true, seq: undefined, parentId: undefined });
    const write: Write = {
      id: first.draft.id,
      items,
      run: undefined,
      anchorId: null,
      afterId: undefined,
      formerLeafId: undefined,
      state: "pending",
      error: null,
      time: runtime.now(),
    };
    return outgoing.submit(write, null);
  };

  const stream: Publisher["stream"] = (draft, place, runId) => {
    const id = newEntryId();
    const writer = outgoing.stream(id);
    const whole: MessageDraft = {
      role: "assistant",
      parts: [],
      ...draft,
      id,
      type: "message",
      status: "streaming",
      ...(runId === undefined ? {} : { runId }),
    };
    void publish([{ draft: whole, intent: place }]);
    return writer;
  };

  /** Walks anew after each page: meanwhile the replica may have been given a fresh window. */
  const loadPath: Session["loadPath"] = async (leafId) => {
    for (;;) {
      const leaf = replica.tree.get(leafId);
      const path = leaf === undefined ? [] : pathTo(leaf);
      const [top] = path;
      if (top?.entry.parentId === null) return path.map(({ entry }) => entry);
      const reply = await load(
        top === undefined
          ? { type: "line", candidates: [leafId], walk: "stay", limit: PAGE_LIMIT }
          : { type: "page", before: top.entry.id, limit: PAGE_LIMIT },
      );
      if (reply.type !== "window") return errorOf(reply) as ErrorBody;
    }
  };

  const hold = (run: Run): HeldRun => {
    const streams: StreamWriter[] = [];
    return {
      run,
      get error() {
        return streams.find(({ error }) => error !== null)?.error ?? null;
      },
      stream: (draft = {}) => {
        const writer = stream(draft, undefined, run.id);
        streams.push(writer);
        return writer;
      },
      publish: (draft) => {
        const whole = { ...draft, id: draft.id ?? newEntryId(), runId: run.id } as Draft;
        return publish([{ draft: whole, intent: undefined }]);
      },
      sidechain: openSidechain,
      history: async () => (run.inputId === null ? [] : loadPath(run.inputId)),
      end: async (status = "done", details = {}) =>
        errorOf(await sync.askUntilAnswered({ type: "end", id: run.id, status, ...details })),
    };
  };

  return {
    publish,
    stream,
    loadPath,
    hold,
  };
};
