/**
 * Reads a JSONL file that is larger than memory: once from end to end, a record at a time, and then any
 * record again by its place. Lines end at `\n` only: U+2028 is legal inside JSON. What cannot be read is
 * reported by the number of its line and passed over.
 */
import type { Json } from "@espalier/shared";
import type { Report, SourceFile } from "./foreign.js";
import { type IsRecord, type LineFault, type LineValues, valuesOfLine } from "./jsonl-line.js";
import { unableToRead } from "./unable.js";

/** Where a record stands. Lines count from 1; `part` tells apart those that share a line. */
export type Place = {
  readonly line: number;
  readonly offset: number;
  readonly length: number;
  readonly part: number;
};

export const whereOf = ({ line }: Place): string => `line ${line}`;

/** A line longer than this is not read: nobody wrote it as a record, and it would not fit in memory. */
const MAX_LINE_BYTES = 128 * 1024 * 1024;
const LINE_FEED = 10;

type Line = {
  readonly bytes: Uint8Array | null;
  readonly line: number;
  readonly offset: number;
  readonly length: number;
  readonly isLast: boolean;
};

const REPORTS: Readonly<Record<LineFault, string>> = {
  several: "two records on one line",
  glued: "a cut-off record and a whole one on one line; the whole one is kept",
  bad: "not JSON; skipped",
};

/** Hands each record to `take`, in file order, and never holds more than one of them. */
export const scanJsonl = async (
  file: SourceFile,
  isRecord: IsRecord,
  report: Report,
  take: (value: unknown, place: Place) => void,
): Promise<void> => {
  let bad = 0;
  const onBad = (where: string): void => {
    bad += 1;
    if (bad <= MAX_BAD_TOLD) report(`${where}: ${REPORTS.bad}`);
  };
  await eachLine(file, (line) => {
    const values = readLine(line, isRecord, report, onBad);
    const { line: number, offset, length } = line;
    for (const [part, value] of values.entries()) take(value, { line: number, offset, length, part });
  });
  if (bad > MAX_BAD_TOLD) report(`and ${bad - MAX_BAD_TOLD} more lines: ${REPORTS.bad}`);
};

/** A file of another format may have nothing but such lines. */
const MAX_BAD_TOLD = 20;

const readLine = (
  line: Line,
  isRecord: IsRecord,
  report: Report,
  onBad: (where: string) => void,
): readonly unknown[] => {
  const where = `line ${line.line}`;
  if (line.bytes === null) {
    report(`${where}: longer than ${MAX_LINE_BYTES} bytes; skipped`);
    return [];
  }
  const { text, isUtf8 } = decode(line.bytes);
  if (text.trim() === "") return [];
  const { values, fault } = valuesOfLine(text, isRecord);
  if (!isUtf8 && values.length > 0) report(`${where}: bytes that are not UTF-8; replaced by U+FFFD`);
  if (fault === "bad" && line.isLast) report(`${where}: torn last line; skipped`);
  else if (fault === "bad") onBad(where);
  else if (fault !== null) report(`${where}: ${REPORTS[fault]}`);
  return values;
};

const strict = new TextDecoder("utf-8", { fatal: true });
const lenient = new TextDecoder("utf-8");

const decode = (bytes: Uint8Array): { text: string; isUtf8: boolean } => {
  try {
    return { text: strict.decode(bytes), isUtf8: true };
  } catch {
    return { text: lenient.decode(bytes), isUtf8: false };
  }
};

/** `isLast` is a line that no `\n` ends. */
const eachLine = async (file: SourceFile, take: (line: Line) => void): Promise<void> => {
  let held: Uint8Array[] = [];
  let length = 0;
  let offset = 0;
  let number = 1;

  const end = (last: Uint8Array, isLast: boolean): void => {
    const total = length + last.length;
    const bytes = total > MAX_LINE_BYTES ? null : joined(held, last, total);
    take({ bytes, line: number, offset, length: total, isLast });
    held = [];
    length = 0;
    offset += total + 1;
    number += 1;
  };

  for await (const chunk of file.read()) {
    let from = 0;
    for (let to = chunk.indexOf(LINE_FEED); to !== -1; to = chunk.indexOf(LINE_FEED, from)) {
      end(chunk.subarray(from, to), false);
      from = to + 1;
    }
    if (from === chunk.length) continue;
    length += chunk.length - from;
    if (length > MAX_LINE_BYTES) held = [];
    else held.push(chunk.slice(from));
  }
  if (length > 0) end(new Uint8Array(0), true);
};

const joined = (held: readonly Uint8Array[], last: Uint8Array, total: number): Uint8Array => {
  if (held.length === 0) return last;
  const whole = new Uint8Array(total);
  let at = 0;
  for (const piece of [...held, last]) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
};

const BLOCK_BYTES = 256 * 1024;
const MAX_BLOCKS = 8;

/** Reads a record again; those that lie near each other are read together. */
export type RecordReader = (place: Place) => Promise<unknown>;

export const createRecordReader = (file: SourceFile, isRecord: IsRecord): RecordReader => {
  /** Oldest first. */
  const blocks = new Map<number, Uint8Array>();

  const blockAt = async (index: number): Promise<Uint8Array> => {
    const held = blocks.get(index);
    if (held !== undefined) return held;
    const block = await bytesOf(file, index * BLOCK_BYTES, Math.min(file.size, (index + 1) * BLOCK_BYTES));
    blocks.set(index, block);
    for (const oldest of blocks.keys()) if (blocks.size > MAX_BLOCKS) blocks.delete(oldest);
    return block;
  };

  const bytesAt = async (from: number, to: number): Promise<Uint8Array> => {
    if (to - from > BLOCK_BYTES) return bytesOf(file, from, to);
    const index = Math.floor(from / BLOCK_BYTES);
    const start = from - index * BLOCK_BYTES;
    const block = await blockAt(index);
    const inside = block.subarray(start, start + to - from);
    if (start + to - from <= BLOCK_BYTES) return inside;
    const after = (await blockAt(index + 1)).subarray(0, to - (index + 1) * BLOCK_BYTES);
    return joined([inside], after, inside.length + after.length);
  };

  const valuesAt = async ({ offset, length }: Place): Promise<LineValues> =>
    valuesOfLine(decode(await bytesAt(offset, offset + length)).text, isRecord);

  return async (place) => {
    const { values } = await valuesAt(place);
    if (place.part in values) return values[place.part];
    throw unableToRead(file, "it changed while it was read");
  };
};

const bytesOf = async (file: SourceFile, from: number, to: number): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of file.read(from, to)) {
    pieces.push(piece);
    total += piece.length;
  }
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : joined(pieces, new Uint8Array(0), total);
};

/** It goes into a register. */
const MAX_SMALL_BYTES = 32 * 1024;

/** A small file beside the one that is imported, as the value that it holds; undefined where it holds none. */
export const readSmallJson = async (file: SourceFile): Promise<Json | undefined> => {
  if (file.size > MAX_SMALL_BYTES) return undefined;
  try {
    return JSON.parse(decode(await bytesOf(file, 0, file.size)).text) as Json;
  } catch {
    return undefined;
  }
};

/** The records in the first bytes of a file; a line that they cut off is passed over. */
export const firstRecords = (firstBytes: Uint8Array): readonly unknown[] => {
  const { text } = decode(firstBytes);
  const lines = text.split("\n", MAX_FIRST_LINES);
  return lines.flatMap((line) => valuesOfLine(line, () => false).values);
};
const MAX_FIRST_LINES = 20;
