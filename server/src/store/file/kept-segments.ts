/**
 * Segments that are no longer of the journal, and hold lines that are in no session's file because that
 * cannot be written: `kept-<number>` in the control folder. Each start tries again to redo those lines,
 * and the segment goes when none is left. Of sessions that have their lines nothing is redone from here:
 * their files may have been changed since by who has the right to.
 */
import type { SessionId } from "@espalier/shared";
import type { Note } from "./catalogue-file.js";
import type { Disk } from "./disk.js";
import type { Chunk } from "./frame.js";
import { keptPath, readSegment, type Segment } from "./segment.js";

/** Whether lines are in no file that they are safe in. */
export type IsLacking = (chunk: Chunk) => boolean;

/** Only the lines that the files, by the notes of their lengths, do not have. */
export const readKept = async (
  disk: Disk,
  paths: readonly string[],
  notesById: ReadonlyMap<SessionId, Note>,
): Promise<Segment[]> => {
  const segments: Segment[] = [];
  for (const path of paths) {
    const segment = await readSegment(disk, path);
    if (segment === null) continue;
    const chunks = segment.chunks.filter((chunk) => endOf(chunk) > (notesById.get(chunk.id)?.length ?? 0));
    segments.push({ ...segment, chunks });
  }
  return segments;
};

/** The length that its session's file has with it. */
export const endOf = ({ offset, bytes }: Chunk): number => offset + bytes.length;

/** Removes a segment, or keeps it where lines of it are lacking; `null` says that none can be. */
export const endSegment = async (
  disk: Disk,
  control: string,
  path: string,
  isLacking: IsLacking | null,
): Promise<void> => {
  const segment = isLacking === null ? null : await readSegment(disk, path);
  const mustKeep = isLacking !== null && segment?.chunks.some(isLacking) === true;
  if (!mustKeep) await disk.remove(path);
  else if (keptPath(path) !== path) await disk.rename(path, keptPath(path));
  await disk.syncDir(control);
};
