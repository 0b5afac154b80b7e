/**
 * Registers as they are shown (G1): what was set here shows at once (O1), and gives way to what the log says when
 * the server has answered. Of one key one value is on its way at a time, so that what was set last is last in the
 * log too; what was set and replaced meanwhile is not sent.
 */
import { type ErrorBody, type Json, jsonEqual, jsonFault, type Registers, refusal } from "@espalier/shared";

export type ShownRegisters = {
  /** Null where it is not set. */
  get(key: string): Json;
  /** When what is shown was set, ms of the server's clock; null where nothing is, or it is on its way. */
  timeOf(key: string): number | null;
  /**
   * Those of a kind (`pin:`) that are set: what follows the colon, and the value; the one that was set last comes
   * last. The same list until one of the kind changes.
   */
  ofKind(kind: string): readonly NamedValue[];
  /** Resolves with null once it is on the server's disk, else with the refusal. */
  set(key: string, value: Json): Promise<ErrorBody | null>;
  /** The log has another value. */
  changed(key: string): void;
};

export type NamedValue = readonly [name: string, value: Json];

type ShownOptions = {
  /** Those of the log. */
  readonly getRegisters: () => Registers;
  readonly send: (key: string, value: Json) => Promise<ErrorBody | null>;
  /** What is shown of a key has changed. */
  readonly onChange: (key: string) => void;
};

type Waiting = { value: Json; isSent: boolean; askers: ((refused: ErrorBody | null) => void)[] };

export const createShownRegisters = ({ getRegisters, send, onChange }: ShownOptions): ShownRegisters => {
  const waitingByKey = new Map<string, Waiting>();
  const listsByKind = new Map<string, readonly NamedValue[]>();

  const tell = (key: string): void => {
    listsByKind.delete(kindOf(key));
    onChange(key);
  };

  const sendUntilLast = async (key: string, waiting: Waiting): Promise<void> => {
    while (!waiting.isSent) {
      waiting.isSent = true;
      const askers = waiting.askers.splice(0);
      const refused = await send(key, waiting.value);
      if (waiting.isSent) end(key, waiting);
      for (const resolve of askers) resolve(refused);
    }
  };

  const end = (key: string, { value }: Waiting): void => {
    waitingByKey.delete(key);
    const kind = kindOf(key);
    const before = listsByKind.get(kind);
    if (before !== undefined) listsByKind.delete(kind);
    // Its record came before the answer, unless somebody else's came after it, or it was refused.
    if (!jsonEqual(value, getRegisters().get(key))) return tell(key);
    if (before === undefined) return;
    // Another one of the kind may have come after it in the log: then it stands elsewhere in the list.
    const now = list(kind);
    if (jsonEqual(before, now)) listsByKind.set(kind, before);
    else tell(key);
  };

  const list = (kind: string): readonly NamedValue[] => {
    const log = getRegisters()
      .all()
      .filter(({ key }) => key.startsWith(kind) && !waitingByKey.has(key))
      .sort((left, right) => left.seq - right.seq)
      .map(({ key, value }): NamedValue => [key.slice(kind.length), value]);
    const waiting = [...waitingByKey]
      .filter(([key, { value }]) => key.startsWith(kind) && value !== null)
      .map(([key, { value }]): NamedValue => [key.slice(kind.length), value]);
    return Object.freeze([...log, ...waiting]);
  };

  return {
    get: (key) => {
      const waiting = waitingByKey.get(key);
      return waiting === undefined ? getRegisters().get(key) : waiting.value;
    },
    timeOf: (key) => {
      const record = waitingByKey.has(key) ? undefined : getRegisters().record(key);
      return record === undefined || record.value === null ? null : record.time;
    },
    ofKind: (kind) => {
      const held = listsByKind.get(kind) ?? list(kind);
      listsByKind.set(kind, held);
      return held;
    },
    set: (key, value) => {
      const fault = jsonFault(value);
      if (fault !== null) return Promise.resolve(refusal("invalid", `unable to set ${key}; ${fault}`));
      return new Promise((resolve) => {
        const waiting = waitingByKey.get(key) ?? { value, isSent: true, askers: [] };
        const isIdle = !waitingByKey.has(key);
        waitingByKey.set(key, waiting);
        waiting.value = value;
        waiting.isSent = false;
        waiting.askers.push(resolve);
        if (isIdle) void sendUntilLast(key, waiting);
        tell(key);
      });
    },
    changed: (key) => {
      if (!waitingByKey.has(key)) tell(key);
    },
  };
};

/** `pin:` of `pin:e1`. */
const kindOf = (key: string): string => key.slice(0, key.indexOf(":") + 1);
