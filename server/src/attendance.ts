/**
 * Who is at a session: those who are sent its records, and by whose leases what is open in it lives (S7).
 */
import type { ErrorBody, LogRecord, Runtime } from "@espalier/shared";
import { holderOfEntry, holderOfRun, needsHolder } from "./decide/holder.js";
import type { Frame } from "./frame.js";
import { createLeases, type Holder, holderFor } from "./lease.js";
import type { Actor } from "./principal.js";
import type { SessionState } from "./state.js";

export type Subscriber = {
  send(frame: Frame): void;
  /** The session cannot go on as it was: join again. */
  end(error: ErrorBody): void;
};

type Attendance = {
  /** Nobody is here, and nobody who was here may come back to what they have open. */
  readonly isEmpty: boolean;
  /** How long until the next lease runs out, ms; null where none does. */
  readonly msToExpiry: number | null;
  /** From here on the subscriber is sent every record (J1); returns its undo. */
  subscribe(subscriber: Subscriber, actor: Actor, onLeft: () => void): () => void;
  send(frame: Frame): void;
  /** What is open lives by its holder's lease, also where that holder is not here (any more). */
  awaitHolders(state: SessionState): void;
  /** The same for what a record began. */
  awaitHolder(state: SessionState, record: LogRecord): void;
  takeExpired(): Holder[];
  /** Ends all subscriptions. */
  end(error: ErrorBody): void;
};

export const createAttendance = (runtime: Runtime, graceMs: number): Attendance => {
  const subscribers = new Set<Subscriber>();
  const leases = createLeases(graceMs);

  return {
    get isEmpty() {
      return subscribers.size === 0 && leases.isIdle;
    },
    get msToExpiry() {
      const deadline = leases.nextDeadline;
      return deadline === null ? null : Math.max(0, deadline - runtime.elapsed());
    },
    subscribe: (subscriber, { principal, writer }, onLeft) => {
      const holder = holderFor(principal.id, writer);
      subscribers.add(subscriber);
      leases.connect(holder);
      return () => {
        if (!subscribers.delete(subscriber)) return;
        leases.disconnect(holder, runtime.elapsed());
        onLeft();
      };
    },
    send: (frame) => {
      for (const subscriber of subscribers) subscriber.send(frame);
    },
    awaitHolders: (state) => {
      const now = runtime.elapsed();
      for (const { entry } of state.open()) leases.await(holderOfEntry(state, entry), now);
      for (const run of state.runs.open()) if (needsHolder(run)) leases.await(holderOfRun(run), now);
    },
    awaitHolder: (state, record) => {
      if (record.kind === "entry" && record.status === "streaming")
        leases.await(holderOfEntry(state, record), runtime.elapsed());
      if (record.kind === "run" && needsHolder(record)) leases.await(holderOfRun(record), runtime.elapsed());
    },
    takeExpired: () => leases.takeExpired(runtime.elapsed()),
    end: (error) => {
      for (const subscriber of [...subscribers]) subscriber.end(error);
      subscribers.clear();
    },
  };
};
