/** Records in one line each, for the tests of what is folded from them. */
import type {
  Append,
  Delta,
  EntryId,
  LogRecord,
  MessageEntry,
  Part,
  PrincipalId,
  Register,
  Run,
  RunId,
  Seq,
} from "@espalier/shared";

export const id = (name: string): EntryId => name as EntryId;
export const seq = (value: number): Seq => value as Seq;

const AUTHOR = "ann" as PrincipalId;

/** A message that is complete, unless `more` says otherwise. */
export const message = (
  name: string,
  parent: string | null,
  at: number,
  more: Partial<MessageEntry> = {},
): MessageEntry => ({
  kind: "entry",
  id: id(name),
  parentId: parent === null ? null : id(parent),
  seq: seq(at),
  rev: seq(at),
  time: 1000 + at,
  author: AUTHOR,
  status: "complete",
  size: 0,
  type: "message",
  role: "user",
  parts: [],
  ...more,
});

export const streaming = (
  name: string,
  parent: string | null,
  at: number,
  parts: Part[] = [],
): MessageEntry => message(name, parent, at, { status: "streaming", role: "assistant", parts });

export const append = (
  name: string,
  atSeq: number,
  at: number,
  deltas: (Delta | string)[],
  more: Partial<Append> = {},
): Append => ({
  kind: "append",
  id: id(name),
  seq: seq(atSeq),
  time: 1000 + atSeq,
  at,
  deltas: deltas.map((delta) => (typeof delta === "string" ? { text: delta } : delta)),
  ...more,
});

export const run = (name: string, atSeq: number, status: Run["status"], more: Partial<Run> = {}): Run => ({
  kind: "run",
  id: name as RunId,
  seq: seq(atSeq),
  rev: seq(atSeq),
  time: 1000 + atSeq,
  status,
  inputId: null,
  place: { after: null },
  ...more,
});

export const register = (key: string, atSeq: number, value: Register["value"]): Register => ({
  kind: "register",
  key,
  value,
  seq: seq(atSeq),
  time: 1000 + atSeq,
  author: AUTHOR,
});

/** A record of a newer version, which this one has no type for. */
export const unknownRecord = (record: object): LogRecord => record as LogRecord;
