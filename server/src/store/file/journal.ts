/**
 * The journal that all sessions share (D1). One frame holds everything that one turn of the event loop
 * put in. It is written, and then it may be shown; one sync covers all frames that were written before
 * it began, and then they may be acknowledged. Frames gather while a write runs, and writes go on while
 * a sync runs.
 *
 *     put ─▶ gathered ─(the turn ends, no write runs)─▶ written ─(no sync runs)─▶ synced
 *
 * A failed write is cut off again and refused; the next one tries anew. A failed sync is never retried:
 * nothing is written or acknowledged any more (D4). The same where the file has lost its name: what is
 * synced then is not to be found at the next start.
 */
import { type ErrorBody, type Runtime, refusal } from "@espalier/shared";
import type { AppendOutcome } from "../log-store.js";
import { type Disk, type DiskFile, withFile } from "./disk.js";
import { encodeFrame, encodeHeader } from "./frame.js";
import { type SegmentHeader, segmentPath } from "./segment.js";
import { dropStaged, markWritten, type SessionLog, type Staged, stageLines } from "./session-log.js";

/** Told once how an addition fared, when it was written or refused. */
export type Ticket = (outcome: AppendOutcome) => void;

export type Journal = {
  /** Takes whole lines in for the end of a log, whose head is then as given. */
  put(log: SessionLog, text: string, lines: number, head: number, ticket: Ticket): void;
  /** Resolves when everything put so far is on disk, or was refused. */
  drain(): Promise<void>;
  /**
   * Everything put so far is on disk, or refused, in segments that were told to `onFull`. Rejects where no
   * other segment can be begun.
   */
  rotate(): Promise<void>;
  /** Gives up the file; its segment stays. Call it after `drain`. */
  close(): Promise<void>;
  /** Resolves with whether its file is still where it was made; where not, that is its fault. */
  isThere(): Promise<boolean>;
  /** Its file ends in something that was to be cut off, and could not be. */
  readonly isTorn: boolean;
  /** Why nothing can be written any more. */
  readonly fault: ErrorBody | null;
};

type JournalOptions = {
  readonly disk: Disk;
  readonly runtime: Pick<Runtime, "defer">;
  readonly control: string;
  readonly header: SegmentHeader;
  readonly firstNumber: number;
  readonly segmentBytes: number;
  /** Everything up to this length of a log is on disk in the journal. */
  readonly onSynced: (log: SessionLog, end: number) => void;
  /** Where not, the full segment goes on being used. */
  readonly mayRotate: () => boolean;
  /** A segment is full, and synced as a whole. */
  readonly onFull: (path: string) => void;
  /** Nothing is acknowledged any more. */
  readonly onStopped: (fault: ErrorBody, isLost: boolean) => void;
};

type Gathering = Map<SessionLog, { staged: Staged; tickets: Ticket[] }>;

/** The frames that one sync covers. */
type Cohort = { ends: Map<SessionLog, number>; durable: Promise<void>; settle: (error?: Error) => void };

type OpenSegment = {
  readonly path: string;
  readonly file: DiskFile;
  /** Not every file system counts a file's names. */
  readonly countsNames: boolean;
  readonly headerLength: number;
  length: number;
  mustCut: boolean;
};

export const createJournal = async (options: JournalOptions): Promise<Journal> => {
  const { disk, control, segmentBytes } = options;
  let number = options.firstNumber;
  let segment = await createSegment(disk, control, number, options.header);
  let gathering: Gathering = new Map();
  /** Those who wait for a rotation. */
  let waiting: ((error?: Error) => void)[] = [];
  let cohort = createCohort();
  let writer: Promise<void> | null = null;
  let syncer: Promise<void> | null = null;
  let fault: ErrorBody | null = null;

  const writeFrames = async (): Promise<void> => {
    await new Promise<void>((resolve) => options.runtime.defer(resolve));
    while (gathering.size > 0 || waiting.length > 0) {
      // On failure the full segment goes on being used.
      if (segment.length >= segmentBytes && options.mayRotate()) await rotate().catch(() => {});
      const frame = gathering;
      const told = waiting;
      gathering = new Map();
      waiting = [];
      const failure = fault === null ? await writeFrame(frame) : ({ type: "refused", error: fault } as const);
      if (failure !== null) refuse([frame, gathering], failure);
      if (told.length > 0) await rotateFor(told);
    }
    writer = null;
  };

  const rotateFor = async (told: readonly ((error?: Error) => void)[]): Promise<void> => {
    const error = await rotate().catch((cause: Error) => cause);
    for (const tell of told) tell(error ?? undefined);
  };

  const writeFrame = async (frame: Gathering): Promise<Failure | null> => {
    if (frame.size === 0) return null;
    const additions = [...frame.values()];
    const encoded = encodeFrame(additions.map(({ staged }) => staged));
    const failure = await writeAtEnd(segment, encoded.frame);
    if (failure !== null) return failure;
    const { ends, durable } = cohort;
    let at = encoded.linesAt;
    for (const { staged } of additions) {
      markWritten(staged, encoded.frame, at, durable);
      ends.set(staged.log, staged.log.end);
      at += staged.length;
    }
    if (syncer === null && fault === null) syncer = syncFrames();
    const outcome: AppendOutcome = { type: "ok", durable };
    for (const { tickets } of additions) for (const ticket of tickets) ticket(outcome);
    return null;
  };

  const refuse = (gatherings: Gathering[], failure: Failure): void => {
    gathering = new Map();
    for (const refused of gatherings) for (const log of refused.keys()) dropStaged(log);
    for (const refused of gatherings)
      for (const { tickets } of refused.values()) for (const ticket of tickets) ticket(failure);
  };

  const syncFrames = async (): Promise<void> => {
    while (cohort.ends.size > 0 && fault === null) {
      const covered = cohort;
      cohort = createCohort();
      try {
        await segment.file.sync();
        if (segment.countsNames && !segment.file.isLinked()) throw lost(segment.path);
      } catch (error) {
        stop(error as Error, covered);
        break;
      }
      if (fault !== null) {
        covered.settle(new Error((fault as ErrorBody).message));
        break;
      }
      for (const [log, end] of covered.ends) options.onSynced(log, end);
      covered.settle();
    }
    syncer = null;
  };

  const stop = (error: Error, covered?: Cohort): void => {
    const isLost = error instanceof LostError;
    const reason = isLost ? error.message : `the journal could not be synced (${error.message})`;
    fault = refusal("unavailable", `unable to write; ${reason}`);
    options.onStopped(fault, isLost);
    covered?.settle(error);
    cohort.settle(error);
  };

  const rotate = async (): Promise<void> => {
    if (syncer !== null) await syncer;
    if (fault !== null) throw new Error((fault as ErrorBody).message);
    // In a segment that is not the newest, what could not be cut off would be damage.
    await cutTorn(segment);
    if (segment.length === segment.headerLength) return;
    const full = segment;
    segment = await createSegment(disk, control, number + 1, options.header);
    number += 1;
    await full.file.close().catch(() => {});
    options.onFull(full.path);
  };

  return {
    put: (log, text, lines, head, ticket) => {
      const held = gathering.get(log);
      const staged = stageLines(log, held?.staged, text, lines, head);
      if (held === undefined) gathering.set(log, { staged, tickets: [ticket] });
      else held.tickets.push(ticket);
      writer ??= writeFrames();
    },
    rotate: () =>
      new Promise((resolve, reject) => {
        waiting.push((error) => (error === undefined ? resolve() : reject(error)));
        writer ??= writeFrames();
      }),
    drain: async () => {
      while (writer !== null || syncer !== null) await (writer ?? syncer);
    },
    close: () => segment.file.close(),
    isThere: async () => {
      const { path } = segment;
      // What cannot be found out is no reason to stop.
      const found = await disk.stat(path).catch(() => path);
      if (found === null && path === segment.path && fault === null) stop(lost(path));
      return fault === null || found !== null;
    },
    get isTorn() {
      return segment.mustCut;
    },
    get fault() {
      return fault;
    },
  };
};

class LostError extends Error {}

const lost = (path: string): Error =>
  new LostError(
    `${path} is gone: its directory was removed or moved while the server ran. Stop the server, put the directory back and start again`,
  );

type Failure = Exclude<AppendOutcome, { type: "ok" }>;

/** Writes all of it or cuts the file back; where neither can be done, nobody knows what is there. */
const writeAtEnd = async (segment: OpenSegment, bytes: Buffer): Promise<Failure | null> => {
  try {
    await cutTorn(segment);
  } catch (error) {
    return { type: "refused", error: unwritable(error as Error) };
  }
  try {
    await segment.file.write(bytes, segment.length);
    segment.length += bytes.length;
    return null;
  } catch (error) {
    segment.mustCut = true;
    return segment.file.truncate(segment.length).then(
      () => ({ type: "refused", error: unwritable(error as Error) }),
      () => ({ type: "unknown", error: unwritable(error as Error) }),
    );
  }
};

const cutTorn = async (segment: OpenSegment): Promise<void> => {
  if (!segment.mustCut) return;
  await segment.file.truncate(segment.length);
  segment.mustCut = false;
};

const unwritable = (error: Error): ErrorBody =>
  refusal("unavailable", `unable to write; the journal does not take it (${error.message})`);

const createCohort = (): Cohort => {
  let settle: Cohort["settle"] = () => {};
  const durable = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  // Whoever waits hears of a failure; that nobody waits is no fault.
  durable.catch(() => {});
  return { ends: new Map(), durable, settle };
};

/** Its header and its name are on disk before it is used; after a failure nothing of it is left. */
const createSegment = async (
  disk: Disk,
  control: string,
  number: number,
  header: SegmentHeader,
): Promise<OpenSegment> => {
  const path = segmentPath(control, number);
  const bytes = encodeHeader(header);
  try {
    await withFile(disk, path, "write", async (file) => {
      await file.truncate(0);
      await file.write(bytes, 0);
      await file.sync();
    });
    await disk.syncDir(control);
    const file = await disk.open(path, "write");
    const { length } = bytes;
    return { path, file, countsNames: file.isLinked(), headerLength: length, length, mustCut: false };
  } catch (error) {
    await disk.remove(path);
    throw error;
  }
};
