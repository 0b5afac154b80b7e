/**
 * Who still holds what they have open (S7): a writer does while it is connected, and for a grace period
 * after that. Pure; whoever owns it asks when the next lease runs out.
 */
import type { WriterId } from "@espalier/shared";

/** Undefined stands for the entries that no writer is known for. */
export type Holder = WriterId | undefined;

export type Leases = {
  /** No writer is connected and no grace period runs. */
  readonly isIdle: boolean;
  /** When the next grace period ends, ms; null where none runs. */
  readonly nextDeadline: number | null;
  connect(writer: WriterId): void;
  disconnect(writer: WriterId, now: number): void;
  /** A holder that was found in a log begins its grace period, unless it is connected. */
  await(holder: Holder, now: number): void;
  /** The holders whose grace period has ended; each is named once. */
  takeExpired(now: number): Holder[];
};

export const createLeases = (graceMs: number): Leases => {
  const connections = new Map<WriterId, number>();
  const deadlines = new Map<Holder, number>();
  return {
    get isIdle() {
      return connections.size === 0 && deadlines.size === 0;
    },
    get nextDeadline() {
      let next: number | null = null;
      for (const deadline of deadlines.values()) if (next === null || deadline < next) next = deadline;
      return next;
    },
    connect: (writer) => {
      connections.set(writer, (connections.get(writer) ?? 0) + 1);
      deadlines.delete(writer);
    },
    disconnect: (writer, now) => {
      const left = (connections.get(writer) ?? 0) - 1;
      if (left > 0) connections.set(writer, left);
      else {
        connections.delete(writer);
        deadlines.set(writer, now + graceMs);
      }
    },
    await: (holder, now) => {
      if (holder !== undefined && connections.has(holder)) return;
      if (!deadlines.has(holder)) deadlines.set(holder, now + graceMs);
    },
    takeExpired: (now) => {
      const expired = [...deadlines].filter(([, deadline]) => deadline <= now).map(([holder]) => holder);
      for (const holder of expired) deadlines.delete(holder);
      return expired;
    },
  };
};
