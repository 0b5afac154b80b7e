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

/** One command, and what it was made of: everybody there is to hear what was decided. */
export type Turn = {
  readonly command: Command;
  readonly actor: Actor;
  readonly parts: Submitted[];
};

/**
 * Commands in order, those together that are decided and committed as one (N2). An erase is by itself: it
 * changes more of a log than its end.
 */
export const turnsOf = (submitted: readonly Submitted[]): Turn[][] => {
  const groups: Submitted[][] = [];
  let last: Submitted[] | null = null;
  for (const part of submitted) {
    const isAlone = part.command.type === "erase";
    if (last === null || isAlone) {
      last = [];
      groups.push(last);
    }
    last.push(part);
    if (isAlone) last = null;
  }
  return groups.map(mergeSubmitted);
};

const mergeSubmitted = (submitted: readonly Submitted[]): Turn[] => {
  const turns: Turn[] = [];
  const lastAppend = new Map<string, number>();
  for (const part of submitted) {
    const { command } = part;
    if (command.type !== "append") {
      lastAppend.clear();
      turns.push(turnOf(part));
      continue;
    }
    const index = lastAppend.get(command.append.id);
    const merged = index === undefined ? undefined : joined(turns[index] as Turn, part);
    if (merged !== undefined) turns[index as number] = merged;
    else {
      lastAppend.set(command.append.id, turns.length);
      turns.push(turnOf(part));
    }
  }
  return turns;
};

const turnOf = (part: Submitted): Turn => ({ command: part.command, actor: part.actor, parts: [part] });

const joined = ({ command, actor, parts }: Turn, part: Submitted): Turn | undefined => {
  if (command.type !== "append" || part.command.type !== "append") return undefined;
  if (actor.writer !== part.actor.writer || actor.principal.id !== part.actor.principal.id) return undefined;
  const { append: first } = command;
  const { append: second } = part.command;
  if (first.status !== undefined || first.at + sizeOfDeltas(first.deltas) !== second.at) return undefined;
  const append = { ...first, ...second, at: first.at, deltas: mergeDeltas(first.deltas, second.deltas) };
  parts.push(part);
  return { command: { type: "append", append }, actor, parts };
};
