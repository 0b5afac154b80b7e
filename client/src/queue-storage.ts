/**
 * Keeps the writes of one session in the storage that was handed in (O3): each under a key of its own, and
 * under the session's key the numbers from which to which there are some. So a change costs the write that
 * changed and not the queue, and two who share a storage do not take each other's writes away.
 */
import { type ErrorBody, refusal } from "@espalier/shared";
import { isWrite, type Write } from "./pending.js";

/** Keeps what was not sent over a reload. `localStorage` and `sessionStorage` are ones. */
export type QueueStorage = {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
};

export type QueueKeeper = {
  /** What an earlier page left, in order. */
  load(): Write[];
  keep(write: Write): void;
  drop(id: string): void;
};

type Range = { readonly from: number; readonly to: number };

const EMPTY: Range = { from: 0, to: 0 };

export const createQueueKeeper = (
  storage: QueueStorage,
  key: string,
  onFault: (error: ErrorBody) => void,
): QueueKeeper => {
  const numbersById = new Map<string, number>();
  const keyOf = (number: number): string => `${key}/${number}`;

  /** Read each time: another client may share the storage. */
  const getRange = (): Range => {
    const range = parse(storage.getItem(key));
    return isRange(range) ? range : EMPTY;
  };

  const trim = (): void => {
    const { from, to } = getRange();
    let first = from;
    while (first < to && storage.getItem(keyOf(first)) === null) first += 1;
    if (first === to) storage.removeItem(key);
    else if (first > from) storage.setItem(key, JSON.stringify({ from: first, to }));
  };

  const takeNumber = (id: string): number => {
    const { from, to } = getRange();
    storage.setItem(key, JSON.stringify({ from, to: to + 1 }));
    numbersById.set(id, to);
    return to;
  };

  const attempt = <T>(what: () => T, otherwise: T): T => {
    try {
      return what();
    } catch (cause) {
      onFault(refusal("unavailable", `unable to keep unsent writes over a reload; ${String(cause)}`));
      return otherwise;
    }
  };

  return {
    load: () =>
      attempt(() => {
        const { from, to } = getRange();
        const writes: Write[] = [];
        for (let number = from; number < to; number += 1) {
          const write = parse(storage.getItem(keyOf(number)));
          if (!isWrite(write)) continue;
          writes.push(write);
          numbersById.set(write.id, number);
        }
        return writes;
      }, []),
    keep: (write) => {
      // Its text is not kept, so another page could not end it.
      if (write.items.some(({ draft }) => draft.status === "streaming")) return;
      attempt(
        () =>
          storage.setItem(keyOf(numbersById.get(write.id) ?? takeNumber(write.id)), JSON.stringify(write)),
        undefined,
      );
    },
    drop: (id) => {
      const number = numbersById.get(id);
      if (number === undefined) return;
      numbersById.delete(id);
      attempt(() => {
        storage.removeItem(keyOf(number));
        trim();
      }, undefined);
    },
  };
};

/** A storage may hold anything; what cannot be read is nothing. */
const parse = (text: string | null): unknown => {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
};

const isRange = (value: unknown): value is Range =>
  typeof value === "object" &&
  value !== null &&
  "from" in value &&
  "to" in value &&
  Number.isSafeInteger(value.from) &&
  Number.isSafeInteger(value.to) &&
  (value.from as number) >= 0 &&
  (value.to as number) - (value.from as number) < MAX_KEPT;

/** What is more is no range that was written here. */
const MAX_KEPT = 1_000_000;
