/**
 * Redoes the journal onto the sessions' files, by offset (D3). It only writes what the journal holds to
 * where it belongs, so it can be repeated, and interrupted at any point; the segments are removed by
 * whoever called it, when everything else is safe.
 */
import { type ErrorBody, EspalierError, refusal, type SessionId } from "@espalier/shared";
import { type Disk, type DiskFile, eachOf, withFile } from "./disk.js";
import type { Chunk } from "./frame.js";
import { sessionDirs, sessionPath } from "./names.js";
import { isOfPath, strangeFile, unwritable } from "./refusing-disk.js";
import { findSegments, readSegment, type Segment, segmentPath } from "./segment.js";

const WIDTH = 4;

/**
 * The segments that hold frames, oldest first, and the paths of all.
 *
 * @throws EspalierError `damaged` where one that is not the newest ends in a bad frame
 */
export const readJournal = async (
  disk: Disk,
  control: string,
): Promise<{ segments: Segment[]; paths: string[]; lastNumber: number }> => {
  const numbers = await findSegments(disk, control);
  const paths = numbers.map((number) => segmentPath(control, number));
  const segments: Segment[] = [];
  for (const path of paths) {
    const segment = await readSegment(disk, path);
    if (segment !== null) segments.push(segment);
    else if (path !== paths.at(-1)) throw damagedAt(path, 0);
  }
  const damaged = segments.slice(0, -1).find(({ tail }) => tail !== "end");
  if (damaged !== undefined) throw damagedAt(damaged.path, damaged.end);
  return { segments, paths, lastNumber: numbers.at(-1) ?? 0 };
};

const damagedAt = (path: string, at: number): EspalierError =>
  new EspalierError(
    "damaged",
    `unable to open ${path}; its frame at byte ${at} is not as written, and newer segments follow`,
  );

/** Returns why, for each session whose file cannot take what the journal holds for it. */
export const redo = async (
  disk: Disk,
  dir: string,
  segments: readonly Segment[],
): Promise<ReadonlyMap<SessionId, ErrorBody>> => {
  const touched = new Set<SessionId>();
  const errorsById = new Map<SessionId, ErrorBody>();
  const endsById = endsOf(segments);
  for (const segment of segments) {
    await eachOf(bySession(segment.chunks), WIDTH, async ([id, chunks]) => {
      if (errorsById.has(id)) return;
      const path = sessionPath(dir, id);
      const error = await redoSession(disk, dir, id, chunks, endsById.get(id)).catch((cause: Error) => {
        if (isOfPath(cause)) return unwritable(id, path, cause);
        throw cause;
      });
      if (error === null) touched.add(id);
      else errorsById.set(id, error);
    });
  }
  for (const id of errorsById.keys()) touched.delete(id);
  await syncSessionDirs(disk, dir, touched);
  return errorsById;
};

/** How far files can have come: nothing that is not in the journal was ever written to one. */
const endsOf = (segments: readonly Segment[]): Map<SessionId, number> => {
  const endsById = new Map<SessionId, number>();
  // Behind a bad frame there may have been more.
  if (segments.at(-1)?.tail === "bad") return endsById;
  for (const { chunks } of segments)
    for (const { id, offset, bytes } of chunks) endsById.set(id, offset + bytes.length);
  return endsById;
};

const bySession = (chunks: readonly Chunk[]): Map<SessionId, Chunk[]> => {
  const chunksById = new Map<SessionId, Chunk[]>();
  for (const chunk of chunks) {
    const held = chunksById.get(chunk.id);
    if (held === undefined) chunksById.set(chunk.id, [chunk]);
    else held.push(chunk);
  }
  return chunksById;
};

/**
 * Writes nothing past a gap, for a file with a hole would look whole to others; and nothing onto a file
 * that somebody else changed, where that can be seen.
 */
const redoSession = async (
  disk: Disk,
  dir: string,
  id: SessionId,
  chunks: readonly Chunk[],
  end = Number.POSITIVE_INFINITY,
): Promise<ErrorBody | null> => {
  const path = sessionPath(dir, id);
  const first = chunks[0] as Chunk;
  if (first.offset === 0) await disk.makeDir(sessionDirs(dir, id).at(-1) as string);
  const size = (await disk.stat(path))?.size ?? 0;
  if (size < first.offset) return cutFile(id, path, size, first.offset);
  const gap = gapIn(chunks);
  if (gap !== undefined) return cutFile(id, path, size, gap.offset);
  const lines = Buffer.concat(chunks.map(({ bytes }) => bytes));
  return withFile(disk, path, "write", async (file) => {
    if (!(await endsLine(file, first.offset))) return strangeFile(id, path, first.offset);
    if (size > end && !(await file.read(first.offset, lines.length)).equals(lines))
      return strangeFile(id, path, first.offset);
    await file.write(lines, first.offset);
    await file.sync();
    return null;
  });
};

/** Whether a line can begin there. */
export const endsLine = async (file: DiskFile, at: number): Promise<boolean> =>
  at === 0 || (await file.read(at - 1, 1)).toString() === "\n";

/** The first chunk that does not begin where the one before it ends. */
const gapIn = (chunks: readonly Chunk[]): Chunk | undefined =>
  chunks.find(({ offset }, index) => {
    const before = chunks[index - 1];
    return before !== undefined && offset !== before.offset + before.bytes.length;
  });

export const cutFile = (id: SessionId, path: string, size: number, length: number): ErrorBody =>
  refusal("damaged", `unable to open ${id}; ${path} has ${size} bytes where it had ${length}`);

/** Makes the names of these sessions' files safe. */
export const syncSessionDirs = async (
  disk: Disk,
  dir: string,
  ids: ReadonlySet<SessionId>,
): Promise<void> => {
  const dirs = new Set<string>();
  for (const id of ids) for (const path of sessionDirs(dir, id)) dirs.add(path);
  for (const path of dirs) if ((await disk.stat(path)) !== null) await disk.syncDir(path);
};
