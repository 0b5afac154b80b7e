/** What was used, and what the model reads, as a server tells it to who does not hold the whole line (C9, C2). */
import { contextEntries, type EntryId, pathTo, type Usage } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  append,
  at,
  expectType,
  follow,
  join,
  joinedAs,
  publish,
  publishWithRun,
  type RawClient,
  register,
  say,
  streaming,
} from "../kit/raw.js";
import { begin, createForestWorld, eraseMessage, fork, forkMessage, grow } from "./forest.js";

const used = (output: number, model?: string): Usage => ({
  input: 1,
  output,
  ...(model === undefined ? {} : { model }),
});

const usageOf = async (client: RawClient, ch: number, more: object = {}) =>
  expectType(await client.ask({ type: "usage", ch, ...more }), "usage").usage;

const spend = async () => {
  const begun = await begin(await createForestWorld(), "root", ["a"]);
  const { client, ch } = begun;
  await client.ask(publishWithRun(ch, { id: "run", place: { after: "a" } }));
  await client.ask({ type: "claim", ch, id: "run" });
  await client.ask(publish(ch, at(undefined, streaming("b", { runId: "run" }))));
  client.send(append(ch, "b", 0, "text", { usage: used(5, "m") }));
  client.send(append(ch, "b", 4, "more", { usage: used(10, "m"), status: "complete" }));
  await client.ask(
    publish(ch, at({ under: "a" }, say("other", "other", { role: "assistant", usage: used(100) }))),
  );
  return begun;
};

describe("[C9] usage", () => {
  test("of the session, of a line and of a run; each entry once, with its last figure", async () => {
    const { client, ch } = await spend();
    expect(await usageOf(client, ch)).toMatchObject({
      input: 2,
      output: 110,
      byModel: { m: { output: 10 } },
    });
    expect(await usageOf(client, ch, { leaf: "b" })).toMatchObject({ input: 1, output: 10 });
    expect(await usageOf(client, ch, { run: "run" })).toMatchObject({ input: 1, output: 10 });
  });

  test("is of what is there", async () => {
    const { client, ch } = await spend();
    for (const more of [{ leaf: "nope" }, { run: "nope" }])
      expect(await client.ask({ type: "usage", ch, ...more })).toMatchObject({
        error: { code: "not_found" },
      });
    expect(await client.ask({ type: "usage", ch, leaf: "b", run: "run" })).toMatchObject({
      error: { code: "invalid" },
    });
  });

  test("is the same after a restart", async () => {
    const { world, client, ch } = await spend();
    const before = await usageOf(client, ch);
    world.stopServer();
    await world.startServer();
    const again = await joinedAs(world, "root");
    expect(await usageOf(again.client, again.ch)).toEqual(before);
  });

  test("[F8] counts from the last reset on", async () => {
    const { client, ch } = await spend();
    await client.ask(register(ch, "reset", "r1"));
    expect(await usageOf(client, ch)).toMatchObject({ output: 0 });
    await client.ask(publish(ch, follow(null, say("x", "x", { usage: used(7) }))));
    expect(await usageOf(client, ch)).toMatchObject({ output: 7 });
    await client.ask(publish(ch, at(undefined, say("late", "late", { runId: "run", usage: used(50) }))));
    expect(await usageOf(client, ch)).toMatchObject({ output: 7 });
    expect(await usageOf(client, ch, { run: "run" })).toMatchObject({ output: 60 });
    expect(await usageOf(client, ch, { leaf: "b" })).toMatchObject({ output: 10 });
  });

  test("[L2] of an entry that was erased stays", async () => {
    const { client, ch } = await spend();
    await client.ask(eraseMessage(ch, "b"));
    expect(await usageOf(client, ch)).toMatchObject({ output: 110 });
  });

  test.each(["copy", "share"] as const)(
    "[F1] [F2] in a fork by %s, what was taken over is the line's and not the session's",
    async (mode) => {
      const { world, client } = await spend();
      await client.ask(forkMessage("t", { entry: "b" }, mode));
      const joined = await join(client, { session: "t" });
      await client.ask(publish(joined.ch, follow(null, say("mine", "mine", { usage: used(3) }))));
      const check = async (by: RawClient, ch: number) => {
        expect(await usageOf(by, ch)).toMatchObject({ output: 3 });
        expect(await usageOf(by, ch, { leaf: "mine" })).toMatchObject({ output: 13 });
      };
      await check(client, joined.ch);
      expectType(await client.ask({ type: "delete", session: "s" }), "ack");
      await check(client, joined.ch);
      world.stopServer();
      await world.startServer();
      const again = await joinedAs(world, "root", { session: "t" });
      await check(again.client, again.ch);
    },
  );

  test("[F5] a sidechain counts by itself", async () => {
    const { world, client, ch } = await spend();
    const side = await begin(world, "root", [], "s/one");
    await side.client.ask(publish(side.ch, follow(null, say("x", "x", { usage: used(1000) }))));
    expect(await usageOf(client, ch)).toMatchObject({ output: 110 });
    expect(await usageOf(side.client, side.ch)).toMatchObject({ output: 1000 });
  });
});

describe("[C2] the entries of a context", () => {
  const compacted = async () => {
    const begun = await begin(
      await createForestWorld(),
      "root",
      Array.from({ length: 20 }, (_, index) => `e${index}`),
    );
    const { client, ch } = begun;
    await client.ask(
      publish(
        ch,
        at(
          { under: "e19" },
          { id: "k", type: "compaction", summary: "S", firstKeptId: "e15", upToId: "e19" },
        ),
      ),
    );
    await grow(client, ch, "k", "f0", "f1");
    return begun;
  };

  const contextOf = async (client: RawClient, ch: number, more: object = {}) =>
    expectType(await client.ask({ type: "context", ch, leaf: "f1", limit: 1000, ...more }), "context");

  test("are those that the context of the whole line is made of", async () => {
    const { world, client, ch } = await compacted();
    const { entries, more, head } = await contextOf(client, ch);
    const node = (await world.fold("s")).get("f1" as EntryId);
    expect(entries).toEqual(contextEntries(pathTo(node as never).map(({ entry }) => entry)));
    expect(entries.length).toBeLessThan(12);
    expect([more, head]).toEqual([false, 23]);
  });

  test("are paged from the leaf up", async () => {
    const { client, ch } = await compacted();
    const whole = (await contextOf(client, ch)).entries;
    const found: (typeof whole)[number][] = [];
    for (let more = true; more; ) {
      const before = found[0]?.id;
      const page = await contextOf(client, ch, { limit: 3, ...(before === undefined ? {} : { before }) });
      expect(page.entries.length).toBeLessThanOrEqual(3);
      found.unshift(...page.entries);
      more = page.more;
    }
    expect(found).toEqual(whole);
  });

  test("a page is bounded in bytes too, and holds at least one", async () => {
    const { client, ch } = await begin(await createForestWorld(), "root", ["a"]);
    for (const id of ["x", "y", "z"])
      await client.ask(publish(ch, follow(null, say(id, "x".repeat(200_000)))));
    const page = await contextOf(client, ch, { leaf: "z" });
    expect(page).toMatchObject({ entries: [{ id: "z" }], more: true });
  });

  test("of what is not there are not found", async () => {
    const { client, ch } = await compacted();
    for (const more of [{ leaf: "nope" }, { before: "nope" }, { before: "e3" }])
      expect(await client.ask({ type: "context", ch, leaf: "f1", limit: 9, ...more })).toMatchObject({
        error: { code: "not_found" },
      });
  });

  test("[F2] reach into what is shared", async () => {
    const { client } = await compacted();
    await fork(client, "t", { entry: "f1" });
    const joined = await join(client, { session: "t" });
    await client.ask(publish(joined.ch, follow(null, say("mine"))));
    const { entries } = await contextOf(client, joined.ch, { leaf: "mine" });
    expect(entries.at(-1)?.id).toBe("mine");
    expect(entries.some(({ id }) => id === "k")).toBe(true);
  });
});
