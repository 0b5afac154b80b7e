/**
 * Making a session of a line of another (F1–F3): by copy, under ids of its own; or by sharing, where the log
 * only says where its entries are kept. Nothing is kept of a fork that was not acknowledged but what its
 * repeat finds: the session, or nothing.
 */
import {
  type Entry,
  type EntryId,
  type ErrorBody,
  forkPath,
  forkPoint,
  isSidechain,
  type LogRecord,
  type Origin,
  pathTo,
  type Runtime,
  refusal,
  type SessionId,
} from "@espalier/shared";
import type { Hub } from "./hub.js";
import type { InTurn } from "./in-turn.js";
import { readNow } from "./read-now.js";
import type { LogHeader, LogStore } from "./store/log-store.js";

export type ForkAsk = {
  readonly session: SessionId;
  readonly from: { readonly session: SessionId; readonly entry: EntryId | null };
  readonly mode: "copy" | "share";
};

/** The entry that the line was taken up to; above the one asked for where something was open there (F3). */
export type Forked = { readonly entry: EntryId | null };

export type Fork = (ask: ForkAsk) => Promise<Forked | ErrorBody>;

type ForkOptions = {
  readonly hub: Hub;
  readonly store: LogStore;
  readonly runtime: Runtime;
  readonly inTurn: InTurn;
};

/** A line as it is between two commits. */
type Line = { readonly path: readonly Entry[]; readonly head: number };

/** Records that are copied before others have their turn. */
const COPIED_AT_ONCE = 256;

/** A line that is shared changes by what is erased alone. */
const MAX_TRIES = 5;

export const createFork = ({ hub, store, runtime, inTurn }: ForkOptions): Fork => {
  const lineOf = ({ from }: ForkAsk): Promise<Line | ErrorBody> =>
    hub.use(from.session, (session) =>
      readNow(session, ({ state }) => {
        if (from.entry === null) return { path: [], head: state.head };
        const node = state.tree.get(from.entry);
        if (node !== undefined) return { path: pathTo(node).map(({ entry }) => entry), head: state.head };
        return refusal("not_found", `unable to fork ${from.session}; there is no entry ${from.entry}`);
      }),
    );

  /** What is there under the new session's id already: this fork, made before, or something else. */
  const earlierFork = async (ask: ForkAsk): Promise<Forked | ErrorBody | null> => {
    const summary = await store.summary(ask.session);
    if (summary === null) return null;
    const { origin } = summary;
    const taken = refusal("conflict", `unable to fork to ${ask.session}; it is another session`);
    if (origin === undefined || origin.session !== ask.from.session) return taken;
    const outcome = await store.load(ask.session);
    if (outcome.type === "refused") return outcome.error;
    const asked = outcome.type === "ok" ? outcome.log.header.asked : undefined;
    const isSame = asked?.entry === ask.from.entry && asked.mode === ask.mode;
    return isSame ? { entry: origin.entry } : taken;
  };

  const install = async (
    ask: ForkAsk,
    header: LogHeader,
    records: Iterable<LogRecord> | AsyncIterable<LogRecord>,
  ): Promise<Forked | ErrorBody> => {
    const { session } = ask;
    const outcome = await store.install(session, header, records);
    if (outcome.type === "refused") return outcome.error;
    if (outcome.type === "conflict")
      return (
        (await earlierFork(ask)) ?? refusal("unavailable", `unable to fork to ${session}; it is being made`)
      );
    // Somebody may have joined it to begin it.
    await hub.end(session, refusal("unavailable", `unable to go on with ${session}; it came to be a fork`));
    hub.changed(session);
    return { entry: header.origin?.entry ?? null };
  };

  const copy = (ask: ForkAsk, taken: readonly Entry[]): Promise<Forked | ErrorBody> => {
    const copies = forkPath(taken, () => runtime.newId() as EntryId);
    return install(ask, headerOf(ask, taken, taken.length, runtime), paced(copies, runtime));
  };

  /**
   * What the fork is made of is on disk before it is; a disk is waited for out of turn. In turn with deletions
   * its line is read again, so that what is shared stays.
   */
  const share = async (ask: ForkAsk): Promise<Forked | ErrorBody> => {
    for (let tries = 1; ; tries += 1) {
      const before = await lineOf(ask);
      if ("code" in before) return before;
      const unsynced = await synced(ask.from.session);
      if (unsynced !== null) return unsynced;
      const forked = await inTurn(() => shareIfSynced(ask, before.head));
      if (forked !== null) return forked;
      if (tries === MAX_TRIES)
        return refusal("unavailable", `unable to fork ${ask.from.session}; its line keeps changing`);
    }
  };

  /** Null where the line has come to hold what may not be on disk yet. */
  const shareIfSynced = async (ask: ForkAsk, syncedHead: number): Promise<Forked | ErrorBody | null> => {
    const line = await lineOf(ask);
    if ("code" in line) return line;
    const taken = takenOf(line);
    if (taken.some(({ rev }) => rev > syncedHead)) return null;
    return install(ask, headerOf(ask, taken, line.head, runtime), []);
  };

  const synced = (id: SessionId): Promise<ErrorBody | null> =>
    store.synced(id).then(
      () => null,
      (cause: unknown) =>
        refusal("unavailable", `unable to fork ${id}; its log was not synced: ${String(cause)}`),
    );

  return async (ask) => {
    const { session, from, mode } = ask;
    if (isSidechain(session) || session === from.session)
      return refusal("invalid", `unable to fork to ${session}; a fork is a session of its own`);
    const earlier = await earlierFork(ask);
    if (earlier !== null) return earlier;
    if (mode === "share") return share(ask);
    const line = await lineOf(ask);
    return "code" in line ? line : copy(ask, takenOf(line));
  };
};

const takenOf = ({ path }: Line): readonly Entry[] => {
  const point = forkPoint(path);
  return point === null ? [] : path.slice(0, point.index + 1);
};

const headerOf = (
  { from, mode }: ForkAsk,
  taken: readonly Entry[],
  inherited: number,
  runtime: Runtime,
): LogHeader => {
  const entry = taken.at(-1)?.id ?? null;
  const origin: Origin = { session: from.session, entry };
  const begun = { createdAt: runtime.now(), asked: { entry: from.entry, mode } };
  if (entry === null) return { ...begun, origin };
  return { ...begun, origin: mode === "share" ? { ...origin, isShared: true } : origin, inherited };
};

/** A long line is copied in many turns, so that nobody waits for it. */
async function* paced(records: Iterable<LogRecord>, runtime: Runtime): AsyncGenerator<LogRecord> {
  let count = 0;
  for (const record of records) {
    yield record;
    count += 1;
    if (count % COPIED_AT_ONCE === 0) await new Promise<void>((resolve) => runtime.defer(resolve));
  }
}
