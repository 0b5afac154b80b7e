/** What a client knows of a log as a whole, without holding it: when it began and last changed, and whence it comes. */
import type { LogRecord, Origin, ServerMessage } from "@espalier/shared";

export type LogFacts = {
  /** Time of the first record, ms; null where there is none. */
  readonly createdAt: number | null;
  /** Time of the last record, ms; null where there is none. */
  readonly changedAt: number | null;
  /** Null where it was begun by itself (F4, F5). */
  readonly origin: Origin | null;
  /** Entries up to this seq were taken over by a fork (F1, F2); 0 where none were. */
  readonly inherited: number;
};

type Joined = Extract<ServerMessage, { type: "joined" }>;

export const NO_FACTS: LogFacts = Object.freeze({
  createdAt: null,
  changedAt: null,
  origin: null,
  inherited: 0,
});

export const factsOf = ({ createdAt, changedAt, origin, inherited }: Joined): LogFacts => ({
  createdAt,
  changedAt,
  origin: origin ?? null,
  inherited,
});

/** The same object where no record says anything new. */
export const factsAfter = (facts: LogFacts, records: readonly LogRecord[]): LogFacts => {
  const last = records.at(-1);
  if (last === undefined || last.time === facts.changedAt) return facts;
  return { ...facts, createdAt: facts.createdAt ?? records[0]?.time ?? null, changedAt: last.time };
};
