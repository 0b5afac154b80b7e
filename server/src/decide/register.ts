/** Setting a register: replaced as a whole, the last one wins (G1). */
import { type Json, jsonEqual, type Register } from "@espalier/shared";
import { weightOfRegister } from "../state.js";
import { accepted, type Command, type Context, type Decision, refused, seqsAfter } from "./decision.js";

/** All that are set are part of a join, so they stay few and small. */
const MAX_REGISTERS = 1000;
const MAX_VALUE_LENGTH = 64 * 1024;
const MAX_TOTAL_LENGTH = 1024 * 1024;
/** Titles stand in lists of a thousand sessions. */
const MAX_TITLE_LENGTH = 1000;

export const decideRegister = (
  { state, actor, now }: Context,
  { key, value }: Extract<Command, { type: "register" }>,
): Decision => {
  const held = state.registers.record(key);
  if (jsonEqual(held?.value ?? null, value)) return accepted([], { type: "placed", entries: [] });
  const fault = titleFault(key, value);
  if (fault !== null) return refused("invalid", `unable to set ${key}; ${fault}`);
  if (JSON.stringify(value).length > MAX_VALUE_LENGTH)
    return refused("too_large", `unable to set ${key}; a value holds at most ${MAX_VALUE_LENGTH} characters`);
  const more = weightOfRegister({ key, value }) - weightOfRegister(held);
  if (more > 0 && state.registered.weight + more > MAX_TOTAL_LENGTH)
    return refused(
      "too_large",
      `unable to set ${key}; a session's registers hold at most ${MAX_TOTAL_LENGTH} characters`,
    );
  const isNew = value !== null && (held?.value ?? null) === null;
  if (isNew && state.registered.count >= MAX_REGISTERS)
    return refused("too_large", `unable to set ${key}; a session holds at most ${MAX_REGISTERS} registers`);
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

const titleFault = (key: string, value: Json): string | null => {
  if (key !== "title" || value === null) return null;
  if (typeof value !== "string") return "it is a string or null";
  return value.length > MAX_TITLE_LENGTH ? `it holds at most ${MAX_TITLE_LENGTH} characters` : null;
};
