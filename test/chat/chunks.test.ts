// The page's long lines, in pieces.

import type { EntryId } from "@espalier/client";
import { expect, test } from "vitest";
import { CHUNK_LENGTH, chunkUp } from "../../examples/chat/page/src/chunks.js";

const line = (from: number, to: number): EntryId[] =>
  Array.from({ length: to - from }, (_, index) => `e${from + index}` as EntryId);

test("the pieces are the line, and those that did not change are the same ones", () => {
  const first = chunkUp([], line(100, 225));
  expect(first.flat()).toEqual(line(100, 225));
  const grown = chunkUp(first, line(100, 226));
  expect(grown.flat()).toEqual(line(100, 226));
  expect(grown.slice(0, 2)).toEqual(first.slice(0, 2));
  expect(grown[0]).toBe(first[0]);
  expect(grown[1]).toBe(first[1]);
  const older = chunkUp(grown, line(30, 226));
  expect(older.flat()).toEqual(line(30, 226));
  for (const chunk of grown) expect(older).toContain(chunk);
});

test("a branch that is stepped to keeps the pieces above it", () => {
  const first = chunkUp([], line(0, 200));
  const ids = [...line(0, 120), ...line(900, 930)];
  const other = chunkUp(first, ids);
  expect(other.flat()).toEqual(ids);
  expect(other.slice(0, 2)).toEqual(first.slice(0, 2));
  expect(other[1]).toBe(first[1]);
  expect(chunkUp(other, line(5000, 5010)).flat()).toEqual(line(5000, 5010));
  expect(chunkUp(other, [])).toEqual([]);
  expect(Math.max(...other.map(({ length }) => length))).toBeLessThanOrEqual(CHUNK_LENGTH);
});
