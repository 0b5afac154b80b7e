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
  type Runtime,
  refusal,
  type SessionId,
} from "@espalier/shared";
import { decide } from "./decide/decide.js";
import type { Command, Decision } from "./decide/decision.js";
import { holderOfEntry, holderOfRun, needsHolder } from "./decide/holder.js";
import { expireHolder } from "./decide/runs.js";
import { createFrame, type Frame } from "./frame.js";
import { createLeases, type Holder, holderFor } from "./lease.js";
import { mergeSubmitted, type Submitted, type Turn } from "./merge-commands.js";
import type { Actor } from "./principal.js";
import { createSessionState, type SessionState } from "./state.js";
import type { LogStore, StoredLog } from "./store/log-store.js";
import { createTail, type Tail } from "./tail.js";

export type Subscriber = {
  send(frame: Frame): void;
  /** The session cannot go on as it was: join again. */
  end(error: ErrorBody): void;
};

/** What a read may see: the session between two commits. */
export type SessionRead = {
  readonly state: SessionState;
  readonly epoch: Epoch;
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
  submit(command: Command, actor: Actor, respond: (decision: Decision) => void): void;
  /** One of the two is called: the second where the session has ended. */
  read(read: (session: SessionRead) => void, refuse: (error: ErrorBody) => void): void;
  /** Resolves when what was submitted so far is decided, on disk and answered. */
  settled(): Promise<void>;
  /** Ends timers and subscriptions; what was committed stays. */
  close(error: ErrorBody): void;
};

type SessionOptions = {
  readonly id: SessionId;
  readonly ch: number;
  readonly log: StoredLog | null;
  readonly store: LogStore;
  readonly runtime: Runtime;
  readonly graceMs: number;
  /** Hears of each commit, and of the end where the session had to give up. */
  readonly onCommit: (records: readonly LogRecord[]) => void;
  readonly onIdle: () => void;
  readonly onFailed: () => void;
};

/** Another node may win the race for the head; after this many times it is not a race. */
const MAX_TRIES = 5;

type Answered = { readonly parts: readonly Submitted[]; readonly decision: Decision };
type Read = { read(session: SessionRead): void; refuse(error: ErrorBody): void };

export const createSession = (options: SessionOptions): Session => {
  const { id, ch, store, runtime, onCommit, onIdle, onFailed } = options;
  const subscribers = new Set<Subscriber>();
  const leases = createLeases(options.graceMs);
  const epoch = options.log?.epoch ?? store.epoch;
  let isStored = options.log !== null;
  let state = stateOf(options.log);
  const tail = tailOf(options.log);
  const submitted: Submitted[] = [];
  const reads: Read[] = [];
  let isBusy = false;
  let ended: ErrorBody | null = null;
  let cancelTimer: (() => void) | null = null;

  /** What is open lives by its holder's lease, also where that holder is not here (any more) (S7). */
  const awaitHolders = (): void => {
    const now = runtime.elapsed();
    for (const { entry } of state.open()) leases.await(holderOfEntry(state, entry), now);
    for (const run of state.runs.open()) if (needsHolder(run)) leases.await(holderOfRun(run), now);
  };

  const awaitHolder = (record: LogRecord): void => {
    if (record.kind === "entry" && record.status === "streaming")
      leases.await(holderOfEntry(state, record), runtime.elapsed());
    if (record.kind === "run" && needsHolder(record)) leases.await(holderOfRun(record), runtime.elapsed());
  };

  const fail = (error: ErrorBody): void => {
    if (ended !== null) return;
    close(error);
    onFailed();
  };

  const close = (error: ErrorBody): void => {
    if (ended !== null) return;
    ended = error;
    cancelTimer?.();
    for (const subscriber of [...subscribers]) subscriber.end(error);
    subscribers.clear();
    answerEnded(submitted.splice(0));
    for (const { refuse } of reads.splice(0)) refuse(error);
  };

  const broadcast = (records: readonly LogRecord[]): void => {
    const last = records.at(-1);
    if (last === undefined) return;
    for (const record of records) tail.push(record);
    const frame = createFrame(ch, records, last.seq);
    for (const subscriber of subscribers) subscriber.send(frame);
    onCommit(records);
  };

  /** Takes the state from the store; what others wrote, or what did land, is broadcast. */
  const reload = async (committedHead: number): Promise<ErrorBody | null> => {
    const outcome = await store.load(id);
    if (outcome.type === "refused") return outcome.error;
    const log = outcome.type === "ok" ? outcome.log : null;
    state = stateOf(log);
    awaitHolders();
    isStored = log !== null;
    if (log !== null && log.epoch !== epoch)
      return refusal("unavailable", `unable to go on with ${id}; records may have been lost`);
    broadcast(log?.records.filter((record) => record.seq > committedHead) ?? []);
    return null;
  };

  const decideTurn = (turns: readonly Turn[], expired: readonly Holder[]) => {
    const now = runtime.now();
    const records: LogRecord[] = [];
    const apply = (decided: readonly LogRecord[]): void => {
      for (const record of decided) {
        state.apply(record);
        records.push(record);
      }
    };
    const decideOne = (command: Command, actor: Actor): Decision => {
      const decision = decide({ state, actor, now }, command);
      if (decision.type === "accepted") apply(decision.records);
      return decision;
    };
    /** Where what was merged is refused, each part of it is decided by itself: merging changes nothing (S6). */
    const decideParts = ({ command, actor, parts }: Turn): Answered[] => {
      const decision = decideOne(command, actor);
      if (decision.type === "accepted" || parts.length === 1) return [{ parts, decision }];
      return parts.map((part) => ({ parts: [part], decision: decideOne(part.command, part.actor) }));
    };
    for (const holder of expired) apply(expireHolder(state, holder, now));
    return { records, answered: turns.flatMap(decideParts) };
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
      const { records, answered } = decideTurn(turns, expired);
      if (records.length === 0) return answerWhenDurable(store.synced(id), answered);
      const outcome = await store.append(id, committedHead, records);
      if (outcome.type === "ok") {
        isStored = true;
        for (const record of records) awaitHolder(record);
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
      tailAfter: (seq) => tail.after(seq),
      subscribe,
    };
    for (const { read } of reads.splice(0)) read(session);
  };

  const subscribe = (subscriber: Subscriber, { principal, writer }: Actor): (() => void) => {
    const holder = holderFor(principal.id, writer);
    subscribers.add(subscriber);
    leases.connect(holder);
    return () => {
      if (!subscribers.delete(subscriber)) return;
      leases.disconnect(holder, runtime.elapsed());
      settle();
    };
  };

  const pump = async (): Promise<void> => {
    while (ended === null) {
      const expired = leases.takeExpired(runtime.elapsed());
      const turns = mergeSubmitted(submitted.splice(0));
      if (turns.length > 0 || expired.length > 0)
        await commitTurn(turns, expired).catch((cause: unknown) => giveUp(broken(cause), turns));
      if (ended === null) answerReads();
      if (submitted.length === 0 && reads.length === 0) break;
    }
    isBusy = false;
    settle();
  };

  const broken = (cause: unknown): ErrorBody =>
    refusal("internal", `unable to go on with ${id}; ${String(cause)}`);

  const wake = (): void => {
    if (isBusy || ended !== null) return;
    isBusy = true;
    runtime.defer(() => {
      pump().catch((cause: unknown) => {
        isBusy = false;
        fail(broken(cause));
      });
    });
  };

  /** At rest: arm the timer of the next lease, or say that nothing is going on. */
  const settle = (): void => {
    if (isBusy || ended !== null) return;
    cancelTimer?.();
    const deadline = leases.nextDeadline;
    cancelTimer =
      deadline === null ? null : runtime.setTimer(Math.max(0, deadline - runtime.elapsed()), wake);
    if (subscribers.size === 0 && leases.isIdle) onIdle();
  };

  const read: Session["read"] = (readNow, refuse) => {
    if (ended !== null) return refuse(ended);
    reads.push({ read: readNow, refuse });
    wake();
  };

  awaitHolders();
  settle();

  return {
    id,
    ch,
    get isStored() {
      return isStored;
    },
    get isIdle() {
      return !isBusy && subscribers.size === 0 && leases.isIdle;
    },
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
    close,
  };
};

const stateOf = (log: StoredLog | null): SessionState => {
  const state = createSessionState(log?.head ?? 0);
  for (const record of log?.records ?? []) state.apply(record);
  return state;
};

const tailOf = (log: StoredLog | null): Tail => {
  const tail = createTail(0);
  for (const record of log?.records ?? []) tail.push(record);
  return tail;
};

const refuseAll = (answered: readonly Answered[], error: ErrorBody): void => {
  for (const { parts } of answered) for (const { respond } of parts) respond({ type: "refused", error });
};

const ENDED: Decision = {
  type: "refused",
  error: refusal("not_joined", "unable to answer; the session ended before, join it and ask again"),
};

const answerEnded = (parts: readonly Submitted[]): void => {
  for (const { respond } of parts) respond(ENDED);
};
