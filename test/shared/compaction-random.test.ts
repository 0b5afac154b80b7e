/** C3–C5 on random lines: compacted again and again, nothing is lost and the context stays valid. */
import {
  type CompactionPlan,
  type CompactionPolicy,
  type ContextMessage,
  context,
  contextEntries,
  type Entry,
  planCompaction,
  transcript,
} from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compaction, extended, note, other, prompt, reply, replyAs, result, system } from "./lines.js";

/** Few ids for many calls, so that the same one comes in several replies. */
const CALL_IDS = ["1", "2", "3"];

type Step =
  | { readonly type: "prompt" | "hidden" | "system" | "note" | "told" | "branch" | "option" }
  | { readonly type: "reply" | "aborted" | "streaming"; readonly calls: readonly string[] }
  | { readonly type: "result"; readonly calls: readonly string[] }
  | { readonly type: "compact"; readonly policy: Policy; readonly between: number };

/** `keep` by positions, for ids are not known yet. */
type Policy = { keepTurns: number } | { keepTokens: number } | { keepAt: readonly number[] };

const calls = fc.uniqueArray(fc.constantFrom(...CALL_IDS), { maxLength: 2 });
const policy: fc.Arbitrary<Policy> = fc.oneof(
  fc.record({ keepTurns: fc.nat(3) }),
  fc.record({ keepTokens: fc.nat(80) }),
  fc.record({ keepAt: fc.array(fc.nat(40), { maxLength: 4 }) }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ type: "prompt" }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant("reply" as const), calls }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant("result" as const), calls }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("aborted" as const), calls }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("hidden", "system", "note", "told", "branch", "option")
      .map((type) => ({ type }) as Step),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("compact" as const), policy, between: fc.nat(3) }) },
);

const add = (path: readonly Entry[], step: Exclude<Step, { type: "compact" }>): Entry[] => {
  const name = `${step.type}${path.length}`;
  switch (step.type) {
    case "prompt":
      return extended(path, prompt(name));
    case "hidden":
      return extended(path, prompt(name, { audience: "model" }));
    case "system":
      return extended(path, system(name));
    case "note":
      return extended(path, note(name));
    case "told":
      return extended(path, other(name, { type: "custom", name, data: 1, audience: "both" }));
    case "branch":
      return extended(path, other(name, { type: "branch-summary", fromId: "x", summary: name }));
    case "option":
      return extended(path, other(name, { type: "option-change", option: "o", value: path.length }));
    case "result":
      return extended(path, result(name, ...step.calls));
    case "reply":
      return extended(path, reply(name, ...step.calls));
    default:
      return extended(path, replyAs(name, { status: step.type }, ...step.calls));
  }
};

/** Of what is read now: what is named again of an earlier time brings back more than was read. */
const policyOf = (path: readonly Entry[], policy: Policy): CompactionPolicy => {
  if (!("keepAt" in policy)) return policy;
  const ids = context(path).map(({ entryId }) => entryId);
  return { keep: policy.keepAt.flatMap((at) => ids[at % Math.max(1, ids.length)] ?? []) };
};

const compacted = (
  path: readonly Entry[],
  between: readonly Entry[],
  { firstKeptId, upToId, keptIds }: CompactionPlan,
): Entry[] =>
  extended(
    [...path, ...between],
    compaction(`compaction${path.length + between.length}`, {
      firstKept: firstKeptId,
      upTo: upToId,
      ...(keptIds === undefined ? {} : { kept: keptIds }),
    }),
  );

/** What others write while the summary is made: the results that the last reply waits for, and more talk. */
const writtenBetween = (path: readonly Entry[], count: number): Entry[] => {
  const last = path.at(-1);
  const open =
    last?.type === "message" && last.role === "assistant" && last.status === "complete"
      ? last.parts.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []))
      : [];
  const steps: Exclude<Step, { type: "compact" }>[] = [
    { type: "result", calls: open },
    { type: "prompt" },
    { type: "reply", calls: ["1"] },
  ];
  let line = [...path];
  for (const each of steps.slice(0, count)) line = add(line, each);
  return line.slice(path.length);
};

const isPut = ({ role, parts }: ContextMessage): boolean =>
  role === "tool" && parts.every((part) => part.type === "tool-result" && part.output === "interrupted");

/** Each call is followed by its result right behind its reply, and no result is without its call. */
const expectValid = (messages: readonly ContextMessage[]): void => {
  const open = new Set<string>();
  let isReply = false;
  for (const { role, parts } of messages) {
    const goesOn = isReply && role === "assistant" && parts.some(({ type }) => type === "tool-call");
    if (role !== "tool" && !goesOn) expect([...open]).toEqual([]);
    isReply = role === "assistant";
    for (const part of parts) {
      if (part.type === "tool-call") open.add(part.callId);
      if (part.type === "tool-result") expect(open.delete(part.callId)).toBe(true);
    }
  }
  expect([...open]).toEqual([]);
};

const check = (path: readonly Entry[], between: readonly Entry[], plan: CompactionPlan): void => {
  const before = context(path).filter(({ role }) => role !== "system");
  const summarized = new Set(plan.summarize);
  const kept = before.filter((message) => !plan.summarize.some((one) => sameMessage(one, message)));
  expect(before.filter((message) => plan.summarize.some((one) => sameMessage(one, message)))).toEqual([
    ...summarized,
  ]);
  expectValid(plan.summarize);

  // With nothing between, what is kept is read word for word, behind the summary.
  const after = context(compacted(path, [], plan)).filter(({ role }) => role !== "system");
  const [summary, ...rest] = after;
  expect(summary?.entryId).toMatch(/^compaction/);
  const restKept = rest.filter(({ entryId }) => before.some((message) => message.entryId === entryId));
  expect(restKept.filter(isSaid)).toEqual(kept.filter(isSaid));
  // Calls that come to stand beside each other have their results together, behind them.
  expect(partsOf(restKept)).toEqual(partsOf(kept));

  const whole = compacted(path, between, plan);
  const read = context(whole);
  expectValid(read);
  const readIds = new Set(read.map(({ entryId }) => entryId));
  for (const message of kept) if (!isPut(message)) expect(readIds).toContain(message.entryId);
  for (const entry of between)
    if (entry.type === "message" && entry.parts.length > 0) expect(readIds).toContain(entry.id);
  for (const { role, entryId } of context(path)) if (role === "system") expect(readIds).toContain(entryId);
  // C2, case-C5: readers see all of it, and the mark.
  expect(transcript(whole)).toEqual([...transcript([...path, ...between]), whole.at(-1)]);
  // C4, case-C1: the earlier summary is what the summariser reads first.
  const former = path.findLast(({ type }) => type === "compaction");
  if (former !== undefined) expect(plan.summarize[0]?.entryId).toBe(former.id);
};

const partsOf = (messages: readonly ContextMessage[]): Set<string> =>
  new Set(
    messages.flatMap(({ role, parts, entryId }) =>
      parts.map((part) => JSON.stringify([entryId, role, part])),
    ),
  );

const isSaid = ({ role }: ContextMessage): boolean => role !== "tool";

const sameMessage = (one: ContextMessage, other: ContextMessage): boolean =>
  one.entryId === other.entryId && JSON.stringify(one) === JSON.stringify(other);

describe("random lines, compacted again and again", () => {
  test("[C2] [C3] [C4] [C5] [case-C1] [case-C5] [case-C6] nothing is lost, and the context is valid", () => {
    let plans = 0;
    let again = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
        let path: Entry[] = [];
        for (const each of steps) {
          if (each.type !== "compact") {
            path = add(path, each);
            continue;
          }
          const plan = planCompaction(path, policyOf(path, each.policy), { estimateTokens: () => 10 });
          if ("code" in plan) continue;
          const between = writtenBetween(path, each.between);
          check(path, between, plan);
          plans += 1;
          if (path.some(({ type }) => type === "compaction")) again += 1;
          path = compacted(path, between, plan);
        }
      }),
      { numRuns: 1000 },
    );
    expect(plans).toBeGreaterThan(500);
    expect(again).toBeGreaterThan(100);
  });

  test("[C2] the entries that the context is made of are enough to plan by turns and tokens", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: "max" }), policy, (steps, wanted) => {
        let path: Entry[] = [];
        for (const each of [...steps, { type: "compact", policy: wanted, between: 0 } as const]) {
          if (each.type !== "compact") {
            path = add(path, each);
            continue;
          }
          const asked = policyOf(path, each.policy);
          const plan = planCompaction(path, asked);
          if (!("keep" in asked)) {
            const same = planCompaction(contextEntries(path), asked);
            expect("code" in same).toBe("code" in plan);
            if ("code" in same || "code" in plan) continue;
            expect(same.summarize).toEqual(plan.summarize);
            expect(same.tokensBefore).toBe(plan.tokensBefore);
            expect(same.split === undefined).toBe(plan.split === undefined);
            expect(context(compacted(path, [], same))).toEqual(context(compacted(path, [], plan)));
          }
          if (!("code" in plan)) path = compacted(path, [], plan);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("[C5] a cut by turns or tokens never begins with a result, and never beyond what is open", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: "max" }), policy, (steps, wanted) => {
        let path: Entry[] = [];
        for (const each of steps) if (each.type !== "compact") path = add(path, each);
        if ("keepAt" in wanted) return;
        const plan = planCompaction(path, wanted);
        if ("code" in plan || plan.firstKeptId === null) return;
        const first = path.find(({ id }) => id === plan.firstKeptId);
        expect(first).toMatchObject({ type: "message", role: expect.stringMatching(/user|assistant/) });
        expect(plan.split !== undefined).toBe(first?.type === "message" && first.role === "assistant");
      }),
      { numRuns: 500 },
    );
  });
});
