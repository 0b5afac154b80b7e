import { type ContextMessage, context, contextEntries, type Entry } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  call,
  chain,
  compaction,
  erased,
  type Link,
  modelChange,
  note,
  optionChange,
  other,
  read,
  reply,
  result,
  system,
  text,
  tool,
  user,
} from "./context-records.js";

/** A conversation of one-letter messages, by turns of user and reply. */
const letters = (from: string) =>
  [...from].map((name) =>
    name < "a" ? other("custom", name) : "aeiou".includes(name) ? user(name) : reply(name),
  );
const contextOf = (...links: Link[]) => read(context(chain(...links)));

describe("[C1] who reads what", () => {
  test("the model reads what is for both and for it alone", () => {
    expect(
      contextOf(
        user("u"),
        user("m", [text("m")], { audience: "model" }),
        user("r", [text("r")], { audience: "reader" }),
        modelChange("mc", "x"),
        optionChange("oc", "effort", 1),
        reply("a"),
      ),
    ).toEqual(["user: u", "user: m", "assistant: a"]);
  });

  test("a custom entry that is for the model is sent as a data part", () => {
    const path = chain(note("n"), note("m", { audience: "model" }), note("b", { audience: "both" }));
    expect(context(path)).toEqual([
      { role: "user", parts: [{ type: "data", name: "note", data: "m" }], entryId: "m" },
      { role: "user", parts: [{ type: "data", name: "note", data: "b" }], entryId: "b" },
    ]);
  });

  test("[L2] erased entries are not sent, and their role does not matter", () => {
    const path = chain(system("s"), user("u"), reply("a"));
    expect(read(context(path.map((entry) => (entry.id === "u" ? erased(entry, 9) : entry))))).toEqual([
      "system: s",
      "assistant: a",
    ]);
  });

  test("[L5] unknown entry types are not sent, unknown parts go as they are", () => {
    const part = { type: "hologram", beams: 3 } as never;
    const path = chain(other("poll", "p", { question: "?" }), user("u", [part]));
    expect(context(path)).toEqual([{ role: "user", parts: [part], entryId: "u" }]);
  });

  test("[C8] a branch-summary is sent as a user's text", () => {
    expect(contextOf(user("u"), other("branch-summary", "b", { fromId: "x", summary: "tried x" }))).toEqual([
      "user: u",
      "user: tried x",
    ]);
  });

  test("a reply that is unfinished, aborted or failed says what it holds, and nothing where that is empty", () => {
    expect(
      contextOf(
        reply("s", [text("s")], { status: "streaming" }),
        reply("a", [text("a")], { status: "aborted" }),
        reply("f", [text("f")], { status: "failed" }),
        reply("empty", [], { status: "aborted" }),
        reply("blank", [text("")], { status: "aborted" }),
        reply("part", [text(""), text("part")]),
      ),
    ).toEqual(["assistant: s", "assistant: a", "assistant: f", "assistant: part"]);
  });

  test("thoughts without text are sent where something else is in them", () => {
    const signed = { type: "thinking", text: "", signature: "x" } as never;
    expect(context(chain(reply("a", [signed])))[0]?.parts).toEqual([signed]);
  });
});

describe("[C2] the latest compaction wins", () => {
  test("system messages, the summary, the kept ids, then all from the first kept one on", () => {
    const path = chain(
      system("s"),
      ...letters("abcd"),
      system("t"),
      ...letters("efg"),
      compaction("K", "f", "g", { keptIds: ["c", "b", "f"] as never }),
      ...letters("hi"),
    );
    expect(read(context(path))).toEqual([
      "system: s",
      "system: t",
      "user: sum K",
      "assistant: b",
      "assistant: c",
      "assistant: f",
      "assistant: g",
      "assistant: h",
      "user: i",
    ]);
    expect(context(path)[2]?.entryId).toBe("K");
  });

  test("with no first kept one, none of the old ones is read", () => {
    expect(contextOf(...letters("abc"), compaction("K", null, "c"), ...letters("d"))).toEqual([
      "user: sum K",
      "assistant: d",
    ]);
  });

  test("[C3] what came between the summarising and the compaction is read", () => {
    const rest = ["user: sum K", "assistant: c", "assistant: d", "user: e"];
    expect(contextOf(...letters("abcd"), compaction("K", null, "b"), ...letters("e"))).toEqual(rest);
    expect(contextOf(...letters("abcd"), compaction("K", "d", "b"), ...letters("e"))).toEqual(rest);
  });

  test("[case-C2] a first kept entry that is no message leads to the right window", () => {
    const path = (kept: Link) =>
      contextOf(...letters("ab"), kept, ...letters("cd"), compaction("K", "x", "d"), ...letters("e"));
    const window = ["user: sum K", "assistant: c", "assistant: d", "user: e"];
    expect(path(modelChange("x", "m"))).toEqual(window);
    expect(path(note("x"))).toEqual(window);
    expect(path(other("poll", "x"))).toEqual(window);
  });

  test("[case-C2] where the path does not hold it, too much is read rather than too little", () => {
    const all = ["user: sum K", "user: a", "assistant: b", "assistant: c"];
    expect(contextOf(...letters("ab"), compaction("K", "gone", "b"), ...letters("c"))).toEqual(all);
    expect(contextOf(...letters("ab"), compaction("K", null, "gone"), ...letters("c"))).toEqual(all);
    expect(contextOf(...letters("ab"), compaction("K", "b", "gone"), ...letters("c"))).toEqual([
      "user: sum K",
      "assistant: b",
      "assistant: c",
    ]);
  });

  test("a summary of nothing is no message", () => {
    expect(contextOf(...letters("a"), compaction("K", null, "a", { summary: "" }), ...letters("b"))).toEqual([
      "assistant: b",
    ]);
  });
});

describe("[C4] two compactions", () => {
  test("[case-C1] the later alone is read, where the earlier lies above its window", () => {
    expect(
      contextOf(...letters("abc"), compaction("K", "c", "c"), ...letters("def"), compaction("L", "e", "f")),
    ).toEqual(["user: sum L", "user: e", "assistant: f"]);
  });

  test("[case-C1] the earlier is passed over, where it lies within its window", () => {
    const lines = [...letters("abc"), compaction("K", "b", "c"), ...letters("de")];
    const window = ["user: sum L", "assistant: c", "assistant: d", "user: e"];
    expect(contextOf(...lines, compaction("L", "c", "e"))).toEqual(window);
    expect(contextOf(...lines, compaction("L", "K", "e"))).toEqual([
      "user: sum L",
      "assistant: d",
      "user: e",
    ]);
  });

  test("two that were made of the same line at the same time lose nothing", () => {
    expect(
      contextOf(...letters("abc"), compaction("K", "c", "c"), compaction("L", "b", "b"), ...letters("d")),
    ).toEqual(["user: sum L", "assistant: b", "assistant: c", "assistant: d"]);
  });

  test("[case-C4] between the two the first holds, and before it nothing is summarised", () => {
    const path = chain(
      ...letters("abc"),
      compaction("K", "c", "c"),
      ...letters("d"),
      compaction("L", null, "d"),
    );
    expect(read(context(path.slice(0, 5)))).toEqual(["user: sum K", "assistant: c", "assistant: d"]);
    expect(read(context(path.slice(0, 3)))).toEqual(["user: a", "assistant: b", "assistant: c"]);
  });

  test("[L2] where the later is erased, the earlier holds again", () => {
    const path = chain(
      ...letters("ab"),
      compaction("K", "b", "b"),
      ...letters("c"),
      compaction("L", null, "c"),
    );
    expect(read(context([...path.slice(0, 4), erased(path[4] as Entry, 9)]))).toEqual([
      "user: sum K",
      "assistant: b",
      "assistant: c",
    ]);
  });
});

describe("[C10] edit", () => {
  const path = chain(
    user("u"),
    reply("a", [call("x"), call("y")]),
    tool("t", [result("x"), result("y")]),
    reply("b"),
  );
  const shortened = (message: ContextMessage): ContextMessage =>
    message.role === "tool"
      ? {
          ...message,
          parts: message.parts.map((part) => (part.type === "tool-result" ? { ...part, output: "" } : part)),
        }
      : message;

  test("shortens what one request sends, and nothing that is stored", () => {
    const before = JSON.stringify(path);
    expect(read(context(path, { edit: shortened }))[2]).toBe("tool: x= y=");
    expect(JSON.stringify(path)).toBe(before);
    expect(read(context(path))[2]).toBe("tool: x=found x y=found y");
  });

  test("leaves messages out with null, and the pairs stay valid", () => {
    const without = (role: string) => (message: ContextMessage) => (message.role === role ? null : message);
    expect(read(context(path, { edit: without("tool") }))).toEqual([
      "user: u",
      "assistant: x? y?",
      "tool: x=interrupted y=interrupted",
      "assistant: b",
    ]);
    expect(read(context(path, { edit: without("assistant") }))).toEqual(["user: u"]);
    expect(read(context(path, { edit: (message) => ({ ...message, parts: [] }) }))).toEqual([]);
  });

  test("is given the summary too, and cannot change what it is given", () => {
    const seen: string[] = [];
    const edit = (message: ContextMessage) => {
      expect(Object.isFrozen(message)).toBe(true);
      seen.push(message.entryId);
      return message;
    };
    context(chain(...letters("ab"), compaction("K", "b", "b")), { edit });
    expect(seen).toEqual(["K", "b"]);
  });
});

describe("what it gives", () => {
  test("[S8] is frozen", () => {
    const messages = context(chain(user("u"), reply("a", [call("x")]), compaction("K", "a", "a")));
    expect([messages, ...messages].every(Object.isFrozen)).toBe(true);
  });

  test("is nothing for an empty path", () => {
    expect(context([])).toEqual([]);
    expect(contextEntries([])).toEqual([]);
  });

  test("[T5] [case-B9] a path of 200,000 is walked in a loop", () => {
    const path = chain(system("s"));
    for (let at = 2; at <= 200_001; at++) path.push(user(`u${at}`)(path.at(-1)?.id ?? null, at));
    expect(context(path)).toHaveLength(200_001);
    const cut = compaction("K", "u200001", "u200001")("u200001", 200_002);
    expect(read(context([...path, cut]))).toEqual(["system: s", "user: sum K", "user: u200001"]);
    expect(contextEntries([...path, cut])).toHaveLength(3);
  });
});
