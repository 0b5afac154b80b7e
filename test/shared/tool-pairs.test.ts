import { context, type Entry, type Part, toolState } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  call,
  chain,
  compaction,
  erased,
  id,
  type Link,
  read,
  reply,
  result,
  text,
  tool,
  user,
} from "./context-records.js";

const contextOf = (...links: Link[]) => read(context(chain(...links)));

describe("[C6] calls and results in the context", () => {
  test("[case-C7] a call with no result is given an interrupted one, right behind its reply", () => {
    const path = chain(user("u"), reply("a", [text("look"), call("x"), call("y")]), user("v"));
    expect(context(path)[2]).toEqual({
      role: "tool",
      parts: [
        { type: "tool-result", callId: "x", output: "interrupted", isError: true },
        { type: "tool-result", callId: "y", output: "interrupted", isError: true },
      ],
      entryId: "a",
    });
    expect(read(context(path))[3]).toBe("user: v");
  });

  test("one that has its result keeps it, before what is put in for another", () => {
    expect(contextOf(reply("a", [call("x"), call("y")]), tool("t", [result("y")]), user("u"))).toEqual([
      "assistant: x? y?",
      "tool: y=found y",
      "tool: x=interrupted",
      "user: u",
    ]);
  });

  test("a result with no call is left out, with what stands beside it in a tool's message", () => {
    const image: Part = { type: "file", mediaType: "image/png", url: "data:," };
    expect(contextOf(tool("t", [result("x"), image]), user("u", [result("y"), text("u")]))).toEqual([
      "user: u",
    ]);
  });

  test("a result that was separated from its call is moved up behind it", () => {
    expect(
      contextOf(
        reply("a", [call("x"), call("y")]),
        user("u"),
        tool("t", [result("y")]),
        tool("s", [result("x")]),
      ),
    ).toEqual(["assistant: x? y?", "tool: y=found y", "tool: x=found x", "user: u"]);
  });

  test("the calls of a reply that was kept in several entries stay together, then come the results", () => {
    expect(
      contextOf(
        reply("a", [call("x")]),
        reply("b", [call("y")]),
        reply("c", [call("z")]),
        tool("s", [result("y")]),
        tool("t", [result("x")]),
        user("u"),
      ),
    ).toEqual([
      "assistant: x?",
      "assistant: y?",
      "assistant: z?",
      "tool: y=found y",
      "tool: x=found x",
      "tool: z=interrupted",
      "user: u",
    ]);
  });

  test("a message with results of two replies is divided between them", () => {
    const image: Part = { type: "file", mediaType: "image/png", url: "data:," };
    expect(
      contextOf(
        reply("a", [call("x")]),
        reply("b", [text("and")]),
        reply("c", [call("y")]),
        tool("t", [result("x"), image, result("y")]),
      ),
    ).toEqual([
      "assistant: x?",
      "tool: x=found x <file>",
      "assistant: and",
      "assistant: y?",
      "tool: y=found y",
    ]);
  });

  test("a result in a user's message becomes a tool's, the rest stays", () => {
    expect(contextOf(reply("a", [call("x")]), user("u", [text("hi"), result("x")]))).toEqual([
      "assistant: x?",
      "tool: x=found x",
      "user: hi",
    ]);
  });

  test("a result in the reply of its call stays there, behind it", () => {
    expect(contextOf(reply("a", [call("x"), result("x"), text("so")]))).toEqual([
      "assistant: x? x=found x so",
    ]);
    expect(contextOf(reply("a", [result("x"), call("x")]))).toEqual(["assistant: x?", "tool: x=interrupted"]);
  });

  test("a call that holds its own outcome waits for nothing", () => {
    expect(
      contextOf(
        reply("a", [call("x", { state: "done", output: 1 }), call("y", { state: "failed", error: "no" })]),
        tool("t", [result("x")]),
      ),
    ).toEqual(["assistant: x? y?"]);
    expect(contextOf(reply("a", [call("x", { state: "done" })]))).toContain("tool: x=interrupted");
  });

  test("[case-C8] the same id in two replies: each result pairs with its own reply's call", () => {
    const first = [reply("a", [call("x")]), tool("t", [result("x", "one")])];
    const second = [reply("b", [call("x")]), tool("s", [result("x", "two")])];
    expect(contextOf(...first, ...second)).toEqual([
      "assistant: x?",
      "tool: x=one",
      "assistant: x?",
      "tool: x=two",
    ]);
    expect(contextOf(reply("a", [call("x")]), user("u"), ...second)).toEqual([
      "assistant: x?",
      "tool: x=interrupted",
      "user: u",
      "assistant: x?",
      "tool: x=two",
    ]);
  });

  test("the same id twice in one reply: two results answer both", () => {
    expect(
      contextOf(
        reply("a", [call("x"), call("x")]),
        tool("t", [result("x", "1"), result("x", "2"), result("x", "3")]),
      ),
    ).toEqual(["assistant: x? x?", "tool: x=1 x=2"]);
  });

  test("[L2] an erased result leaves its call interrupted, an erased call takes its result along", () => {
    const path = chain(reply("a", [call("x")]), tool("t", [result("x")]));
    const without = (place: number) =>
      read(context(path.map((entry, index) => (index === place ? erased(entry, 9) : entry))));
    expect(without(1)).toEqual(["assistant: x?", "tool: x=interrupted"]);
    expect(without(0)).toEqual([]);
  });

  test("a cut between call and result makes no invalid context", () => {
    expect(
      contextOf(reply("a", [call("x")]), tool("t", [result("x")]), user("u"), compaction("K", "t", "u")),
    ).toEqual(["user: sum K", "user: u"]);
  });

  test("a message of which nothing moved is passed on as it is", () => {
    const path = chain(reply("a", [call("x")]), tool("t", [result("x")]));
    expect(context(path).map(({ parts }) => parts)).toEqual(
      path.map((entry) => "parts" in entry && entry.parts),
    );
    expect(context(path)[1]?.parts).toBe((path[1] as Entry & { parts: Part[] }).parts);
  });
});

describe("[C6] the state of a call", () => {
  const stateOf = (path: readonly Entry[], entry: string, callId = "x") => toolState(path, id(entry), callId);

  test("is the call's own, until something is known of it", () => {
    expect(stateOf(chain(reply("a", [call("x", { state: "asking" })])), "a")).toEqual({ state: "asking" });
    const done = chain(reply("a", [call("x", { state: "done", output: 3 })]), tool("t", [result("x")]));
    expect(stateOf(done, "a")).toEqual({ state: "done", output: 3 });
  });

  test("is done or failed with the result that belongs to it", () => {
    const failed: Part = { type: "tool-result", callId: "y", output: "no net", isError: true };
    const path = chain(reply("a", [call("x"), call("y")]), user("u"), tool("t", [result("x"), failed]));
    expect(stateOf(path, "a")).toEqual({ state: "done", output: "found x" });
    expect(stateOf(path, "a", "y")).toEqual({ state: "failed", output: "no net", error: "no net" });
    expect(stateOf(path.slice(0, 2), "a")).toEqual({ state: "ready" });
  });

  test("[case-C8] of the same id in two replies, each has its own", () => {
    const path = chain(reply("a", [call("x")]), reply("b", [call("x")]), tool("t", [result("x", "two")]));
    expect(stateOf(path, "a")).toEqual({ state: "ready" });
    expect(stateOf(path, "b")).toEqual({ state: "done", output: "two" });
  });

  test("has failed where its reply was cut short", () => {
    const path = chain(reply("a", [call("x", { state: "running" })], { status: "aborted" }));
    expect(stateOf(path, "a")).toEqual({ state: "failed", error: "interrupted" });
  });

  test("is null where there is no such call", () => {
    const path = chain(reply("a", [call("x")]));
    expect([stateOf(path, "a", "y"), stateOf(path, "b"), stateOf([], "a")]).toEqual([null, null, null]);
  });
});
