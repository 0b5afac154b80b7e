/**
 * A segment: one file of the journal, `journal-<number>` in the control folder. Its header says under
 * which boot of the machine and in which epoch it was written; the header is on disk before any frame
 * is, so a segment without a whole one never held a frame.
 */
import { type Epoch, EspalierError, isId } from "@espalier/shared";
import { type Disk, readWhole, withFile } from "./disk.js";
import { type Chunk, chunksOf, readFrame } from "./frame.js";

export const JOURNAL_VERSION = 1;

export type SegmentHeader = {
  readonly kind: "journal";
  readonly version: number;
  /** Null where the machine does not tell its boots apart. */
  readonly boot: string | null;
  readonly epoch: Epoch;
};

export type Segment = {
  readonly path: string;
  readonly header: SegmentHeader;
  readonly chunks: readonly Chunk[];
  /** Where its whole frames end. */
  readonly end: number;
  /** How they end: with the file, with a frame that was cut off, or with one that is not as written. */
  readonly tail: "end" | "cut" | "bad";
};

const NAME = /^journal-(\d{8,})$/;
const KEPT_NAME = /^kept-(\d{8,})$/;

export const segmentPath = (control: string, number: number): string =>
  `${control}/journal-${String(number).padStart(8, "0")}`;

/** Where a segment is kept that is no longer of the journal; itself for one that is kept. */
export const keptPath = (path: string): string => path.replace(/journal-(\d+)$/, "kept-$1");

/** The numbers of the journal's segments that are there, oldest first. */
export const findSegments = (disk: Disk, control: string): Promise<number[]> =>
  findNumbers(disk, control, NAME);

/** The numbers of those that are kept. */
export const findKept = (disk: Disk, control: string): Promise<number[]> =>
  findNumbers(disk, control, KEPT_NAME);

const findNumbers = async (disk: Disk, control: string, pattern: RegExp): Promise<number[]> => {
  const names = await disk.list(control);
  return names
    .map(({ name }) => pattern.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
};

/**
 * Reads a segment, after a sync: what is read then stays. Null where it has no whole header.
 *
 * @throws EspalierError `newer_version`
 */
export const readSegment = async (disk: Disk, path: string): Promise<Segment | null> => {
  await withFile(disk, path, "write", (file) => file.sync());
  const bytes = (await readWhole(disk, path)) ?? Buffer.alloc(0);
  const first = readFrame(bytes, 0);
  if (first.type !== "frame") return null;
  const header = toHeader(first.head, path);
  const chunks: Chunk[] = [];
  for (let at = first.end; ; ) {
    const next = readFrame(bytes, at);
    if (next.type !== "frame") return { path, header, chunks, end: at, tail: next.type };
    const found = chunksOf(next.head, next.lines);
    if (found === null) return { path, header, chunks, end: at, tail: "bad" };
    for (const chunk of found) chunks.push(chunk);
    at = next.end;
  }
};

const toHeader = (head: unknown, path: string): SegmentHeader => {
  const header = head as Partial<SegmentHeader>;
  if (typeof header.version === "number" && header.version > JOURNAL_VERSION) {
    throw new EspalierError(
      "newer_version",
      `unable to open ${path}; it has version ${header.version}, and this program knows ${JOURNAL_VERSION}`,
    );
  }
  if (header.kind !== "journal" || header.version !== JOURNAL_VERSION || !isId(header.epoch)) {
    throw new EspalierError("damaged", `unable to open ${path}; its header is not one of a journal`);
  }
  return { kind: "journal", version: JOURNAL_VERSION, boot: header.boot ?? null, epoch: header.epoch };
};
