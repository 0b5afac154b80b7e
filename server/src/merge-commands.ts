/**
 * Appends that arrived in one turn become one command where they meet, before a seq is given (S6). Those
 * to different entries do not bear on each other; anything else keeps its place among them.
 */
import { mergeDeltas, sizeOfDeltas } from "@espalier/shared";
import type { Command, Decision } from "./decide/decision.js";
import type { Actor } from "./principal.js";

export type Submitted = {
  readonly command: Command;
  readonly actor: Actor;
  readonly respond: (decision: Decision) => void;
};

/** One command, and everybody who is to hear what was decided. */
export type Turn = {
  readonly command: Command;
  readonly actor: Actor;
  readonly responds: ((decision: Decision) => void)[];
};

export const mergeSubmitted = (submitted: readonly Submitted[]): Turn[] => {
  const turns: Turn[] = [];
  const lastAppend = new Map<string, number>();
  for (const { command, actor, respond } of submitted) {
    if (command.type !== "append") {
      lastAppend.clear();
      turns.push({ command, actor, responds: [respond] });
      continue;
    }
    const index = lastAppend.get(command.append.id);
    const merged = index === undefined ? undefined : joined(turns[index] as Turn, command, actor, respond);
    if (merged !== undefined) turns[index as number] = merged;
    else {
      lastAppend.set(command.append.id, turns.length);
      turns.push({ command, actor, responds: [respond] });
    }
  }
  return turns;
};

const joined = (
  turn: Turn,
  { append: second }: Extract<Command, { type: "append" }>,
  actor: Actor,
  respond: (decision: Decision) => void,
): Turn | undefined => {
  if (turn.command.type !== "append" || turn.actor.writer !== actor.writer) return undefined;
  if (turn.actor.principal !== actor.principal) return undefined;
  const { append: first } = turn.command;
  if (first.status !== undefined || first.at + sizeOfDeltas(first.deltas) !== second.at) return undefined;
  const append = { ...first, ...second, at: first.at, deltas: mergeDeltas(first.deltas, second.deltas) };
  turn.responds.push(respond);
  return { command: { type: "append", append }, actor: turn.actor, responds: turn.responds };
};
