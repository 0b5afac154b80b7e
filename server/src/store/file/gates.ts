/**
 * Who may use a session's file: any number who read it, or one who rewrites it, alone. Whoever asks to
 * have it alone comes before those that ask later, so it is never kept waiting by readers.
 */
import type { SessionId } from "@espalier/shared";

export type Gates = {
  /** Runs while nobody has the session alone. It must not ask for the same one again. */
  shared<T>(id: SessionId, work: () => Promise<T>): Promise<T>;
  /** Runs after what runs now, and before whatever is asked for later. */
  alone<T>(id: SessionId, work: () => Promise<T>): Promise<T>;
  /** Null where nobody has the session alone, or waits to have it; else resolves when that has passed. */
  opening(id: SessionId): Promise<void> | null;
};

type Gate = { readonly sharing: Set<Promise<void>>; last: Promise<void> | null };

export const createGates = (): Gates => {
  const gatesById = new Map<SessionId, Gate>();

  const gateOf = (id: SessionId): Gate => {
    const held = gatesById.get(id);
    if (held !== undefined) return held;
    const gate: Gate = { sharing: new Set(), last: null };
    gatesById.set(id, gate);
    return gate;
  };

  const leave = (id: SessionId, gate: Gate): void => {
    if (gate.sharing.size === 0 && gate.last === null) gatesById.delete(id);
  };

  return {
    shared: async (id, work) => {
      for (let before = gatesById.get(id)?.last; before; before = gatesById.get(id)?.last) await before;
      const gate = gateOf(id);
      const running = work();
      const done = running.then(ignore, ignore);
      gate.sharing.add(done);
      try {
        return await running;
      } finally {
        gate.sharing.delete(done);
        leave(id, gate);
      }
    },
    alone: async (id, work) => {
      const gate = gateOf(id);
      const before = [gate.last, ...gate.sharing];
      const running = Promise.all(before).then(work);
      const done = running.then(ignore, ignore);
      gate.last = done;
      try {
        return await running;
      } finally {
        if (gate.last === done) gate.last = null;
        leave(id, gate);
      }
    },
    opening: (id) => gatesById.get(id)?.last ?? null,
  };
};

const ignore = (): void => {};
