/** [S8, J3, D1] A server that is killed in mid-stream, with a page and an agent that see it through. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { serveRuns } from "@espalier/client";
import { createTree, type LogRecord } from "@espalier/shared";
import { afterEach, expect, test } from "vitest";
import * as cli from "../cli/command.js";
import { until } from "../kit/until.js";
import { textOf } from "../kit/world.js";
import { cleanUp, connectTo, lastText, openSession, textsOf } from "./sockets.js";

afterEach(async () => {
  await cleanUp();
  await cli.cleanUp();
});

const WORDS = Array.from({ length: 400 }, (_, index) => `word${index} `);
const TEXT = WORDS.join("");

/** The texts that the file of a session folds to, in order of their publishing. */
const textsIn = (dir: string, id: string): string[] => {
  const tree = createTree();
  for (const line of readFileSync(join(dir, `${id}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .slice(1)) {
    const record = JSON.parse(line) as LogRecord;
    if (record.kind === "entry" || record.kind === "append")
      expect(tree.apply(record).type).not.toBe("missing");
  }
  return [...tree.nodes()].map(({ entry }) => textOf(entry));
};

test("case-S8: both rejoin by themselves, and the text is exact for all, on screen and on disk", async () => {
  const dir = cli.createFolder();
  let server = await cli.serve(["--dir", dir]);
  const { url, port } = server;

  const agent = connectTo(url, { token: "agent" });
  const errors: unknown[] = [];
  let spoken = 0;
  /** Raised where the test has seen enough, so that the kills fall into the stream. */
  let allowed = 100;
  const stop = serveRuns(
    agent,
    async (run) => {
      const message = run.stream();
      for (const word of WORDS) {
        await until(() => spoken < allowed);
        message.append(word);
        spoken += 1;
      }
      const ended = await message.end();
      if (!ended.ok) errors.push(ended.error);
    },
    { onError: (error) => errors.push(error) },
  );
  const { view } = await openSession(connectTo(url, { token: "ann" }));
  view.send("Tell me", { run: true });

  for (const killAt of [50, 150, 250]) {
    await until(() => lastText(view).includes(WORDS[killAt] as string));
    await server.stop("SIGKILL");
    // The agent does not notice: it goes on, and what it says is kept until somebody takes it.
    allowed += 100;
    server = await cli.serve(["--dir", dir], port);
  }
  await until(() => view.getMessages().at(-1)?.entry.status === "complete");
  expect(textsOf(view)).toEqual(["Tell me", TEXT]);
  await until(() => view.runs().length === 0);
  expect(errors).toEqual([]);

  const late = await openSession(connectTo(url));
  expect(textsOf(late.view)).toEqual(["Tell me", TEXT]);
  stop();
  const { code } = await server.stop();
  expect(code).toBe(0);
  expect(textsIn(dir, "s")).toEqual(["Tell me", TEXT]);
  expect(readdirSync(join(dir, ".espalier")).filter((name) => /journal|lock|server/.test(name))).toEqual([]);
}, 60_000);
