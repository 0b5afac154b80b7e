/** How a stream's text is cut: into what one message carries, and never inside a surrogate pair (S2). */
import { type Delta, MESSAGE_BYTES } from "@espalier/shared";

/** What one message carries: a code unit takes up to six bytes in JSON. */
export const MAX_PART_LENGTH = MESSAGE_BYTES / 8;

/** As much as one message may carry, cut at the boundary of a code point. */
export const takeChunk = (deltas: readonly Delta[]): Delta[] => {
  const chunk: Delta[] = [];
  let room = MAX_PART_LENGTH;
  for (const delta of deltas) {
    if ("text" in delta && delta.text.length > room) {
      const text = delta.text.slice(0, room);
      const whole = endsInHalfPair(text) ? text.slice(0, -1) : text;
      if (whole.length > 0) chunk.push({ ...delta, text: whole });
      return chunk;
    }
    const length = "text" in delta ? delta.text.length : JSON.stringify(delta).length;
    if (length > room && chunk.length > 0) return chunk;
    chunk.push(delta);
    room -= length;
  }
  return chunk;
};

export const endsInHalfPair = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
};
