/**
 * The lines of a session's file, and the one pass that reads them. First the header, then one record a
 * line; a line of kind `epoch` begins a new epoch, with seqs above its floor (D2). A line ends at `\n`
 * and at nothing else. What a record holds is not checked here: a newer program may have written kinds
 * and fields that this one does not know, and they are kept (L5).
 */
import { isUtf8 } from "node:buffer";
import {
  type Epoch,
  type ErrorBody,
  isId,
  isSessionId,
  type LogRecord,
  type Origin,
  refusal,
  type SessionId,
} from "@espalier/shared";
import { startOf } from "../heads.js";
import type { LogHeader } from "../log-store.js";

const SESSION_VERSION = 1;

export const headerLine = (id: SessionId, epoch: Epoch, header: LogHeader): string => {
  const { createdAt, origin, inherited, asked } = header;
  const line = { kind: "session", version: SESSION_VERSION, id, createdAt, epoch, origin, inherited, asked };
  return `${JSON.stringify(line)}\n`;
};

export const epochLine = (epoch: Epoch, floor: number): string =>
  `${JSON.stringify({ kind: "epoch", epoch, floor })}\n`;

export const recordLines = (records: readonly LogRecord[]): string => {
  let text = "";
  for (const record of records) text += `${JSON.stringify(record)}\n`;
  return text;
};

/** How far a log was read: after some whole lines. */
export type LogPlace = {
  readonly header: LogHeader;
  readonly epoch: Epoch;
  /** The highest seq, or the epoch's floor, or what it shares, where that is higher. */
  readonly head: number;
  readonly lines: number;
  readonly length: number;
};

export const LOG_START: LogPlace = {
  header: { createdAt: 0 },
  epoch: "" as Epoch,
  head: 0,
  lines: 0,
  length: 0,
};

export type LogScan =
  /** `torn` bytes after the place are no whole line; where `isWhole`, only their `\n` is missing. */
  | { readonly type: "ok"; readonly place: LogPlace; readonly torn: number; readonly isWhole: boolean }
  | { readonly type: "fault"; readonly error: ErrorBody };

type MutablePlace = { -readonly [K in keyof LogPlace]: LogPlace[K] };

export type LogVisitor = {
  header?(header: LogHeader): void;
  record(record: LogRecord): void;
};

/** Reads on from a place; `bytes` begin there. Visits what is there in order, up to the first fault. */
export const scanLog = (
  id: SessionId,
  path: string,
  bytes: Buffer,
  from: LogPlace,
  visitor: LogVisitor,
): LogScan => {
  const place: MutablePlace = { ...from };
  const isSound = isUtf8(bytes);
  let at = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, at)) {
    const fault = isSound || isUtf8(bytes.subarray(at, end)) ? null : damage("it is not UTF-8");
    const refused = fault ?? readLine(id, bytes.toString("utf8", at, end), place, visitor);
    if (refused !== null) return { type: "fault", error: named(refused, id, path, place.lines + 1) };
    place.lines += 1;
    at = end + 1;
    place.length = from.length + at;
  }
  const rest = bytes.subarray(at);
  const isWhole =
    rest.length > 0 && isUtf8(rest) && readLine(id, rest.toString(), { ...place }, IGNORANT) === null;
  return { type: "ok", place, torn: rest.length, isWhole };
};

const NEWLINE = 0x0a;
/** Looks at nothing. */
export const IGNORANT: LogVisitor = { record: () => {} };

type LineFault = { readonly code: "damaged" | "newer_version"; readonly reason: string };
const damage = (reason: string): LineFault => ({ code: "damaged", reason });

const named = ({ code, reason }: LineFault, id: SessionId, path: string, line: number): ErrorBody =>
  refusal(code, `unable to open ${id}; line ${line} of ${path}: ${reason}`);

const readLine = (
  id: SessionId,
  text: string,
  place: MutablePlace,
  visitor: LogVisitor,
): LineFault | null => {
  const line = parseObject(text);
  if (line === null) return damage("it is not a JSON object");
  if (place.length === 0) return readHeader(id, line, place, visitor);
  if (line.kind === "epoch") return readEpoch(line, place);
  if (typeof line.kind !== "string") return damage("it has no kind");
  if (!isAbove(line.seq, place.head)) return damage(`its seq does not rise above ${place.head}`);
  place.head = line.seq;
  visitor.record(line as unknown as LogRecord);
  return null;
};

const readHeader = (
  id: SessionId,
  line: Line,
  place: MutablePlace,
  visitor: LogVisitor,
): LineFault | null => {
  if (line.kind !== "session" || typeof line.version !== "number")
    return damage("it is not a session's header");
  if (line.version > SESSION_VERSION) {
    return {
      code: "newer_version",
      reason: `it has version ${line.version}, and this program knows ${SESSION_VERSION}`,
    };
  }
  if (line.id !== id) return damage("it is the header of another session");
  if (!isId(line.epoch)) return damage("its epoch is not an id");
  const header = toHeader(line);
  if (header === null) return damage("it does not say where the session comes from");
  place.header = header;
  place.epoch = line.epoch;
  place.head = startOf(header);
  visitor.header?.(header);
  return null;
};

const toHeader = ({ createdAt, origin, inherited = 0, asked }: Line): LogHeader | null => {
  if (typeof createdAt !== "number" || !isCount(inherited)) return null;
  if (origin !== undefined && !isOrigin(origin)) return null;
  return {
    createdAt,
    ...(origin === undefined ? {} : { origin }),
    ...(inherited === 0 ? {} : { inherited }),
    ...(isAsked(asked) ? { asked } : {}),
  };
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** What else it holds is kept as it is (L5). */
const isOrigin = (value: unknown): value is Origin => {
  const { session } = (value ?? {}) as { session?: unknown };
  return session === null || isSessionId(session);
};

/** Anything else is as if it had not been noted. */
const isAsked = (value: unknown): value is LogHeader["asked"] & object => {
  const { entry, mode } = (value ?? {}) as { entry?: unknown; mode?: unknown };
  return (entry === null || isId(entry)) && (mode === "copy" || mode === "share");
};

const readEpoch = (line: Line, place: MutablePlace): LineFault | null => {
  if (!isId(line.epoch)) return damage("its epoch is not an id");
  if (!isAbove(line.floor, place.head)) return damage(`its floor is not above ${place.head}`);
  place.epoch = line.epoch;
  place.head = line.floor;
  return null;
};

type Line = { readonly [key: string]: unknown };

const isAbove = (value: unknown, head: number): value is number =>
  Number.isSafeInteger(value) && (value as number) > head;

const parseObject = (text: string): Line | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Line) : null;
  } catch {
    return null;
  }
};
