/**
 * Who still holds what they have open (S7): a writer does while it is connected, and for a grace period
 * after that. Pure; whoever owns it asks when the next lease runs out.
 */
import type { PrincipalId, WriterId } from "@espalier/shared";

/**
 * A writer of one principal: the log shows the ids of writers to everybody, so an id alone proves nothing.
 * Undefined stands for the entries that no writer is known for.
 */
export type Holder = `${PrincipalId} ${WriterId}` | undefined;

export const holderFor = (principal: PrincipalId | undefined, writer: WriterId | undefined): Holder =>
  principal === undefined || writer === undefined ? undefined : `${principal} ${writer}`;

export type Leases = {
  /** No writer is connected and no grace period runs. */
  readonly isIdle: boolean;
  /** When the next grace period ends, ms; null where none runs. */
  readonly nextDeadline: number | null;
  connect(holder: Holder): void;
  disconnect(holder: Holder, now: number): void;
  /** A holder that has something open begins its grace period, unless it is connected or in one. */
  await(holder: Holder, now: number): void;
  /** The holders whose grace period has ended; each is named once. */
  takeExpired(now: number): Holder[];
};

export const createLeases = (graceMs: number): Leases => {
  const connections = new Map<Holder, number>();
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
    connect: (holder) => {
      connections.set(holder, (connections.get(holder) ?? 0) + 1);
      deadlines.delete(holder);
    },
    disconnect: (holder, now) => {
      const left = (connections.get(holder) ?? 0) - 1;
      if (left > 0) connections.set(holder, left);
      else {
        connections.delete(holder);
        deadlines.set(holder, now + graceMs);
      }
    },
    await: (holder, now) => {
      if (!connections.has(holder) && !deadlines.has(holder)) deadlines.set(holder, now + graceMs);
    },
    takeExpired: (now) => {
      const expired = [...deadlines].filter(([, deadline]) => deadline <= now).map(([holder]) => holder);
      for (const holder of expired) deadlines.delete(holder);
      return expired;
    },
  };
};
