/** Bytes as a parser wants them: well-formed UTF-8, without a byte order mark. */
import { Buffer, isUtf8 } from "node:buffer";

/**
 * The same bytes, in pieces that never end inside a character. What is no UTF-8 becomes U+FFFD, and is
 * told once.
 */
export async function* wellFormed(
  chunks: AsyncIterable<Uint8Array>,
  onFault: () => void,
): AsyncGenerator<Uint8Array> {
  let carried: Uint8Array = NOTHING;
  let isFirst = true;
  let isFaulty = false;
  const mended = (bytes: Uint8Array): Uint8Array => {
    if (isUtf8(bytes)) return bytes;
    if (!isFaulty) onFault();
    isFaulty = true;
    return Buffer.from(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
  };
  for await (const chunk of chunks) {
    const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
    const end = bytes.length - unfinishedLength(bytes);
    carried = bytes.subarray(end);
    if (end === 0) continue;
    const start = isFirst && hasMark(bytes) ? MARK.length : 0;
    isFirst = false;
    yield mended(bytes.subarray(start, end));
  }
  if (carried.length > 0) yield mended(carried);
}

const NOTHING = new Uint8Array(0);
const MARK = [0xef, 0xbb, 0xbf];
const hasMark = (bytes: Uint8Array): boolean => MARK.every((byte, at) => bytes[at] === byte);

/** How many bytes at the end begin a character that they do not end. */
const unfinishedLength = (bytes: Uint8Array): number => {
  for (let length = 1; length <= 3 && length <= bytes.length; length++) {
    const byte = bytes[bytes.length - length] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return length < charLength(byte) ? length : 0;
  }
  return 0;
};

const charLength = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2);
