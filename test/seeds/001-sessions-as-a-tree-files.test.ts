/**
 * Sessions as trees, continued from `001-sessions-as-a-tree.test.ts`: as records, as files, and as a forest. The
 * claims in order, and the tests that prove them:
 *
 * 20  a shared prefix is no copy, however long                      [F2]
 * 27  an entry is one self-describing record                        [D1] a record …
 * 28  the tree is made again from the records and their ids         [T1]
 * 29  reading one evaluates nothing                                 [L6] what looks like code …
 * 30  text with line breaks comes back                              [L6] line breaks …
 * 31  without being asked to, nothing is written to disk            [D8] without a directory …
 * 32  a directory is what one asks for                              [F7]
 * 33  a session is a file: a header with a version, then the
 *     entries as they were appended                                 [F7]
 * 34  the file grows by what is written, and is not rewritten       [D1] a file …
 * 35  a torn end is dropped, and costs the last entry at most       [D3]
 * 36  past sessions are shown as a forest of who came from whom     [F4]
 * 37  memory and files: the same tree, the same operations          [D8] a session in memory …
 * 38  the agent's loop appends to the tree and reads its branch     [R1]
 * 39  a branch becomes messages below the system's prompt           [C2]
 */
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compact, type EntryId, leaveBranch, type SessionId, serveRuns } from "@espalier/client";
import { createTree, type Json } from "@espalier/shared";
import { afterEach, describe, expect, test } from "vitest";
import { cleanUp as cleanUpCommands, run, start } from "../cli/command.js";
import { readTexts } from "../client/summaries.js";
import { until } from "../kit/until.js";
import { textOf } from "../kit/world.js";
import { cleanUp, connectTo, openSession, textsOf } from "../server/sockets.js";
import { copyDir, createDir, filesIn, openDir, readLog, readText, sayAll } from "./files.js";
import { entriesOf, granted, idOf } from "./kit.js";

afterEach(async () => {
  await cleanUpCommands();
  await cleanUp();
});

/** What somebody who was never there reads, from a server of its own. */
const readAgain = async (dir: string, session = "s"): Promise<string[]> => {
  const { server, client } = await openDir(dir);
  const { view } = await openSession(client, session);
  const texts = textsOf(view);
  await server.close();
  return texts;
};

describe("records", () => {
  test("[F2] a fork of a long line is one short line of a file, and has the same entries (20)", async () => {
    const dir = createDir();
    const { server, session, view } = await openDir(dir);
    const long = Array.from({ length: 3000 }, (_, index) => ({
      draft: {
        id: `e${index}` as EntryId,
        type: "message" as const,
        role: "user" as const,
        parts: [{ type: "text" as const, text: `${index} ${"long ".repeat(20)}` }],
      },
      place: { after: null },
    }));
    for (let from = 0; from < long.length; from += 500)
      expect(await session.publish(long.slice(from, from + 500))).toMatchObject({ ok: true });
    await until(() => view.snapshot.leafId === "e2999");
    const { session: child, entry } = granted(await view.fork({ session: "child" as SessionId }));
    await server.close();
    expect([child, entry]).toEqual(["child", "e2999"]);
    expect(readLog(dir, "child.jsonl").records).toEqual([]);
    expect(readText(dir, "child.jsonl").length).toBeLessThan(500);
    expect((await readAgain(dir, "child")).at(-1)).toMatch(/^2999 long/);
  });

  test("[D1] a record names its type, its id, its parent, its time, and its content by name (27)", async () => {
    const dir = createDir();
    const { server, view } = await openDir(dir);
    const [one, two] = await sayAll(view, "one", "two");
    const shown = view.getMessages().map(({ entry }) => entry);
    await server.close();
    const [first, second] = entriesOf(readLog(dir).records);
    expect(first).toMatchObject({ kind: "entry", type: "message", id: one, parentId: null, role: "user" });
    expect(second).toMatchObject({ id: two, parentId: one, parts: [{ type: "text", text: "two" }] });
    expect([first, second]).toEqual(shown);
    expect(first?.time).toBeGreaterThan(0);
  });

  test("[T1] reading the records and following the ids gives the tree again (28)", async () => {
    const dir = createDir();
    const { server, view } = await openDir(dir);
    const [, two] = await sayAll(view, "one", "two", "three");
    await view.edit(two as EntryId, "other two").settled;
    await sayAll(view, "other three");
    await server.close();
    const tree = createTree();
    for (const record of readLog(dir).records) tree.apply(record);
    const drawn = (id: EntryId | null): unknown[] =>
      tree.children(id).map(({ entry }) => [textOf(entry), ...drawn(entry.id)]);
    expect(drawn(null)).toEqual([["one", ["two", ["three"]], ["other two", ["other three"]]]]);
  });

  test("[L6] what looks like code is text, and names that mean something elsewhere mean nothing (29)", async () => {
    const dir = createDir();
    const { server, view } = await openDir(dir);
    const texts = ["#.(quit)", '");process.exit(1);("', "__proto__", '{"$function":"1"}'];
    await sayAll(view, ...texts);
    const data = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}') as Json;
    await view.send({ type: "custom", name: "__proto__", data }).settled;
    await server.close();
    expect(await readAgain(dir)).toEqual([...texts, "[custom]"]);
    const custom = entriesOf(readLog(dir).records).at(-1);
    expect(custom?.type === "custom" && JSON.stringify(custom.data)).toBe(JSON.stringify(data));
    expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
  });

  test("[L6] line breaks of every kind come back, and a record is one line (30)", async () => {
    const dir = createDir();
    const { server, view } = await openDir(dir);
    const texts = ["a\nb\r\nc\rd", "\n\n", "\u2028 \u2029 \u0085 \v \f", '{"kind":"entry"}\n{"kind":'];
    await sayAll(view, ...texts);
    await server.close();
    expect(readText(dir, "s.jsonl").trimEnd().split("\n")).toHaveLength(1 + texts.length);
    expect(await readAgain(dir)).toEqual(texts);
  });
});

describe("whether it is kept", () => {
  test("[D8] without a directory nothing is written to disk, and all is gone with the process (31)", async () => {
    const cwd = createDir();
    const tmp = createDir();
    const serve = async () => {
      const server = start(["serve", "--port", "0"], { cwd, env: { TMPDIR: tmp, HOME: tmp } });
      const [, url = ""] = await server.said(/listens on (ws:\/\/\S+)/);
      return { server, ...(await openSession(connectTo(url))) };
    };
    const first = await serve();
    await sayAll(first.view, "one", "two");
    await first.server.stop();
    expect([filesIn(cwd), filesIn(tmp)]).toEqual([[], []]);
    const second = await serve();
    expect(textsOf(second.view)).toEqual([]);
  });

  test("[F7] with one, a session is a file: a header with its version, then each entry in order (32, 33)", async () => {
    const dir = createDir();
    const { server, client, view } = await openDir(dir);
    const other = await openSession(client, "other");
    expect(filesIn(dir).filter((name) => name.endsWith("s.jsonl"))).toEqual([]);
    await sayAll(view, "one");
    await sayAll(other.view, "elsewhere");
    view.branch(null);
    await sayAll(view, "two", "three");
    await server.close();
    expect(
      filesIn(dir)
        .filter((name) => !name.startsWith(".espalier"))
        .sort(),
    ).toEqual(["other.jsonl", "s.jsonl"]);
    const { header, records } = readLog(dir);
    expect(header).toMatchObject({ kind: "session", version: 1, id: "s" });
    expect(entriesOf(records).map(textOf)).toEqual(["one", "two", "three"]);
  });

  // What is acknowledged is in the journal by then; the file follows right behind.
  test("[D1] a file grows by what is written, while it is written, and is never rewritten (34)", async () => {
    const dir = createDir();
    const { view } = await openDir(dir);
    const path = join(dir, "s.jsonl");
    const seen: string[] = [];
    for (const text of ["one", "two", "three"]) {
      await sayAll(view, text);
      await until(() => filesIn(dir).includes("s.jsonl") && readText(dir, "s.jsonl").includes(`"${text}"`));
      seen.push(readText(dir, "s.jsonl"));
    }
    const { ino } = statSync(path);
    view.branch(null);
    await sayAll(view, "elsewhere");
    await until(() => readText(dir, "s.jsonl").includes('"elsewhere"'));
    seen.push(readText(dir, "s.jsonl"));
    for (const [index, text] of seen.slice(1).entries())
      expect(text.startsWith(seen[index] ?? "-")).toBe(true);
    expect(statSync(path).ino).toBe(ino);
  });

  describe("[D3] after a crash (35)", () => {
    test("of the process, everything that was acknowledged is there", async () => {
      const dir = createDir();
      const { view } = await openDir(dir);
      await sayAll(view, "one", "two", "three");
      expect(await readAgain(copyDir(dir))).toEqual(["one", "two", "three"]);
    });

    test("in the middle of a write, the torn end of the journal is dropped, and nothing before it", async () => {
      const dir = createDir();
      const { view } = await openDir(dir);
      await sayAll(view, "one", "two", "three");
      const torn = copyDir(dir);
      const [journal] = filesIn(torn).filter((name) => name.includes("journal-"));
      const path = join(torn, journal as string);
      truncateSync(path, statSync(path).size - 20);
      expect(await readAgain(torn)).toEqual(["one", "two"]);
      const { view: again } = await openDir(torn);
      await sayAll(again, "and on");
      expect(textsOf(again)).toEqual(["one", "two", "and on"]);
    });

    test("the torn end of a file that came without its journal is dropped too", async () => {
      const dir = createDir();
      const { server, view } = await openDir(dir);
      await sayAll(view, "one", "two", "three");
      await server.close();
      const text = readText(dir, "s.jsonl");
      const elsewhere = createDir();
      writeFileSync(join(elsewhere, "s.jsonl"), text.slice(0, -20));
      expect(await readAgain(elsewhere)).toEqual(["one", "two"]);
    });
  });

  test("[F4] past sessions are shown as a forest: who came from whom (36)", async () => {
    const dir = createDir();
    const { server, client, view } = await openDir(dir);
    await sayAll(view, "one", "two");
    granted(await view.fork({ session: "child" as SessionId }));
    const { view: child } = await openSession(client, "child");
    await sayAll(child, "three");
    granted(await child.fork({ session: "grandchild" as never, mode: "copy" }));
    const alone = await openSession(client, "alone");
    await sayAll(alone.view, "x");
    const { sessions } = granted(await client.list());
    const origins = sessions.map(({ id, origin }) => [id as string, origin?.session as string | undefined]);
    expect(Object.fromEntries(origins)).toEqual({
      s: undefined,
      alone: undefined,
      child: "s",
      grandchild: "child",
    });
    await server.close();
    const { stdout } = await run(["ls", "--dir", dir]);
    const drawn = stdout
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.replace(/(?<=\S) {2}.*/, ""));
    expect(drawn).toEqual(["alone", "s", "└─child", "  └─grandchild"]);
  });

  test("[D8] a session in memory and one in files are the same, whatever one does with them (37)", async () => {
    const live = async (dir: string | undefined) => {
      const { url, client, session, view } = await openDir(dir);
      await sayAll(view, "one", "two", "three");
      await view.rewind(idOf(view, "two"));
      await sayAll(view, "two again", "four");
      const summarize = () => Promise.resolve("in short");
      granted(await compact(view, { keepTurns: 1, summarize }));
      await sayAll(view, "five");
      granted(await leaveBranch(view, view.at(0)?.id ?? null, { summarize }));
      await session.marks.branches.set("here", view.snapshot.leafId as EntryId);
      const forked = granted(await view.fork());
      const { view: child } = await openSession(client, forked.session);
      await sayAll(child, "in the fork");
      const late = await openSession(connectTo(url), "s");
      return {
        shown: textsOf(late.view),
        read: readTexts(granted(await late.view.context())),
        prompts: (await late.view.prompts()).map(({ text }) => text),
        names: late.session.marks.branches.list().map(({ name }) => name),
        revision: late.session.revision,
        child: textsOf(child),
        inherited: (await openSession(client, forked.session)).session.inheritedSeq,
      };
    };
    const inMemory = await live(undefined);
    expect(inMemory).toEqual(await live(createDir()));
    expect(inMemory).toMatchObject({
      shown: ["one", "[branch-summary]"],
      child: ["one", "[branch-summary]", "in the fork"],
    });
  });
});

describe("around it", () => {
  test("[R1] an agent's loop appends to the tree, and reads the branch that it answers (38)", async () => {
    const dir = createDir();
    const { server, url, view } = await openDir(dir);
    const read: string[][] = [];
    const stop = serveRuns(connectTo(url, { token: "agent" }), async (run) => {
      read.push(granted(await run.history()).map(textOf));
      const message = run.stream();
      for (const word of ["an ", "answer"]) message.append(word);
      await message.end();
    });
    const [one] = await sayAll(view, "one", "two");
    await view.edit(view.at(1)?.id as EntryId, "other two", { run: true }).settled;
    await until(() => textsOf(view).at(-1) === "an answer" && view.runs().length === 0);
    stop();
    expect(read).toEqual([["one", "other two"]]);
    await server.close();
    const added = entriesOf(readLog(dir).records).at(-1);
    expect(added).toMatchObject({ role: "assistant", author: "agent" });
    expect(added?.parentId).not.toBe(one);
    expect(await readAgain(dir)).toEqual(["one", "other two", "an answer"]);
  });

  test("[C2] the system's prompt stays above what a branch becomes for the model, also when compacted (39)", async () => {
    const { view } = await openDir(undefined);
    const parts = [{ type: "text", text: "You are a gardener." } as const];
    await view.send({ type: "message", role: "system", parts }).settled;
    await sayAll(view, "one", "two");
    const read = async () => readTexts(granted(await view.context()));
    expect(await read()).toEqual(["You are a gardener.", "one", "two"]);
    granted(await compact(view, { keepTurns: 1, summarize: () => Promise.resolve("in short") }));
    expect(await read()).toEqual(["You are a gardener.", "in short", "two"]);
    expect(granted(await view.context())[0]?.role).toBe("system");
  });
});
