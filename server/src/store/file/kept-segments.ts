/**
 * What is left of segments that are no longer of the journal: lines that are in no session's file because
 * that cannot be written, in `kept-<number>` in the control folder. Each start tries again to redo those
 * lines, and the file goes when none is left. Of sessions that have their lines nothing is kept: their
 * files may be changed by who has the right to, and what is erased there must not stay here.
 */
import type { SessionId } from "@espalier/shared";
import type { Note } from "./catalogue-file.js";
import { type Disk, replaceFile } from "./disk.js";
import { type Chunk, encodeChunks, encodeHeader } from "./frame.js";
import { findKept, keptPath, readSegment, type Segment, segmentPath } from "./segment.js";

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

/**
 * Removes a segment, or puts what is lacking of it in the place of a kept one; `null` says that nothing
 * can be. The lines are safe under their new name before the old one goes.
 */
export const endSegment = async (
  disk: Disk,
  control: string,
  path: string,
  isLacking: IsLacking | null,
): Promise<void> => {
  const segment = isLacking === null ? null : await readSegment(disk, path);
  const lacking = isLacking === null ? undefined : segment?.chunks.filter(isLacking);
  const mustKeep = segment !== null && lacking !== undefined && lacking.length > 0;
  if (mustKeep) {
    const bytes = [encodeHeader(segment.header), encodeChunks(lacking)];
    await replaceFile(disk, control, nameOf(keptPath(path)), bytes);
  }
  if (mustKeep && keptPath(path) === path) return;
  await disk.remove(path);
  await disk.syncDir(control);
};

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Takes all lines of these sessions out of what is kept. */
export const forgetKept = async (disk: Disk, control: string, ids: ReadonlySet<SessionId>): Promise<void> => {
  for (const number of await findKept(disk, control)) {
    const path = keptPath(segmentPath(control, number));
    const segment = await readSegment(disk, path);
    if (segment?.chunks.some(({ id }) => ids.has(id)) === true)
      await endSegment(disk, control, path, ({ id }) => !ids.has(id));
  }
};
