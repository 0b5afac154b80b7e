/** Setting a register: replaced as a whole, the last one wins (G1). What a key means is in `register-keys.ts`. */
import {
  isId,
  type Json,
  jsonEqual,
  KEY_KINDS,
  ownerOfKey,
  RESET,
  type Register,
  TITLE,
} from "@espalier/shared";
import { weightOfRegister } from "../session-registers.js";
import type { SessionState } from "../state.js";
import { accepted, type Command, type Context, type Decision, refused, seqsAfter } from "./decision.js";

/** A join carries the newest of them and the others are paged, so these bound what a session holds in memory. */
const MAX_REGISTERS = 20_000;
const MAX_VALUE_LENGTH = 64 * 1024;
const MAX_TOTAL_LENGTH = 8 * 1024 * 1024;
/** Titles stand in lists of a thousand sessions. */
const MAX_TITLE_LENGTH = 1000;

export const decideRegister = (
  { state, actor, now }: Context,
  { key, value }: Extract<Command, { type: "register" }>,
): Decision => {
  const owner = ownerOfKey(key);
  if (owner !== null && owner !== actor.principal.id && actor.principal.admin !== true)
    return refused("forbidden", `unable to set ${key}; it is ${owner}'s own`);
  const held = state.registers.record(key);
  if (jsonEqual(held?.value ?? null, value)) return accepted([], { type: "placed", entries: [] });
  if (key === RESET && typeof value === "string" && state.registers.wasReset(value))
    return refused("conflict", `unable to reset; ${value} was the id of an earlier reset`);
  const fault = valueFault(key, value);
  if (fault !== null) return refused("invalid", `unable to set ${key}; ${fault}`);
  const tooLarge = sizeFault(state, key, value, held);
  if (tooLarge !== null) return refused("too_large", `unable to set ${key}; ${tooLarge}`);
  const register: Register = {
    kind: "register",
    key,
    value,
    seq: seqsAfter(state.head)(),
    time: now,
    author: actor.principal.id,
  };
  return accepted([register], { type: "placed", entries: [] });
};

const valueFault = (key: string, value: Json): string | null => {
  if (key === RESET) return isId(value) ? null : "its value is an id of its own";
  if (value === null) return null;
  if (key === TITLE) return titleFault(value);
  if (key.startsWith(KEY_KINDS.BRANCH)) return isId(value) ? null : "a branch is an entry's id or null";
  return null;
};

const titleFault = (value: Json): string | null => {
  if (typeof value !== "string") return "it is a string or null";
  return value.length > MAX_TITLE_LENGTH ? `it holds at most ${MAX_TITLE_LENGTH} characters` : null;
};

const sizeFault = (
  { registers }: SessionState,
  key: string,
  value: Json,
  held: Register | undefined,
): string | null => {
  if (JSON.stringify(value).length > MAX_VALUE_LENGTH)
    return `a value holds at most ${MAX_VALUE_LENGTH} characters`;
  const more = weightOfRegister({ key, value }) - weightOfRegister(held);
  if (more > 0 && registers.weight + more > MAX_TOTAL_LENGTH)
    return `a session's registers hold at most ${MAX_TOTAL_LENGTH} characters`;
  const isNew = value !== null && (held?.value ?? null) === null;
  return isNew && registers.count >= MAX_REGISTERS
    ? `a session holds at most ${MAX_REGISTERS} registers`
    : null;
};
