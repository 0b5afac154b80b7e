/** C2–C5: where a conversation is cut, what a summary has to stand for, and what is kept. */
import {
  type CompactionPlan,
  type CompactionPolicy,
  context,
  contextEntries,
  type Entry,
  type ErrorBody,
  EspalierError,
  planCompaction,
} from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { compaction, extended, line, note, other, prompt, reply, replyAs, result, system } from "./lines.js";
import { id } from "./records.js";

/** What a plan keeps and summarises, by name; the reason where there is none. */
const planned = (path: readonly Entry[], policy: CompactionPolicy) => {
  const plan = planCompaction(path, policy, { estimateTokens: () => 10 });
  return "code" in plan ? plan.code : short(plan);
};

const short = ({ firstKeptId, keptIds, summarize, split }: CompactionPlan) => ({
  first: firstKeptId,
  ...(keptIds === undefined ? {} : { kept: keptIds }),
  summarize: summarize.map(({ entryId }) => entryId).join(" "),
  ...(split === undefined ? {} : { split: split.promptId }),
});

const CHAT = line(prompt("u"), reply("a"), prompt("v"), reply("b"), prompt("w"), reply("c"));

/** u, a with two calls and their results, b; v, d with a call and its result, e. */
const TOOLS = line(
  prompt("u"),
  reply("a", "1", "2"),
  result("t1", "1"),
  result("t2", "2"),
  reply("b"),
  prompt("v"),
  reply("d", "3"),
  result("t3", "3"),
  reply("e"),
);

describe("[C5] keepTurns", () => {
  test("counts turns from the end", () => {
    expect(planned(CHAT, { keepTurns: 1 })).toEqual({ first: "w", summarize: "u a v b" });
    expect(planned(CHAT, { keepTurns: 2 })).toEqual({ first: "v", summarize: "u a" });
  });

  test("0 keeps nothing of the old", () =>
    expect(planned(CHAT, { keepTurns: 0 })).toEqual({ first: null, summarize: "u a v b w c" }));

  test("a turn begins at a user message that both see, and at nothing else", () => {
    const path = line(
      prompt("u"),
      reply("a"),
      prompt("v"),
      prompt("hidden", { audience: "model" }),
      prompt("aside", { audience: "reader" }),
      reply("b"),
    );
    expect(planned(path, { keepTurns: 1 })).toEqual({ first: "v", summarize: "u a" });
  });

  test("[case-C6] a prompt that came between a call and its result is no place for the cut", () => {
    const path = line(prompt("u"), reply("a", "1"), prompt("v"), result("t", "1"), reply("b"), prompt("w"));
    expect(planned(path, { keepTurns: 2 })).toEqual({ first: "b", summarize: "u a t v", split: "v" });
    expect(planned(path.slice(0, 4), { keepTurns: 1 })).toEqual({ first: "a", summarize: "u", split: "u" });
    expect(planned([...CHAT, ...path], { keepTurns: 3 })).toMatchObject({ first: "u" });
  });

  test("an erased prompt still begins a turn", () => {
    const erased = other("v", { type: "erased", role: "user", erasedAt: 9, erasedBy: "root" });
    const path = line(prompt("u"), reply("a"), erased, reply("b"));
    const plan = { first: "v", summarize: "u a" };
    expect(planned(path, { keepTurns: 1 })).toEqual(plan);
    // Also for one who was sent no more than what the context is made of.
    expect(planned(contextEntries(path), { keepTurns: 1 })).toEqual(plan);
  });

  test("with no more turns than that there is nothing to compact, and the reason is said", () => {
    expect(planned(CHAT, { keepTurns: 3 })).toBe("nothing_to_compact");
    expect(planned(CHAT, { keepTurns: 9 })).toBe("nothing_to_compact");
    expect(planned([], { keepTurns: 0 })).toBe("nothing_to_compact");
    expect((planCompaction(CHAT, { keepTurns: 3 }) as ErrorBody).message).toMatch(/^unable to compact; /);
  });

  test("what only readers see is nothing to compact", () =>
    expect(planned(line(note("n"), note("m"), prompt("u"), reply("a")), { keepTurns: 1 })).toBe(
      "nothing_to_compact",
    ));
});

describe("[C5] keepTokens", () => {
  test("keeps what is within the budget, from the end", () => {
    expect(planned(CHAT, { keepTokens: 20 })).toEqual({ first: "w", summarize: "u a v b" });
    expect(planned(CHAT, { keepTokens: 40 })).toEqual({ first: "v", summarize: "u a" });
    expect(planned(CHAT, { keepTokens: 60 })).toBe("nothing_to_compact");
  });

  test("[case-C6] between a call and its result the cut snaps forward to the next prompt or reply", () => {
    expect(planned(TOOLS, { keepTokens: 60 })).toEqual({ first: "b", summarize: "u a t1 t2", split: "u" });
    expect(planned(TOOLS, { keepTokens: 70 })).toEqual({ first: "b", summarize: "u a t1 t2", split: "u" });
    expect(planned(TOOLS, { keepTokens: 20 })).toEqual({
      first: "e",
      summarize: "u a t1 t2 b v d t3",
      split: "v",
    });
  });

  test("[case-C6] where nothing lies forward it snaps back to before the call", () =>
    expect(planned(TOOLS.slice(0, 8), { keepTokens: 10 })).toEqual({
      first: "d",
      summarize: "u a t1 t2 b v",
      split: "v",
    }));

  test("a turn that alone is larger is split at a reply, and the plan says so", () => {
    expect(planned(TOOLS, { keepTokens: 30 })).toMatchObject({ first: "d", split: "v" });
    expect(planned(TOOLS, { keepTokens: 29 })).toEqual({
      first: "e",
      summarize: "u a t1 t2 b v d t3",
      split: "v",
    });
    const long = line(prompt("u"), reply("a"), reply("b"), reply("c"), reply("d"));
    expect(planned(long, { keepTokens: 25 })).toEqual({ first: "c", summarize: "u a b", split: "u" });
  });

  test("the last prompt or reply is kept, though it be larger; 0 keeps nothing", () => {
    expect(planned(CHAT, { keepTokens: 1 })).toEqual({ first: "c", summarize: "u a v b w", split: "w" });
    expect(planned(CHAT.slice(0, 5), { keepTokens: 1 })).toEqual({ first: "w", summarize: "u a v b" });
    expect(planned(CHAT, { keepTokens: 0 })).toEqual({ first: null, summarize: "u a v b w c" });
  });

  test("what the model does not read takes nothing of the budget", () => {
    const path = extended(CHAT, note("n"), note("m"));
    expect(planned(path, { keepTokens: 20 })).toEqual({ first: "w", summarize: "u a v b" });
  });
});

describe("[C5] what is open is kept", () => {
  test("a call without a result: back to before it", () => {
    const path = extended(CHAT, reply("d", "1", "2"), result("t1", "1"));
    expect(planned(path, { keepTurns: 0 })).toEqual({ first: "d", summarize: "u a v b w c", split: "w" });
    expect(planned(path, { keepTokens: 10 })).toEqual({ first: "d", summarize: "u a v b w c", split: "w" });
    expect(planned(path, { keep: [] })).toEqual({ first: null, kept: ["d", "t1"], summarize: "u a v b w c" });
  });

  test("a message that streams, and so will say more than was summarised", () => {
    const path = extended(CHAT, replyAs("d", { status: "streaming" }), prompt("x"));
    expect(planned(path, { keepTurns: 1 })).toEqual({ first: "d", summarize: "u a v b w c", split: "w" });
    expect(planned(path, { keep: [id("u")] })).toEqual({
      first: null,
      kept: ["u", "d"],
      summarize: "a v b w c x",
    });
  });

  test("[case-C7] but not a call that was interrupted, once the conversation went on", () => {
    const path = line(prompt("u"), reply("a", "1"), prompt("v"), reply("b"), prompt("w"), reply("c"));
    expect(planned(path, { keepTurns: 1 })).toEqual({ first: "w", summarize: "u a a v b" });
    const plan = planCompaction(path, { keepTurns: 1 }) as CompactionPlan;
    expect(plan.summarize[2]).toMatchObject({ role: "tool", parts: [{ output: "interrupted" }] });
  });

  test("[case-C7] right after the interruption it is kept, so that a late result has its call", () => {
    const path = line(prompt("u"), reply("a"), prompt("v"), reply("b", "1"), prompt("w"));
    expect(planned(path, { keepTurns: 1 })).toEqual({ first: "b", summarize: "u a v", split: "v" });
  });
});

describe("[C2] keep", () => {
  test("names what is kept, in the order of the path", () =>
    expect(planned(CHAT, { keep: [id("w"), id("a")] })).toEqual({
      first: null,
      kept: ["a", "w"],
      summarize: "u v b c",
    }));

  test("[C5] a call is kept with its results, and a result with its call and their like", () => {
    expect(planned(TOOLS, { keep: [id("d")] })).toMatchObject({ kept: ["d", "t3"] });
    expect(planned(TOOLS, { keep: [id("t2")] })).toMatchObject({ kept: ["a", "t1", "t2"] });
  });

  test("what is not on the line is refused", () =>
    expect(planned(CHAT, { keep: [id("elsewhere")] })).toBe("not_found"));

  test("all of it: nothing to compact", () =>
    expect(planned(CHAT, { keep: CHAT.map((entry) => entry.id) })).toBe("nothing_to_compact"));

  test("what an earlier compaction had summarised can be named again", () => {
    const path = extended(CHAT, compaction("k", { firstKept: "w", upTo: "c" }), prompt("x"));
    expect(planned(path, { keep: [id("a")] })).toEqual({ first: null, kept: ["a"], summarize: "k w c x" });
  });
});

describe("system messages", () => {
  const path = line(system("s"), prompt("u"), system("r"), reply("a"), prompt("v"), reply("b"));

  test("[C2] are not summarised, for they stay", () => {
    expect(planned(path, { keepTurns: 1 })).toEqual({ first: "v", summarize: "u a" });
    expect(planned(path, { keep: [id("s"), id("u")] })).toEqual({
      first: null,
      kept: ["u"],
      summarize: "a v b",
    });
  });

  test("alone are nothing to compact", () =>
    expect(planned(line(system("s"), prompt("u")), { keepTurns: 1 })).toBe("nothing_to_compact"));
});

describe("[C4] a second compaction", () => {
  const first = extended(CHAT, compaction("k", { firstKept: "v", upTo: "c" }));
  const second = extended(first, prompt("x"), reply("d"));

  test("[case-C1] summarises the first summary and what the first one kept", () => {
    expect(planned(second, { keepTurns: 1 })).toEqual({ first: "x", summarize: "k v b w c" });
    const plan = planCompaction(second, { keepTurns: 1 }) as CompactionPlan;
    expect(plan.summarize[0]).toMatchObject({ role: "user", parts: [{ type: "text", text: "summary k" }] });
  });

  test("may keep on what the first one kept", () =>
    expect(planned(second, { keepTurns: 2 })).toEqual({ first: "w", summarize: "k v b" }));

  test("is refused where only the first summary would be summarised", () =>
    expect(planned(second, { keepTurns: 3 })).toBe("nothing_to_compact"));

  test("names again by id what the first one kept by id", () => {
    const byId = extended(
      CHAT,
      compaction("k", { firstKept: null, upTo: "c", kept: ["a", "w"] }),
      prompt("x"),
    );
    expect(planned(byId, { keepTurns: 2 })).toEqual({ first: "x", kept: ["w"], summarize: "k a" });
  });

  test("[C3] takes in what came between the summarising and the first compaction's place", () => {
    const path = extended(
      CHAT,
      prompt("x"),
      reply("d"),
      compaction("k", { firstKept: "w", upTo: "c" }),
      prompt("y"),
    );
    expect(planned(path, { keepTurns: 1 })).toEqual({ first: "y", summarize: "k w c x d" });
    expect(planned(path, { keepTurns: 2 })).toEqual({ first: "x", summarize: "k w c" });
  });

  test("[case-C3] is refused where the leaf is a compaction, whatever was changed since for readers alone", () => {
    expect(planned(first, { keepTurns: 0 })).toBe("nothing_to_compact");
    expect(planned(extended(first, note("n")), { keepTurns: 0 })).toBe("nothing_to_compact");
    const { message } = planCompaction(first, { keepTurns: 0 }) as ErrorBody;
    expect(message).toBe("unable to compact; the line ends with a compaction, and nothing has come after it");
  });
});

describe("a plan", () => {
  test("[C3] goes up to the leaf", () =>
    expect(planCompaction(extended(CHAT, note("n")), { keepTurns: 1 })).toMatchObject({ upToId: "n" }));

  test("counts what the model reads now, by the estimate that is handed in", () => {
    const path = extended(CHAT, compaction("k", { firstKept: "w", upTo: "c" }), prompt("x"), note("n"));
    const asked: string[] = [];
    const estimateTokens = (entry: Entry) => {
      asked.push(entry.id);
      return 0.4;
    };
    const plan = planCompaction(path, { keepTurns: 1 }, { estimateTokens }) as CompactionPlan;
    expect(asked).toEqual(["k", "w", "c", "x"]);
    expect(plan.tokensBefore).toBe(2);
  });

  test.each([{ keepTurns: -1 }, { keepTurns: 1.5 }, { keepTokens: Number.NaN }])(
    "from a policy that is none, %j, is thrown",
    (policy) => expect(() => planCompaction(CHAT, policy)).toThrow(EspalierError),
  );

  test("[case-B9] of 200,000 entries takes a time that grows with their number", () => {
    const path = Array.from({ length: 200_000 }, (_, at) =>
      (at % 2 === 0 ? prompt(`u${at}`) : reply(`a${at}`))(at === 0 ? null : `e${at - 1}`, at + 1),
    );
    expect(planCompaction(path, { keepTurns: 2 })).toMatchObject({ firstKeptId: "u199996" });
    expect(planCompaction(path, { keepTokens: 20 })).toMatchObject({ upToId: "a199999" });
    expect(context(path)).toHaveLength(200_000);
  });
});
