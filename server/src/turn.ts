/**
 * One turn of a session: its commands decided one after the other, each against what those before it gave
 * (N2). What is decided is applied to the state at once.
 */
import { type ErrorBody, type LogRecord, refusal } from "@espalier/shared";
import { decide } from "./decide/decide.js";
import type { Command, Decision } from "./decide/decision.js";
import { recordMissedErases } from "./decide/erase.js";
import { expireHolder } from "./decide/runs.js";
import type { Holder } from "./lease.js";
import type { Submitted, Turn } from "./merge-commands.js";
import type { Actor } from "./principal.js";
import type { SessionState } from "./state.js";

export type Answered = { readonly parts: readonly Submitted[]; readonly decision: Decision };

type Decided = { readonly records: readonly LogRecord[]; readonly answered: readonly Answered[] };

/** `expired` are the holders whose leases ran out (S7). */
export const decideTurn = (
  state: SessionState,
  now: number,
  turns: readonly Turn[],
  expired: readonly Holder[],
): Decided => {
  const records: LogRecord[] = [];
  const apply = (decided: readonly LogRecord[]): void => {
    for (const record of decided) {
      state.apply(record);
      records.push(record);
    }
  };
  const decideOne = (command: Command, actor: Actor): Decision => {
    const decision = decide({ state, actor, now }, command);
    if (decision.type === "accepted") apply(decision.records);
    return decision;
  };
  /** Where what was merged is refused, each part of it is decided by itself: merging changes nothing (S6). */
  const decideParts = ({ command, actor, parts }: Turn): Answered[] => {
    const decision = decideOne(command, actor);
    if (decision.type === "accepted" || parts.length === 1) return [{ parts, decision }];
    return parts.map((part) => ({ parts: [part], decision: decideOne(part.command, part.actor) }));
  };
  apply(recordMissedErases(state, now));
  for (const holder of expired) apply(expireHolder(state, holder, now));
  return { records, answered: turns.flatMap(decideParts) };
};

export const refuseAll = (answered: readonly Answered[], error: ErrorBody): void => {
  for (const { parts } of answered) for (const { respond } of parts) respond({ type: "refused", error });
};

export const ENDED: Decision = {
  type: "refused",
  error: refusal("not_joined", "unable to answer; the session ended before, join it and ask again"),
};

export const answerEnded = (parts: readonly Submitted[]): void => {
  for (const { respond } of parts) respond(ENDED);
};
