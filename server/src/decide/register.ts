/** Setting a register: replaced as a whole, the last one wins (G1). */
import { jsonEqual, type Register } from "@espalier/shared";
import { accepted, type Command, type Context, type Decision, refused, seqsAfter } from "./decision.js";

/** All of them are part of a join, so they stay few and small. */
const MAX_REGISTERS = 1000;
const MAX_VALUE_LENGTH = 64 * 1024;

export const decideRegister = (
  { state, actor, now }: Context,
  { key, value }: Extract<Command, { type: "register" }>,
): Decision => {
  const held = state.registers.record(key);
  if (jsonEqual(held?.value ?? null, value)) return accepted([], { type: "placed", entries: [] });
  if (held === undefined && state.registers.size >= MAX_REGISTERS)
    return refused("too_large", `unable to set ${key}; a session holds at most ${MAX_REGISTERS} registers`);
  if (JSON.stringify(value).length > MAX_VALUE_LENGTH)
    return refused("too_large", `unable to set ${key}; a value holds at most ${MAX_VALUE_LENGTH} characters`);
  if (key === "title" && value !== null && typeof value !== "string")
    return refused("invalid", "unable to set title; it is a string or null");
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
