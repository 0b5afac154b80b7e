/**
 * What a session writes to its log: its header with the first write (F7), an erase by itself, since it
 * changes what was written before it (L2), all other records in one append.
 */
import type { Erase, ErrorBody, LogRecord, Origin, SessionId } from "@espalier/shared";
import type { AppendOutcome, LogHeader, LogStore } from "./store/log-store.js";

type LogWriter = {
  /** Null before the first write. */
  readonly header: LogHeader | null;
  /** Where the log comes from, also before the first write. */
  readonly origin: Origin | undefined;
  /** Kept until the first write; the first of several counts. */
  beginFrom(origin: Origin): void;
  /** The log was read again, or changed by another hand. */
  setHeader(header: LogHeader | null): void;
  /** Of several steps, those before one that fails may have been written. */
  write(expectedHead: number, records: readonly LogRecord[]): Promise<AppendOutcome>;
};

type LogWriterOptions = {
  readonly id: SessionId;
  readonly store: LogStore;
  readonly header: LogHeader | null;
  /** Why a log may not come into being, or null. Asked before its first write. */
  readonly beginFault: () => Promise<ErrorBody | null>;
};

type Step = Erase | LogRecord[];

export const createLogWriter = ({ id, store, beginFault, header: read }: LogWriterOptions): LogWriter => {
  let header = read;
  let begun: Origin | undefined;

  const append = async (expectedHead: number, records: readonly LogRecord[]): Promise<AppendOutcome> => {
    if (header !== null) return store.append(id, expectedHead, records);
    const error = await beginFault();
    if (error !== null) return { type: "refused", error };
    const first: LogHeader = {
      createdAt: records[0]?.time ?? 0,
      ...(begun === undefined ? {} : { origin: begun }),
    };
    const outcome = await store.append(id, expectedHead, records, first);
    if (outcome.type === "ok") header = first;
    return outcome;
  };

  const write = async (expectedHead: number, records: readonly LogRecord[]): Promise<AppendOutcome> => {
    let head = expectedHead;
    const durables: Promise<void>[] = [];
    for (const step of stepsOf(records)) {
      const outcome = await (Array.isArray(step) ? append(head, step) : store.erase(id, head, step));
      if (outcome.type !== "ok") return outcome;
      // Told of by the promise of them all; where a later step fails, by nobody.
      outcome.durable.catch(() => {});
      durables.push(outcome.durable);
      head = (Array.isArray(step) ? step.at(-1) : step)?.seq ?? head;
    }
    return { type: "ok", durable: Promise.all(durables).then(() => {}) };
  };

  return {
    get header() {
      return header;
    },
    get origin() {
      return header === null ? begun : header.origin;
    },
    beginFrom: (origin) => {
      begun ??= origin;
    },
    setHeader: (next) => {
      header = next;
    },
    write,
  };
};

/** Records in order, those between two erases together. */
const stepsOf = (records: readonly LogRecord[]): Step[] => {
  const steps: Step[] = [];
  for (const record of records) {
    const last = steps.at(-1);
    if (record.kind === "erase") steps.push(record);
    else if (Array.isArray(last)) last.push(record);
    else steps.push([record]);
  }
  return steps;
};
