/**
 * Records on their way to readers: one encoding serves them all, and frames that a slow reader has not
 * had yet become one, its appends merged (S6).
 */
import { type Delta, type LogRecord, mergeRecords, type Part, type RecordsMessage } from "@espalier/shared";

export type Frame = {
  readonly ch: number;
  readonly records: readonly LogRecord[];
  readonly upto: number;
  /** An estimate, so that what waits can be bounded without encoding it. */
  readonly bytes: number;
  /** The message as text; encoded once, when first asked for. */
  text(): string;
};

export const createFrame = (ch: number, records: readonly LogRecord[], upto: number): Frame => {
  let encoded: string | undefined;
  let bytes = 0;
  for (const record of records) bytes += weightOf(record);
  return {
    ch,
    records,
    upto,
    bytes,
    text: () => {
      if (encoded === undefined)
        encoded = JSON.stringify({
          records: records,
          ch,
          upto,
        } satisfies RecordsMessage);
      return encoded;
    },
  };
};

export const mergeFrames = (frames: readonly Frame[]): Frame => {
  const [first] = frames;
  const last = frames.at(-1);
  if (first === undefined || last === undefined) throw new RangeError("there is no frame to merge");
  if (first === last) return first;
  return createFrame(
    first.ch,
    mergeRecords(frames.flatMap((frame) => frame.records)) as LogRecord[],
    last.upto,
  );
};

const RECORD_BYTES = 160;

/** About how many bytes a record takes as JSON: good enough for a bound, and without making the JSON. */
export const weightOf = (record: LogRecord): number => {
  if (record.kind === "append") return RECORD_BYTES + weightOfDeltas(record.deltas);
  if (record.kind !== "entry" || record.type !== "message") return JSON.stringify(record).length;
  let bytes = RECORD_BYTES + (record.meta === undefined ? 0 : JSON.stringify(record.meta).length);
  for (const part of record.parts) bytes += weightOfPart(part);
  return bytes;
};

export const weightOfDeltas = (deltas: readonly Delta[]): number => {
  let bytes = 0;
  for (const delta of deltas) bytes += "text" in delta ? delta.text.length : JSON.stringify(delta).length;
  return bytes;
};

const PART_BYTES = 30;

export const weightOfPart = (part: Part): number =>
  part.type === "text" || part.type === "thinking"
    ? part.text.length + PART_BYTES
    : JSON.stringify(part).length;
