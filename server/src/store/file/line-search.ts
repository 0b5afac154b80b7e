/** The lines of a session's file that hold some text, read in pieces: a log may be long, and most of it is not meant. */
import type { DiskFile } from "./disk.js";

/** `text` is without its `\n`, and `length` in bytes is too. */
type FoundLine = { readonly offset: number; readonly length: number; readonly text: string };

const PIECE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** Looks at whole lines from `from` on, in the first `length` bytes. */
export async function* findLines(
  file: DiskFile,
  from: number,
  length: number,
  needle: string,
): AsyncGenerator<FoundLine> {
  let rest: Buffer = Buffer.alloc(0);
  for (let at = from; at < length; ) {
    const piece = await file.read(at, Math.min(PIECE_BYTES, length - at));
    if (piece.length === 0) return;
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const start = at - rest.length;
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    yield* linesWith(bytes.subarray(0, end), start, needle);
    at += piece.length;
    rest = bytes.subarray(end);
  }
}

function* linesWith(bytes: Buffer, start: number, needle: string): Generator<FoundLine> {
  for (let hit = bytes.indexOf(needle); hit !== -1; ) {
    const offset = bytes.lastIndexOf(NEWLINE, hit) + 1;
    const end = bytes.indexOf(NEWLINE, hit);
    yield { offset: start + offset, length: end - offset, text: bytes.toString("utf8", offset, end) };
    hit = bytes.indexOf(needle, end);
  }
}
