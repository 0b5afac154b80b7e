/**
 * A long line in pieces. The browser passes over a piece that is out of sight, and React over one that has
 * not changed, so that thousands of shown messages cost what their pieces cost.
 */
import type { EntryId } from "@espalier/client";

export type Chunk = readonly EntryId[];

export const CHUNK_LENGTH = 50;

/** The pieces of a line: those of the former line are kept where they are the same. */
export const chunkUp = (former: readonly Chunk[], ids: readonly EntryId[]): readonly Chunk[] => {
  const first = former[0]?.[0];
  const older = first === undefined ? -1 : ids.indexOf(first);
  if (older < 0) return cut(ids);
  const kept: Chunk[] = [];
  let at = older;
  for (const chunk of former) {
    const isSame = chunk.every((id, index) => ids[at + index] === id);
    // The last one may grow.
    if (!isSame || (chunk.length < CHUNK_LENGTH && at + chunk.length < ids.length)) break;
    kept.push(chunk);
    at += chunk.length;
  }
  return [...cutFromEnd(ids.slice(0, older)), ...kept, ...cut(ids.slice(at))];
};

const cut = (ids: readonly EntryId[]): Chunk[] => {
  const chunks: Chunk[] = [];
  for (let from = 0; from < ids.length; from += CHUNK_LENGTH)
    chunks.push(ids.slice(from, from + CHUNK_LENGTH));
  return chunks;
};

/** What is older comes in from the other side: its odd piece stands first. */
const cutFromEnd = (ids: readonly EntryId[]): Chunk[] => {
  const odd = ids.length % CHUNK_LENGTH;
  return odd === 0 ? cut(ids) : [ids.slice(0, odd), ...cut(ids.slice(odd))];
};
