/** Where Claude Code's agents' files lie, and what becomes of those whose session is not beside them. */
import { EspalierError, type Json } from "@espalier/shared";
import { expect, test } from "vitest";
import { importClaudeCode } from "../../server/src/import/claude-code.js";
import type { Source } from "../../server/src/import/foreign.js";
import { collect, collectWhole, memorySource, options, soleSession } from "./kit.js";

const record = (uuid: string, parentUuid: string | null, type: string, content: Json, more: object = {}) => ({
  ...{ parentUuid, isSidechain: false, sessionId: "s1", type, message: { role: type, content } },
  ...{ uuid, timestamp: "2031-03-14T09:00:00.000Z", ...more },
});
const agent = (agentId: string, more: object = {}) =>
  lines(record(`${agentId}1`, null, "user", "dig", { isSidechain: true, agentId, ...more }));
const lines = (...records: readonly object[]) => records.map((each) => `${JSON.stringify(each)}\n`).join("");

const call = [{ type: "tool_use", id: "t1", name: "Task", input: {} }];
const answered = { toolUseResult: { agentId: "a" } };
const result = [{ type: "tool_result", tool_use_id: "t1", content: "done" }];
const SESSION = lines(record("c", null, "assistant", call), record("r", "c", "user", result, answered));

const read = (contents: Record<string, string>) =>
  collect(importClaudeCode(memorySource(contents), options()));

test("[F5] [import] agents' files beside the session's are its sidechains; another session's are left", async () => {
  const { sessions, files } = await read({
    "s.jsonl": SESSION,
    "agent-a.jsonl": agent("a"),
    "agent-b.jsonl": agent("b", { sessionId: "s2" }),
  });
  expect(sessions.map(({ id, origin }) => [id, origin?.callId])).toEqual([
    ["s1", undefined],
    ["s1/a", "t1"],
  ]);
  expect(files).toEqual(["s.jsonl", "agent-a.jsonl"]);
});

test("[F5] [import] a file of nothing but what agents said is a sidechain for each, whatever its name", async () => {
  const { sessions } = await read({ "copy.jsonl": agent("a") + agent("b") });
  expect(sessions.map(({ id }) => id)).toEqual(["s1/a", "s1/b"]);
});

test("[F5] [import] a lone agent's meta file says which call began it", async () => {
  const { sessions } = await read({ "agent-a.jsonl": agent("a"), "agent-a.meta.json": '{"toolUseId":"t9"}' });
  expect(sessions).toMatchObject([{ id: "s1/a", origin: { session: "s1", entry: null, callId: "t9" } }]);
});

test("[F5] [import] an agent's file that cannot be read is claimed and told; the rest is taken first", async () => {
  const source = memorySource({
    "s.jsonl": SESSION,
    "s/subagents/agent-a.jsonl": agent("a"),
    "s/subagents/agent-b.jsonl": agent("b"),
  });
  const failing: Source = {
    ...source,
    beside: async (name) => {
      if (name.endsWith("agent-a.jsonl")) throw new EspalierError("invalid", "no right to read it");
      return source.beside(name);
    },
  };
  const importing = importClaudeCode(failing, options());
  const { sessions, error } = await collectWhole(importing);
  expect(sessions.map(({ id }) => id)).toEqual(["s1", "s1/b"]);
  expect(error?.message).toBe("unable to import all of s.jsonl; of its subagents: no right to read it");
  expect(sessions[0]?.summary.reports).toContain("s/subagents/agent-a.jsonl: no right to read it; skipped");
  expect(importing.files).toContain("s/subagents/agent-a.jsonl");
});

test("[import] records that name another session are kept, and counted", async () => {
  const { summary } = soleSession(
    await read({
      "s.jsonl": lines(
        record("a", null, "user", "x", { sessionId: "s1" }),
        record("b", "a", "user", "y", { sessionId: "s2" }),
        record("c", "b", "user", "z", { sessionId: "s2" }),
      ),
    }),
  );
  expect(summary.entries).toBe(3);
  expect(summary.reports).toEqual(["2 records name another session (s2); kept in this one"]);
});

test("[import] of a file of another format there is no session, and it is said so", async () => {
  const importing = importClaudeCode(memorySource({ "x.json": '{\n"a":1\n}\n{"b":2}\n' }), options());
  await expect(collect(importing)).rejects.toMatchObject({ code: "invalid" });
});
