/** What a command is, and what deciding it gives. */
import type {
  AppendDraft,
  EntryId,
  EntryStatus,
  ErrorBody,
  ErrorCode,
  Json,
  LogRecord,
  PlacedEntry,
  PublishItem,
  Run,
  RunId,
  RunRequest,
  Seq,
  Usage,
} from "@espalier/shared";
import type { Actor } from "../principal.js";
import type { SessionState } from "../state.js";

export type Command =
  | {
      readonly type: "publish";
      readonly items: readonly PublishItem[];
      readonly run?: RunRequest | undefined;
    }
  | { readonly type: "append"; readonly append: AppendDraft }
  | { readonly type: "claim"; readonly id: RunId }
  | {
      readonly type: "end";
      readonly id: RunId;
      readonly status: "done" | "failed";
      readonly usage?: Usage | undefined;
      readonly error?: ErrorBody | undefined;
    }
  | { readonly type: "register"; readonly key: string; readonly value: Json }
  /** `shared`: the entry that the session shares with its origin; one of its own of that id is another (L3). */
  | { readonly type: "erase"; readonly id: EntryId; readonly which: "any" | "shared" };

export type Answer =
  | { readonly type: "placed"; readonly entries: readonly PlacedEntry[]; readonly run?: Run | undefined }
  | {
      readonly type: "appended";
      readonly id: EntryId;
      readonly size: number;
      readonly status: EntryStatus;
    };

export type Decision =
  | { readonly type: "accepted"; readonly records: readonly LogRecord[]; readonly answer: Answer }
  | { readonly type: "refused"; readonly error: ErrorBody };

export type Context = { readonly state: SessionState; readonly actor: Actor; readonly now: number };

export const refused = (code: ErrorCode, message: string, more?: { size: number }): Decision => ({
  type: "refused",
  error: more === undefined ? { code, message } : { code, message, size: more.size },
});

export const accepted = (records: readonly LogRecord[], answer: Answer): Decision => ({
  type: "accepted",
  records,
  answer,
});

/** Gives the seqs that follow a head, one after the other (L1). */
export const seqsAfter = (head: number): (() => Seq) => {
  let last = head;
  return () => {
    last += 1;
    return last as Seq;
  };
};
