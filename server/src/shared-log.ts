/**
 * A session's log as it is loaded: its own records, and the entries that it shares with the sessions it was
 * forked from (F2). They are read along the line alone, from the fork up: where a session on the way is open
 * here, from memory, else from the store. However long the chain of forks, this is a loop.
 */
import {
  createTree,
  type Entry,
  type EntryId,
  type ErrorBody,
  type Origin,
  pathTo,
  refusal,
  type SessionId,
} from "@espalier/shared";
import type { LogStore, StoredLog } from "./store/log-store.js";

export type LoadedLog = StoredLog & {
  /** The topmost first. */
  readonly shared: readonly Entry[];
};

type LoadedOutcome =
  | { readonly type: "ok"; readonly log: LoadedLog }
  | { readonly type: "absent" }
  | { readonly type: "refused"; readonly error: ErrorBody };

export type LoadLog = (id: SessionId) => Promise<LoadedOutcome>;

/** The line up to an entry from a session that is open here; null where it is not, or not any more. */
export type LineInMemory = (id: SessionId, entry: EntryId) => Promise<readonly Entry[] | null>;

/** What one session gives of a line: its own entries, and where those above them are. */
type Piece = { readonly entries: readonly Entry[]; readonly above: Fork | null };
type Fork = { readonly session: SessionId; readonly entry: EntryId };
type Outcome<T> =
  | { readonly type: "ok"; readonly value: T }
  | { readonly type: "refused"; readonly error: ErrorBody };

/** An origin that is deleted makes those whole that share with it: once more, and nothing is missing. */
const MAX_TRIES = 3;

/** Records of another session that are folded before others have their turn. */
const FOLDED_AT_ONCE = 5_000;

/** `pause` resolves when others have had their turn. */
export const createLoader = (
  store: LogStore,
  lineInMemory: LineInMemory,
  pause: () => Promise<void>,
): LoadLog => {
  const readStored = async ({ session, entry }: Fork): Promise<Outcome<Piece>> => {
    const outcome = await store.load(session);
    if (outcome.type === "absent") return refused("not_found", `there is no session ${session}`);
    if (outcome.type === "refused") return outcome;
    const { header, records } = outcome.log;
    const tree = createTree();
    for (const [index, record] of records.entries()) {
      tree.apply(record);
      if (index % FOLDED_AT_ONCE === FOLDED_AT_ONCE - 1) await pause();
    }
    const node = tree.get(entry);
    const entries = node === undefined ? [] : pathTo(node).map((each) => each.entry);
    const [top] = entries;
    const wanted = top === undefined ? entry : top.parentId;
    if (wanted === null) return { type: "ok", value: { entries, above: null } };
    const above = forkOf(header.origin, wanted);
    return above === null
      ? refused("damaged", `${session} does not hold ${wanted}`)
      : { type: "ok", value: { entries, above } };
  };

  const readPiece = async (fork: Fork): Promise<Outcome<Piece>> => {
    const entries = await lineInMemory(fork.session, fork.entry);
    return entries === null ? readStored(fork) : { type: "ok", value: { entries, above: null } };
  };

  const readLine = async (id: SessionId, fork: Fork | null): Promise<Outcome<readonly Entry[]>> => {
    const pieces: (readonly Entry[])[] = [];
    const seen = new Set([id]);
    for (let at = fork; at !== null; ) {
      if (seen.has(at.session)) return refused("damaged", `${at.session} is its own origin`);
      seen.add(at.session);
      const outcome = await readPiece(at);
      if (outcome.type === "refused")
        return { type: "refused", error: unreadable(id, at.session, outcome.error) };
      pieces.push(outcome.value.entries);
      at = outcome.value.above;
    }
    return { type: "ok", value: pieces.reverse().flat() };
  };

  return async (id) => {
    for (let tries = 1; ; tries += 1) {
      const outcome = await store.load(id);
      if (outcome.type !== "ok") return outcome;
      const { log } = outcome;
      const { origin } = log.header;
      const line = await readLine(id, forkOf(origin, origin?.entry ?? null));
      if (line.type === "ok") return { type: "ok", log: { ...log, shared: line.value } };
      if (tries === MAX_TRIES) return line;
    }
  };
};

const refused = (code: ErrorBody["code"], message: string): { type: "refused"; error: ErrorBody } => ({
  type: "refused",
  error: refusal(code, message),
});

/** Where a line goes on above a session's own entries; null where it shares none. */
const forkOf = (origin: Origin | undefined, entry: EntryId | null): Fork | null =>
  origin?.isShared === true && origin.session !== null && entry !== null
    ? { session: origin.session, entry }
    : null;

/** Says which session it is that keeps this one from being read (F4). */
const unreadable = (id: SessionId, origin: SessionId, { code, message }: ErrorBody): ErrorBody =>
  refusal(
    code === "unavailable" ? code : "damaged",
    `unable to open ${id}; it shares entries with ${origin}: ${message}`,
  );
