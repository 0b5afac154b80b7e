/** The README's example is run as it stands there, but for the port. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@espalier/client";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { cleanUp, run } from "../cli/command.js";
import { until } from "../kit/until.js";
import { textsOf } from "../kit/world.js";

const README = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");

afterEach(cleanUp);

type Closable = { close(): unknown };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

test("the README stays below 120 lines", () => {
  expect(README.split("\n").length).toBeLessThanOrEqual(120);
});

test("the command line is told whole, and the pages are there", async () => {
  const { stdout } = await run(["--help"]);
  const commands = [...(stdout.split("Commands:")[1] ?? "").matchAll(/^ {2}([a-z]+) \S/gm)].map(
    ([, name]) => name,
  );
  const told = [...README.matchAll(/^npm run -s espalier -- ([a-z]+)/gm)].map(([, name]) => name);
  expect([...told, "help"].sort()).toEqual(commands.sort());
  for (const [, page] of README.matchAll(/\]\((docs\/[^)]+)\)/g))
    expect(existsSync(join(import.meta.dirname, "../..", page as string)), page).toBe(true);
});

test("the example of client and agent works", async () => {
  const code = README.match(/```ts\n(import \{ connect, serveRuns \}[\s\S]*?)```/)?.[1];
  if (code === undefined) throw new Error("the README has no example of client and agent");
  expect(code).toContain("server.listen(4500)");
  const folder = mkdtempSync(join(import.meta.dirname, "readme-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "example.ts");
  // The port may be taken here, and what it logs is not the test's business.
  const quiet = code.replace("listen(4500)", "listen(0)").replace("console.log(", "void (");
  writeFileSync(file, `${quiet}\nexport { agent, client, server, url };\n`);
  const example = (await import(file)) as Record<"agent" | "client" | "server", Closable> & { url: string };
  cleanups.push(() => example.server.close());
  cleanups.push(() => example.agent.close());
  cleanups.push(() => example.client.close());
  const reader = connect({ url: example.url, WebSocket });
  cleanups.push(() => reader.close());
  const { view } = reader.session("garden", { create: true });
  await until(() => view.at(1)?.entry.status === "complete");
  expect(textsOf(view)).toEqual(["When do I prune it?", "Prune it in late winter. "]);
});
