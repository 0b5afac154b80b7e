/**
 * The writing end of a streaming message (S1, S2, S9). Appends are sent at once and never awaited; what is
 * not acknowledged is kept, in memory, and sent again after a drop. Nothing here throws into the caller's
 * loop: the first failure is held in `error`.
 */
import {
  type AppendDraft,
  type Delta,
  type EntryId,
  type EntryStatus,
  type ErrorBody,
  jsonFault,
  type Part,
  pushDelta,
  type Runtime,
  refusal,
  sizeOfDelta,
  sizeOfDeltas,
  takeDeltas,
  trimDeltas,
  type Usage,
} from "@espalier/shared";
import { isPassing } from "./requests.js";
import { endsInHalfPair, MAX_PART_LENGTH, takeChunk } from "./stream-chunks.js";
import type { Settled } from "./view-types.js";

/** What may wait for acknowledgement, in UTF-16 code units; past it the writer fails. */
export const MAX_UNACKNOWLEDGED = 8 * 1024 * 1024;

/** Between two tries of what the server could not take; spread up to twice that. */
const RETRY_MS = 1000;

export type EndStatus = Exclude<EntryStatus, "streaming">;

export type StreamWriter = {
  readonly id: EntryId;
  /** The first failure, or null. After one, nothing more is sent. */
  readonly error: ErrorBody | null;
  /**
   * Why the server cannot take it just now (a full disk, say), or null. What was written is kept in memory and
   * sent again until it does: the caller need do nothing, but may want to know.
   */
  readonly trouble: ErrorBody | null;
  /** Adds text to the last part, or to part `part`. */
  append(text: string, part?: number): void;
  /** Begins a new part, such as a tool call. */
  push(part: Part): void;
  /** Changes fields of a part, such as a tool call's state. */
  set(part: number, fields: Record<string, unknown>): void;
  /** Ends the message; resolves when everything is on the server's disk, or has failed. */
  end(status?: EndStatus, usage?: Usage): Promise<Settled>;
};

export type StreamControl = {
  readonly writer: StreamWriter;
  /** Sends what is not acknowledged again: there is a new connection. */
  resume(): void;
  acknowledged(size: number, status: EntryStatus): void;
  refused(error: ErrorBody): void;
  /** It was given up here. */
  abandon(error: ErrorBody): void;
};

type StreamOptions = {
  readonly id: EntryId;
  readonly runtime: Runtime;
  /** False where there is no connection; it is asked again by `resume`. */
  readonly send: (append: AppendDraft) => boolean;
  readonly onSettled: () => void;
};

export const createStreamWriter = ({ id, runtime, send, onSettled }: StreamOptions): StreamControl => {
  /** From `acknowledgedSize` to `size`. */
  let kept: Delta[] = [];
  let acknowledgedSize = 0;
  let sentSize = 0;
  let size = 0;
  let ending: { status: EndStatus; usage: Usage | undefined } | null = null;
  let isEndSent = false;
  let error: ErrorBody | null = null;
  let trouble: ErrorBody | null = null;
  let isDone = false;
  let isPacing = false;
  let isRetrying = false;
  /** There was no connection; `resume` tells when there is one. */
  let isOffline = false;
  /** Half of a surrogate pair, whose other half is in the next text (S2). */
  let carry: { text: string; part: number | undefined } | null = null;
  /** The position that a gap sent us back to; further refusals of what was on its way name it too. */
  let rewoundTo: number | null = null;
  let settle: (settled: Settled) => void = () => {};
  const settled = new Promise<Settled>((resolve) => {
    settle = resolve;
  });

  const finish = (outcome: Settled): void => {
    if (isDone) return;
    isDone = true;
    trouble = null;
    kept = [];
    settle(outcome);
    onSettled();
  };

  /** The server refused it: nothing more can come of it. */
  const fail = (cause: ErrorBody): void => {
    error ??= cause;
    finish({ ok: false, error: cause });
  };

  /** It cannot go on from here: what was sent stands, and is ended, so that it does not stream for ever (S7). */
  const giveUp = (cause: ErrorBody, status: EndStatus): void => {
    if (error !== null || isDone) return;
    error = cause;
    settle({ ok: false, error: cause });
    kept = [...takeDeltas(kept, sentSize - acknowledgedSize)];
    size = sentSize;
    ending = { status, usage: undefined };
    isEndSent = false;
    sendRest();
  };

  const sendRest = (): void => {
    while (!isDone && !isOffline && (sentSize < size || (ending !== null && !isEndSent))) {
      const deltas = takeChunk(trimDeltas(kept, sentSize - acknowledgedSize));
      const end = sentSize + sizeOfDeltas(deltas);
      const isLast = end === size;
      const append: AppendDraft = {
        id,
        at: sentSize,
        deltas,
        ...(ending === null || !isLast ? {} : { status: ending.status }),
        ...(ending?.usage === undefined || !isLast ? {} : { usage: ending.usage }),
      };
      isOffline = !send(append);
      if (isOffline) return;
      sentSize = end;
      isEndSent = ending !== null && isLast;
    }
  };

  /** The server could not take it just now: everything from the last acknowledgement goes out again (S9). */
  const trySoon = (): void => {
    if (isRetrying || isDone) return;
    isRetrying = true;
    runtime.setTimer(RETRY_MS * (1 + runtime.random()), () => {
      isRetrying = false;
      if (isOffline || isDone) return;
      rewind();
      sendRest();
    });
  };

  const rewind = (): void => {
    sentSize = acknowledgedSize;
    isEndSent = false;
    rewoundTo = null;
  };

  /** The first goes out at once; what follows in the same turn is sent together. */
  const pace = (): void => {
    if (isPacing) return;
    isPacing = true;
    sendRest();
    runtime.defer(() => {
      isPacing = false;
      sendRest();
    });
  };

  const add = (delta: Delta): void => {
    const length = sizeOfDelta(delta);
    if (error !== null) return;
    if (ending !== null) {
      // What came before the end is sent all the same.
      error = refusal("closed", `unable to append to ${id}; it was ended`);
      return;
    }
    const fault = "text" in delta ? null : jsonFault(delta);
    if (fault !== null) return giveUp(refusal("invalid", `unable to append to ${id}; ${fault}`), "failed");
    if (!("text" in delta) && JSON.stringify(delta).length > MAX_PART_LENGTH)
      return giveUp(
        refusal("too_large", `unable to append to ${id}; a part holds at most ${MAX_PART_LENGTH}`),
        "failed",
      );
    if (size - acknowledgedSize + length > MAX_UNACKNOWLEDGED)
      return giveUp(
        refusal("overloaded", `unable to append to ${id}; too much is not acknowledged`),
        "failed",
      );
    pushDelta(kept, delta);
    size += length;
    pace();
  };

  const addText = (text: string, part: number | undefined): void => {
    if (text.length > 0) add(part === undefined ? { text } : { text, part });
  };

  const releaseCarry = (): void => {
    const held = carry;
    carry = null;
    if (held !== null) addText("\uFFFD", held.part);
  };

  return {
    writer: {
      id,
      get error() {
        return error;
      },
      get trouble() {
        return trouble;
      },
      append: (text, part) => {
        let whole = text;
        if (carry !== null && carry.part === part) {
          whole = carry.text + text;
          carry = null;
        } else releaseCarry();
        if (endsInHalfPair(whole)) {
          carry = { text: whole.slice(-1), part };
          whole = whole.slice(0, -1);
        }
        addText(whole.toWellFormed(), part);
      },
      push: (part) => {
        releaseCarry();
        add({ push: part });
      },
      set: (part, fields) => {
        releaseCarry();
        add({ set: fields as never, part });
      },
      end: (status = "complete", usage) => {
        releaseCarry();
        if (ending === null && error === null) {
          ending = { status, usage };
          sendRest();
        }
        return settled;
      },
    },
    resume: () => {
      isOffline = false;
      rewind();
      sendRest();
    },
    acknowledged: (upTo, status) => {
      trouble = null;
      rewoundTo = null;
      if (upTo > acknowledgedSize) {
        kept = [...trimDeltas(kept, upTo - acknowledgedSize)];
        acknowledgedSize = upTo;
        sentSize = Math.max(sentSize, upTo);
      }
      if (status === "streaming" || ending === null) return;
      // It was ended for this writer, before all of it had come (S7).
      if (upTo < size || status !== ending.status)
        return fail(refusal("closed", `unable to end ${id}; it was ended as ${status} already`));
      finish({ ok: true, seq: undefined, parentId: undefined });
    },
    abandon: (cause) => giveUp(cause, "aborted"),
    refused: (cause) => {
      if (isPassing(cause)) {
        trouble ??= cause;
        return trySoon();
      }
      if (cause.code !== "gap" || cause.size === undefined) return fail(cause);
      // Somebody else wrote, or what was acknowledged is gone: it cannot be gone on with.
      if (cause.size < acknowledgedSize || cause.size > size) return fail(cause);
      if (rewoundTo === cause.size) return;
      rewoundTo = cause.size;
      sentSize = cause.size;
      isEndSent = false;
      sendRest();
    },
  };
};
