/**
 * A frame of the journal: what one turn appended to any number of sessions, whole or not at all.
 *
 *     u32 length of the payload | u32 checksum | payload: u32 length of the head | head | lines
 *
 * Numbers are little-endian. The head is JSON: `[session, offset, length]` for each chunk of lines, in
 * the order in which the lines follow. The first frame of a segment has the segment's header as its
 * head, and no lines. The checksum is the payload's CRC-32, started from its length.
 */
import { crc32 } from "node:zlib";
import { isSessionId, type SessionId } from "@espalier/shared";

/** Whole lines, and where they stand in their session's file. */
export type Chunk = { readonly id: SessionId; readonly offset: number; readonly bytes: Buffer };

/** Lines as they are put in; `length` is that of the text in UTF-8. */
export type ChunkText = {
  readonly id: SessionId;
  readonly offset: number;
  readonly length: number;
  readonly text: string;
};

const PREFIX_BYTES = 8;
const HEAD_LENGTH_BYTES = 4;

/** The frame, and where in it the lines of the first chunk begin; those of the others follow. */
export const encodeFrame = (chunks: readonly ChunkText[]): { frame: Buffer; linesAt: number } => {
  let linesLength = 0;
  let text = "";
  for (const chunk of chunks) {
    linesLength += chunk.length;
    text += chunk.text;
  }
  const head = JSON.stringify(chunks.map(({ id, offset, length }) => [id, offset, length]));
  const frame = encodePayload(head, text, linesLength);
  return { frame, linesAt: frame.length - linesLength };
};

/** One frame of lines that were read from others. */
export const encodeChunks = (chunks: readonly Chunk[]): Buffer =>
  encodeFrame(
    chunks.map(({ id, offset, bytes }) => ({ id, offset, length: bytes.length, text: bytes.toString() })),
  ).frame;

export const encodeHeader = (header: object): Buffer => encodePayload(JSON.stringify(header), "", 0);

const encodePayload = (head: string, text: string, textLength: number): Buffer => {
  const headLength = Buffer.byteLength(head);
  const length = PREFIX_BYTES + HEAD_LENGTH_BYTES + headLength + textLength;
  const frame = Buffer.allocUnsafe(length);
  frame.writeUInt32LE(headLength, PREFIX_BYTES);
  frame.write(head + text, PREFIX_BYTES + HEAD_LENGTH_BYTES, headLength + textLength, "utf8");
  return sealFrame(frame);
};

const sealFrame = (frame: Buffer): Buffer => {
  const payload = frame.subarray(PREFIX_BYTES);
  frame.writeUInt32LE(payload.length, 0);
  frame.writeUInt32LE(crc32(payload, payload.length), 4);
  return frame;
};

export type ReadFrame =
  | { readonly type: "frame"; readonly head: unknown; readonly lines: Buffer; readonly end: number }
  /** The bytes end here. */
  | { readonly type: "end" }
  /** The bytes end within the frame: it was never written as a whole. */
  | { readonly type: "cut" }
  /** All of it is there, and it is not what was written. */
  | { readonly type: "bad" };

export const readFrame = (bytes: Buffer, at: number): ReadFrame => {
  const left = bytes.length - at;
  if (left === 0) return { type: "end" };
  if (left < PREFIX_BYTES) return { type: "cut" };
  const length = bytes.readUInt32LE(at);
  if (length < HEAD_LENGTH_BYTES) return { type: "bad" };
  if (length > left - PREFIX_BYTES) return { type: "cut" };
  const end = at + PREFIX_BYTES + length;
  const payload = bytes.subarray(at + PREFIX_BYTES, end);
  if (crc32(payload, length) !== bytes.readUInt32LE(at + 4)) return { type: "bad" };
  const headEnd = HEAD_LENGTH_BYTES + payload.readUInt32LE(0);
  const head = parseOrUndefined(payload.toString("utf8", HEAD_LENGTH_BYTES, headEnd));
  return head === undefined
    ? { type: "bad" }
    : { type: "frame", head, lines: payload.subarray(headEnd), end };
};

/** The chunks of a frame, or null where its head does not fit its lines. */
export const chunksOf = (head: unknown, lines: Buffer): Chunk[] | null => {
  if (!Array.isArray(head)) return null;
  const chunks: Chunk[] = [];
  let at = 0;
  for (const item of head) {
    if (!isPlace(item)) return null;
    const [id, offset, length] = item;
    chunks.push({ id, offset, bytes: lines.subarray(at, at + length) });
    at += length;
  }
  return at === lines.length ? chunks : null;
};

const isPlace = (item: unknown): item is [SessionId, number, number] =>
  Array.isArray(item) && isSessionId(item[0]) && isOffset(item[1]) && isOffset(item[2]);

const isOffset = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const parseOrUndefined = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
