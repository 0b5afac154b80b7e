/** What deciding costs, counted in look-ups instead of time (T6). */
import type { EntryId, Epoch, PrincipalId, Seq, WriterId } from "@espalier/shared";
import { expect, test } from "vitest";
import { decide } from "../../server/src/decide/decide.js";
import { answerQuestion, type Question } from "../../server/src/reading.js";
import type { SessionRead } from "../../server/src/session.js";
import { createSessionState } from "../../server/src/state.js";
import { say } from "../kit/raw.js";
import { countSteps } from "../kit/steps.js";

const actor = { principal: { id: "ann" as PrincipalId }, writer: "w" as WriterId };

const stepsOfAlternative = (alternatives: number): number => {
  const state = createSessionState({ floor: 0, inherited: 0, shared: [] });
  for (let index = 0; index < alternatives; index += 1)
    state.apply({
      kind: "entry",
      id: `e${index}` as EntryId,
      parentId: null,
      seq: (index + 1) as Seq,
      rev: (index + 1) as Seq,
      time: 0,
      author: "ann" as PrincipalId,
      status: "complete",
      size: 0,
      type: "message",
      role: "user",
      parts: [],
    });
  const item = { draft: say("next"), place: { forkOf: "e0" as EntryId } };
  return countSteps(() => {
    const decision = decide({ state, actor, now: 0 }, { type: "publish", items: [item] });
    if (decision.type !== "accepted") throw new Error(decision.error.message);
    for (const record of decision.records) state.apply(record);
  });
};

test("[T6] case-B8: the 50,000th alternative of one parent costs what the second one did", () => {
  const second = stepsOfAlternative(1);
  expect(second).toBeGreaterThan(0);
  expect(stepsOfAlternative(50_000)).toBe(second);
});

test("[C1] the pages of a context after the first cost what they give, not the line again", () => {
  const state = createSessionState({ floor: 0, inherited: 0, shared: [] });
  const length = 2000;
  for (let index = 0; index < length; index += 1)
    state.apply({
      kind: "entry",
      id: `e${index}` as EntryId,
      parentId: index === 0 ? null : (`e${index - 1}` as EntryId),
      seq: (index + 1) as Seq,
      rev: (index + 1) as Seq,
      time: 0,
      author: "ann" as PrincipalId,
      status: "complete",
      size: 0,
      type: "message",
      role: "user",
      parts: [],
    });
  const session = { state, epoch: "epoch1" as Epoch } as SessionRead;
  const leaf = `e${length - 1}` as EntryId;
  const ask = (before?: EntryId) =>
    answerQuestion(session, {
      type: "context",
      n: 1,
      ch: 1,
      leaf,
      limit: 10,
      ...(before === undefined ? {} : { before }),
    } as Question);
  const first = countSteps(() => void ask());
  const second = countSteps(() => {
    expect(ask(`e${length - 10}` as EntryId)).toMatchObject({ more: true, entries: { length: 10 } });
  });
  expect(first).toBeGreaterThan(length);
  expect(second).toBeLessThan(length);
});
