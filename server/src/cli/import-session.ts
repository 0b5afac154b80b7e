/**
 * Takes imported sessions into a store, but for those that are there. Short ones are read, and then
 * written beside each other, since each waits for the disk; a long one is written as it is read.
 */
import { type LogRecord, rootOf, type SessionId } from "@espalier/shared";
import type { ImportedSession, ImportSummary } from "../import/foreign.js";
import type { LogHeader, LogStore } from "../store/log-store.js";
import { CommandError, errorOf } from "./failure.js";

export type Taken = {
  readonly summary: ImportSummary;
  readonly fate: "imported" | "left as is" | "left out";
};

/** Told of each session in the order in which they were given. */
type OnTaken = (taken: Taken) => Promise<void>;

/** So many sessions wait for the disk at once, each of so many records at most. */
const MAX_WRITES = 16;
const MAX_RECORDS = 500;

export const createIntake = (store: LogStore, dir: string, onTaken: OnTaken) => {
  let writes: Promise<Taken>[] = [];
  /** Those that are taken, on disk or not yet. */
  const takenIds = new Set<SessionId>();

  /** `ls` lists a sidechain below its session. */
  const isLost = async (id: SessionId): Promise<boolean> => {
    const root = rootOf(id);
    return root !== id && !takenIds.has(root) && (await store.summary(root)) === null;
  };

  const tellFirst = async (): Promise<void> => {
    const [first, ...others] = writes;
    writes = others;
    if (first !== undefined) await onTaken(await first);
  };

  const add = (write: Promise<Taken>): void => {
    // Whoever waits for it hears of a failure; it may come before anybody does.
    write.catch(() => {});
    writes.push(write);
  };

  const drain = async (): Promise<void> => {
    while (writes.length > 0) await tellFirst();
  };

  return {
    /** Resolves when the session was read; rejects where the store cannot write. */
    take: async (session: ImportedSession): Promise<void> => {
      const isThere = (await store.summary(session.id)) !== null;
      const { records, isWhole } = isThere ? NOTHING : await readAhead(session.records());
      const write = isThere ? leaveAsIs(session, dir) : install(session, records, store, dir);
      takenIds.add(session.id);
      add((await isLost(session.id)) ? write.then(withoutRoot(dir)) : write);
      if (!isWhole) await write.catch(() => {});
      while (writes.length >= MAX_WRITES) await tellFirst();
    },
    /** Resolves when all that was taken is on disk and told. */
    drain,
  };
};

const withoutRoot =
  (dir: string) =>
  ({ fate, summary }: Taken): Taken => {
    if (fate !== "imported") return { fate, summary };
    const { id, reports } = summary;
    const report = `its session ${rootOf(id)} is not in ${dir}, so \`espalier ls\` does not list it`;
    return { fate, summary: { ...summary, reports: [...reports, report] } };
  };

const withReport = (session: ImportedSession, fate: Taken["fate"], report: string): Taken => {
  const summary = session.summary();
  return { fate, summary: { ...summary, reports: [...summary.reports, report] } };
};

const leaveAsIs = async (session: ImportedSession, dir: string): Promise<Taken> =>
  withReport(session, "left as is", `session ${session.id} is in ${dir} already; left as it is`);

type Records = Iterable<LogRecord> | AsyncIterable<LogRecord>;

const NOTHING: { records: Records; isWhole: boolean } = { records: [], isWhole: true };

/** All of them, where they are few; else the same ones, still to be read. */
const readAhead = async (
  records: AsyncIterable<LogRecord>,
): Promise<{ records: Records; isWhole: boolean }> => {
  const iterator = records[Symbol.asyncIterator]();
  const first: LogRecord[] = [];
  while (first.length < MAX_RECORDS) {
    const next = await iterator.next();
    if (next.done === true) return { records: first, isWhole: true };
    first.push(next.value);
  }
  async function* all(): AsyncGenerator<LogRecord> {
    yield* first.splice(0);
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { records: all(), isWhole: false };
};

const install = async (
  session: ImportedSession,
  records: Records,
  store: LogStore,
  dir: string,
): Promise<Taken> => {
  const { id, createdAt, origin, inherited } = session;
  const header: LogHeader = {
    createdAt,
    ...(origin === undefined ? {} : { origin }),
    ...(inherited === undefined ? {} : { inherited }),
  };
  const outcome = await store.install(id, header, records);
  if (outcome.type === "ok") return { fate: "imported", summary: session.summary() };
  if (outcome.type === "conflict")
    throw new CommandError(`unable to import ${id}; somebody else wrote it meanwhile`, "import again");
  if (outcome.error.code !== "deleted") throw errorOf(outcome.error);
  return withReport(session, "left out", `session ${id} was deleted from ${dir}; left out`);
};
