/** `espalier tail`: each token once, wherever the newest line goes, and over a server's death. */
import type { EntryId } from "@espalier/shared";
import { afterEach, describe, expect, test } from "vitest";
import { cleanUp as closeClients, connectTo, openSession } from "../server/sockets.js";
import { cleanUp, createFolder, type Running, serve, start } from "./command.js";
import { chain, fill } from "./logs.js";

afterEach(async () => {
  await closeClients();
  await cleanUp();
});

/** What is shown of entries: headings by who speaks, without time and id. */
const shown = (tail: Running): string =>
  tail.stdout.replace(/^(\S+) · \S+ \S+ · \S+?( · .+)?$/gm, (_, who: string, note = "") => `<${who}${note}>`);

const begin = async () => {
  const dir = createFolder();
  const server = await serve(["--dir", dir]);
  const { session, view } = await openSession(connectTo(server.url), "plans");
  const prompt = view.send("Tell me");
  await prompt.settled;
  const stream = (after: string) => session.stream({}, { after: after as EntryId });
  return { dir, server, session, view, prompt, stream };
};

describe("for a person", () => {
  test("the last entries, then the text as it comes, to a clean end at Ctrl-C", async () => {
    const { dir, prompt, stream } = await begin();
    const writer = stream(prompt.id);
    writer.append("once ");
    const tail = start(["tail", "plans", "--dir", dir]);
    await tail.said(/once /);
    for (const word of ["upon ", "a\n", "time \x1b[31m"]) {
      writer.append(word);
      await tail.said(new RegExp(word.replace("\x1b[", "\\\\x1b\\[")));
    }
    await writer.end("aborted");
    await tail.said(/\[aborted\]/);
    const { code, stderr } = await tail.stop("SIGINT");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(shown(tail)).toBe("<user>\nTell me\n\n<assistant>\nonce upon a\ntime \\x1b[31m\n[aborted]\n");
  });

  test("only as many of the past as are asked for", async () => {
    const dir = createFolder();
    await fill(dir, { long: chain(100) });
    await serve(["--dir", dir]);
    const three = start(["tail", "long", "--dir", dir, "-n", "3"]);
    await three.said(/message 100/);
    await three.stop("SIGINT");
    expect(shown(three).match(/message \d+/g)).toEqual(["message 98", "message 99", "message 100"]);
    expect(three.stdout).toMatch(/^… older entries are not shown\n/);
  });

  test("two answers that stream at once are told one after the other, each whole", async () => {
    const { dir, view, prompt, stream } = await begin();
    const tail = start(["tail", "plans", "--dir", dir]);
    await tail.said(/Tell me/);
    const first = stream(prompt.id);
    first.append("one ");
    await tail.said(/one /);
    const edit = view.edit(prompt.id as EntryId, "Or rather");
    await edit.settled;
    const second = stream(edit.id);
    second.append("two ");
    first.append("more");
    await tail.said(/more/);
    await first.end();
    await tail.said(/two /);
    second.append("and done");
    await tail.said(/done/);
    await second.end();
    await tail.stop("SIGINT");
    expect(shown(tail)).toBe(
      [
        "<user>\nTell me\n",
        "<assistant>\none more\n",
        "── another line of the tree\n<user>\nOr rather\n",
        "<assistant>\ntwo and done\n",
      ].join("\n"),
    );
  });

  test("tool calls show what they are given, and then what came of it", async () => {
    const { dir, prompt, stream } = await begin();
    const tail = start(["tail", "plans", "--dir", dir]);
    await tail.said(/Tell me/);
    const writer = stream(prompt.id);
    writer.push({ type: "tool-call", callId: "c", name: "search", input: "", state: "input" });
    await tail.said(/\[search: input\]/);
    for (const piece of ['{"q":', '"shade"}']) {
      writer.append(piece);
      await tail.said(new RegExp(piece));
    }
    writer.set(0, { state: "done", output: ["fern"] });
    await tail.said(/fern/);
    await writer.end();
    await tail.stop("SIGINT");
    expect(shown(tail)).toContain('[search: input] {"q":"shade"}\n[search: done]  → ["fern"]\n');
  });

  test("an outcome without a change of state is told, and what was replaced is told whole", async () => {
    const { dir, prompt, stream } = await begin();
    const tail = start(["tail", "plans", "--dir", dir]);
    await tail.said(/Tell me/);
    const writer = stream(prompt.id);
    writer.append("abc");
    await tail.said(/abc/);
    writer.set(0, { text: "XYZ rewritten" });
    await tail.said(/\[rewritten\] XYZ rewritten/);
    writer.push({ type: "tool-call", callId: "c", name: "search", input: "", state: "running" });
    await tail.said(/\[search: running\]/);
    writer.set(1, { output: "half of it" });
    await tail.said(/half of it/);
    writer.set(1, { error: "it broke" });
    await tail.said(/it broke/);
    await writer.end();
    await tail.stop("SIGINT");
  });

  test("[J3] the server's death is told on stderr, and every token is still shown once", async () => {
    const { dir, prompt, stream, ...first } = await begin();
    let { server } = first;
    const tail = start(["tail", "plans", "--dir", dir]);
    await tail.said(/Tell me/);
    const writer = stream(prompt.id);
    const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
    for (const [index, word] of words.entries()) {
      writer.append(word);
      if (index % 20 !== 10) continue;
      await tail.said(new RegExp(word));
      if (index > 30) continue;
      await server.stop("SIGKILL");
      await tail.said(/connection was lost/);
      server = await serve(["--dir", dir], server.port);
    }
    expect(await writer.end()).toMatchObject({ ok: true });
    await tail.said(/word59/);
    expect((await tail.stop("SIGINT")).code).toBe(0);
    expect(shown(tail)).toBe(`<user>\nTell me\n\n<assistant>\n${words.join("")}\n`);
    expect(tail.stderr).toMatch(
      /^espalier: the connection was lost; trying again …\nespalier: connected again\n/,
    );
  }, 40_000);
});

describe("for a program", () => {
  test("--json: one object a line, which give every entry and every token once", async () => {
    const { dir, prompt, stream } = await begin();
    const tail = start(["tail", "plans", "--dir", dir, "--json"]);
    await tail.said(/Tell me/);
    const writer = stream(prompt.id);
    for (const word of ["one ", "two ", "three"]) {
      writer.append(word);
      await tail.said(new RegExp(word));
    }
    await writer.end("complete", { input: 1, output: 3 });
    await tail.said(/"end"/);
    await tail.stop("SIGINT");
    const lines = tail.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: "entry", entry: { id: prompt.id, role: "user" } });
    expect(lines[1]).toMatchObject({ type: "entry", entry: { id: writer.id, status: "streaming" } });
    expect(lines.at(-1)).toEqual({
      type: "end",
      id: writer.id,
      status: "complete",
      usage: { input: 1, output: 3 },
    });
    const texts = lines
      .slice(1)
      .map((line) => line.text ?? line.content?.text ?? line.entry?.parts[0]?.text ?? "");
    expect(texts.join("")).toBe("one two three");
  });
});

test("a session that is not there ends it with 1; so does a refused token", async () => {
  const { dir, server } = await begin();
  const absent = await start(["tail", "none", "--dir", dir]).ended;
  expect(absent).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("there is no such session"),
  });
  const refused = await start(["tail", "plans", "--url", server.url, "--token", "no name"]).ended;
  expect(refused).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/unable to sign in; .+--token/),
  });
});
