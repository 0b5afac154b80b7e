/**
 * One session at work: a queue whose turns are decided, committed, applied, broadcast and answered (N2).
 *
 *     submit ─► queue ─► decide + apply ─► commit ─► broadcast ─► (on disk) ─► answer
 *
 * What is decided is applied at once, so that the next command of the turn is decided against it. Nobody
 * sees that before the commit: reads wait in the same queue. Where the commit fails the state is thrown
 * away and loaded again, and the turn is decided once more or refused.
 */
import {
  type Epoch,
  type ErrorBody,
  type LogRecord,
  type Origin,
  type Runtime,
  refusal,
  type SessionId,
} from "@espalier/shared";
import { createAttendance, type Subscriber } from "./attendance.js";
import type { Command, Decision } from "./decide/decision.js";
import { createFrame } from "./frame.js";
import type { Holder } from "./lease.js";
import { createLogWriter } from "./log-writer.js";
import { type Submitted, type Turn, turnsOf } from "./merge-commands.js";
import type { Actor } from "./principal.js";
import type { LoadedLog, LoadLog } from "./shared-log.js";
import { type SessionState, stateOfLog } from "./state.js";
import type { LogHeader, LogStore } from "./store/log-store.js";
import { tailOfLog } from "./tail.js";
import { type Answered, answerEnded, decideTurn, ENDED, refuseAll } from "./turn.js";

/** What a read may see: the session between two commits. */
export type SessionRead = {
  readonly state: SessionState;
  readonly epoch: Epoch;
  /** Null before the first write. */
  readonly header: LogHeader | null;
  /** Where it comes from, also before the first write. */
  readonly origin: Origin | undefined;
  tailAfter(seq: number): LogRecord[] | null;
  /** From here on the subscriber is sent every record (J1). */
  subscribe(subscriber: Subscriber, actor: Actor): () => void;
};

export type Session = {
  readonly id: SessionId;
  /** Stands for the session on the wire; the same for every reader, so that one encoding serves all. */
  readonly ch: number;
  /** Whether it was ever written (F7). */
  readonly isStored: boolean;
  /** Nobody is joined, nothing is open or under way. */
  readonly isIdle: boolean;
  /** Where it comes from, should its first write be yet to come (F5). */
  beginFrom(origin: Origin): void;
  /** Its log has come to hold what it shared (F4). */
  becomeWhole(header: LogHeader): void;
  submit(command: Command, actor: Actor, respond: (decision: Decision) => void): void;
  /** One of the two is called: the second where the session has ended. */
  read(read: (session: SessionRead) => void, refuse: (error: ErrorBody) => void): void;
  /** Resolves when what was submitted so far is decided, on disk and answered. */
  settled(): Promise<void>;
  /** Ends timers and subscriptions; what was committed stays. Resolves when nothing is being written any more. */
  close(error: ErrorBody): Promise<void>;
};

type SessionOptions = {
  readonly id: SessionId;
  readonly ch: number;
  readonly log: LoadedLog | null;
  readonly load: LoadLog;
  readonly store: LogStore;
  readonly runtime: Runtime;
  readonly graceMs: number;
  /** Why the session may not come into being, or null. */
  readonly beginFault: () => Promise<ErrorBody | null>;
  /** Hears of each commit, and of the end where the session had to give up. */
  readonly onCommit: (records: readonly LogRecord[]) => void;
  readonly onIdle: () => void;
  readonly onFailed: () => void;
};

/** Another node may win the race for the head; after this many times it is not a race. */
const MAX_TRIES = 5;
/** What it owes is not tried at each read where the store refuses it, for each try loads the log again. */
const OWED_MS = 5_000;

type Read = { read(session: SessionRead): void; refuse(error: ErrorBody): void };

export const createSession = (options: SessionOptions): Session => {
  // The log that was loaded is held by none of what follows: what is erased is not kept in memory either.
  const { id, ch, log: loaded, load, store, runtime, beginFault, onCommit, onIdle, onFailed } = options;
  const attendance = createAttendance(runtime, options.graceMs);
  const epoch = loaded?.epoch ?? store.epoch;
  const writer = createLogWriter({ id, store, beginFault, header: loaded?.header ?? null });
  let state = stateOfLog(loaded);
  const tail = tailOfLog(loaded);
  const submitted: Submitted[] = [];
  const reads: Read[] = [];
  const resting: (() => void)[] = [];
  let isBusy = false;
  let ended: ErrorBody | null = null;
  let cancelTimer: (() => void) | null = null;
  let cancelOwed: (() => void) | null = null;

  const fail = (error: ErrorBody): void => {
    if (ended !== null) return;
    end(error);
    onFailed();
  };

  const end = (error: ErrorBody): void => {
    if (ended !== null) return;
    ended = error;
    cancelTimer?.();
    cancelOwed?.();
    attendance.end(error);
    answerEnded(submitted.splice(0));
    for (const { refuse } of reads.splice(0)) refuse(error);
  };

  const broadcast = (records: readonly LogRecord[]): void => {
    const last = records.at(-1);
    if (last === undefined) return;
    for (const record of records) tail.push(record);
    attendance.send(createFrame(ch, records, last.seq));
    onCommit(records);
  };

  /** Takes the state from the store; what others wrote, or what did land, is broadcast. */
  const reload = async (committedHead: number): Promise<ErrorBody | null> => {
    const outcome = await load(id);
    if (outcome.type === "refused") return outcome.error;
    const log = outcome.type === "ok" ? outcome.log : null;
    const isForkedMeanwhile = writer.header === null && (log?.header.inherited ?? 0) > 0;
    state = stateOfLog(log);
    writer.setHeader(log?.header ?? null);
    attendance.awaitHolders(state);
    if (log !== null && log.epoch !== epoch)
      return refusal("unavailable", `unable to go on with ${id}; records may have been lost`);
    if (isForkedMeanwhile) return refusal("unavailable", `unable to go on with ${id}; it came to be a fork`);
    broadcast(log?.records.filter((record) => record.seq > committedHead) ?? []);
    return null;
  };

  /** An acknowledgement waits until all that was in the log when it was decided is on disk (D1). */
  const answerWhenDurable = (durable: Promise<void>, answered: readonly Answered[]): void => {
    const answer = (): void => {
      for (const { parts, decision } of answered)
        if (ended === null) for (const { respond } of parts) respond(decision);
        else answerEnded(parts);
    };
    durable.then(answer, (cause: unknown) => {
      fail(refusal("unavailable", `unable to sync the log of ${id}; ${String(cause)}`));
      answer();
    });
  };

  const commitTurn = async (turns: readonly Turn[], expired: readonly Holder[]): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      const committedHead = state.head;
      const { records, answered } = decideTurn(state, runtime.now(), turns, expired);
      if (records.length === 0) return answerWhenDurable(store.synced(id), answered);
      const outcome = await writer.write(committedHead, records);
      if (outcome.type === "ok") {
        for (const record of records) attendance.awaitHolder(state, record);
        broadcast(records);
        return answerWhenDurable(outcome.durable, answered);
      }
      const fault = ended ?? (await reload(committedHead));
      if (fault !== null) return giveUp(fault, turns);
      if (outcome.type === "refused") return refuseAll(answered, outcome.error);
      if (tries < MAX_TRIES) continue;
      if (outcome.type === "unknown") return giveUp(outcome.error, turns);
      const error = refusal("unavailable", `unable to write to ${id}; others keep writing first`);
      return refuseAll(answered, error);
    }
  };

  /** Whether the turn was kept is not known here, so it is not refused: its senders join and ask again. */
  const giveUp = (error: ErrorBody, turns: readonly Turn[]): void => {
    fail(error);
    for (const { parts } of turns) answerEnded(parts);
  };

  const answerReads = (): void => {
    const session: SessionRead = {
      state,
      epoch,
      header: writer.header,
      origin: writer.origin,
      tailAfter: (seq) => tail.after(seq),
      subscribe: (subscriber, actor) => attendance.subscribe(subscriber, actor, settle),
    };
    for (const { read, refuse } of reads.splice(0))
      try {
        read(session);
      } catch (cause) {
        // What one cannot be answered is no fault of the others'.
        refuse(broken(cause));
      }
  };

  const isOwed = (): boolean => ended === null && cancelOwed === null && state.missedErases().length > 0;

  const payOwed = (): void => {
    cancelOwed = null;
    wake();
  };

  const runTurn = (turns: readonly Turn[], expired: readonly Holder[]): Promise<void> =>
    ended === null
      ? commitTurn(turns, expired).catch((cause: unknown) => giveUp(broken(cause), turns))
      : Promise.resolve(giveUp(ended, turns));

  const rest = (): void => {
    isBusy = false;
    for (const rested of resting.splice(0)) rested();
  };

  const pump = async (): Promise<void> => {
    while (ended === null) {
      const batch = submitted.splice(0);
      const expired = attendance.takeExpired();
      if (expired.length > 0 || isOwed()) await runTurn([], expired);
      for (const turns of turnsOf(batch)) await runTurn(turns, []);
      if (isOwed()) cancelOwed = runtime.setTimer(OWED_MS, payOwed);
      if (ended === null) answerReads();
      if (submitted.length === 0 && reads.length === 0) break;
    }
    rest();
    settle();
  };

  const broken = (cause: unknown): ErrorBody =>
    refusal("internal", `unable to go on with ${id}; ${String(cause)}`);

  const breakOff = (cause: unknown): void => {
    rest();
    fail(broken(cause));
  };

  const wake = (): void => {
    if (isBusy || ended !== null) return;
    isBusy = true;
    runtime.defer(() => void pump().catch(breakOff));
  };

  /** At rest: arm the timer of the next lease, or say that nothing is going on. */
  const settle = (): void => {
    if (isBusy || ended !== null) return;
    cancelTimer?.();
    const ms = attendance.msToExpiry;
    cancelTimer = ms === null ? null : runtime.setTimer(ms, wake);
    if (attendance.isEmpty) onIdle();
  };

  const read: Session["read"] = (readNow, refuse) => {
    if (ended !== null) return refuse(ended);
    reads.push({ read: readNow, refuse });
    wake();
  };

  attendance.awaitHolders(state);
  if (isOwed()) wake();
  settle();

  return {
    id,
    ch,
    get isStored() {
      return writer.header !== null;
    },
    get isIdle() {
      return !isBusy && attendance.isEmpty;
    },
    beginFrom: writer.beginFrom,
    becomeWhole: writer.setHeader,
    submit: (command, actor, respond) => {
      if (ended !== null) return respond(ENDED);
      submitted.push({ command, actor, respond });
      wake();
    },
    read,
    settled: async () => {
      const isAlive = await new Promise<boolean>((resolve) =>
        read(
          () => resolve(true),
          () => resolve(false),
        ),
      );
      // A failed sync is told to those who wait for its answers.
      if (isAlive) await store.synced(id).catch(() => {});
    },
    close: (error) => {
      end(error);
      return isBusy ? new Promise((resolve) => resting.push(resolve)) : Promise.resolve();
    },
  };
};
