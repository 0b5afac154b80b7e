/**
 * A session's log as it is loaded: its own records, and the entries that it shares with the sessions it was
 * forked from (F2). They are read along the line alone, from the fork up: where a session on the way is open
 * here, from memory, else from the store. However long the chain of forks, this is a loop. Each session on the
 * way tells of erases under seqs of its own, so an entry's rev is made one of the session that it is read by.
 */
import {
  createTree,
  type Entry,
  type EntryId,
  type Erase,
  type ErrorBody,
  type Origin,
  pathTo,
  refusal,
  type Seq,
  type SessionId,
} from "@espalier/shared";
import { cannotOpen, originFault } from "./origin-fault.js";
import { isErase } from "./store/erasing.js";
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
type Piece = {
  readonly entries: readonly Entry[];
  readonly above: Fork | null;
  /** What it told of erases, and which seqs were its origin's. */
  readonly erases: readonly Erase[];
  readonly inherited: number;
};
type Fork = { readonly session: SessionId; readonly entry: EntryId };
type Outcome<T> =
  | { readonly type: "ok"; readonly value: T }
  | { readonly type: "refused"; readonly error: ErrorBody };

/** An origin that is deleted makes those whole that share with it: once more, and nothing is missing. */
const MAX_TRIES = 3;

/** Records of another session that are folded before others have their turn. */
const FOLDED_AT_ONCE = 5_000;

/** The rev of a tombstone of which the session that it is read by does not tell yet: above all of its seqs. */
export const UNTOLD = Number.MAX_SAFE_INTEGER as Seq;

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
    const piece = { entries, erases: records.filter(isErase), inherited: header.inherited ?? 0 };
    if (wanted === null) return { type: "ok", value: { ...piece, above: null } };
    const above = forkOf(header.origin, wanted);
    return above === null
      ? refused("damaged", `${session} does not hold ${wanted}`)
      : { type: "ok", value: { ...piece, above } };
  };

  const readPiece = async (fork: Fork): Promise<Outcome<Piece>> => {
    const entries = await lineInMemory(fork.session, fork.entry);
    return entries === null
      ? readStored(fork)
      : { type: "ok", value: { entries, above: null, erases: [], inherited: 0 } };
  };

  const readLine = async (id: SessionId, fork: Fork | null): Promise<Outcome<readonly Entry[]>> => {
    const pieces: Piece[] = [];
    const seen = new Set([id]);
    for (let at = fork; at !== null; ) {
      if (seen.has(at.session)) {
        const error = refusal("damaged", `${at.session} is its own origin`);
        return { type: "refused", error: unreadable(id, at.session, error) };
      }
      seen.add(at.session);
      const outcome = await readPiece(at);
      if (outcome.type === "refused")
        return { type: "refused", error: unreadable(id, at.session, outcome.error) };
      pieces.push(outcome.value);
      at = outcome.value.above;
    }
    return { type: "ok", value: lineOf(pieces.reverse()) };
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

/** The topmost first. */
const lineOf = (pieces: readonly Piece[]): readonly Entry[] => {
  let line: readonly Entry[] = [];
  for (const { entries, erases, inherited } of pieces) {
    const seqById = new Map<EntryId, Seq>();
    for (const { id, seq } of erases) seqById.set(id, seq);
    const told = line.map((entry) => asToldBy(entry, seqById.get(entry.id), inherited));
    line = [...told, ...entries];
  }
  return line;
};

/** A shared entry as a session has it that may have told of its erase. One that was erased at the fork needs no telling. */
const asToldBy = (entry: Entry, toldAt: Seq | undefined, inherited: number): Entry => {
  if (entry.type !== "erased") return entry;
  if (toldAt !== undefined) return { ...entry, rev: toldAt };
  return entry.rev <= inherited ? entry : { ...entry, rev: UNTOLD };
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

/** Says which session it is that keeps this one from being read, to who may know of it (F4). */
const unreadable = (id: SessionId, origin: SessionId, { code, message }: ErrorBody): ErrorBody =>
  originFault(
    code === "unavailable" ? code : "damaged",
    cannotOpen(id),
    origin,
    `unable to open ${id}; it shares entries with ${origin}: ${message}`,
  );
