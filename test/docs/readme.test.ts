/** The README's example is run as it stands there, but for the port. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect } from "@espalier/client";
import { createServer } from "@espalier/server";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { until } from "../kit/until.js";
import { textsOf } from "../kit/world.js";

const README = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

test("the README stays below 120 lines", () => {
  expect(README.split("\n").length).toBeLessThanOrEqual(120);
});

test("the example of client and agent works", async () => {
  const code = README.match(/```ts\n(import \{ connect, serveRuns \}[\s\S]*?)```/)?.[1];
  if (code === undefined) throw new Error("the README has no example of client and agent");
  const http = createHttpServer();
  const server = await createServer({ http });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  cleanups.push(
    () => http.close(),
    () => server.close(),
  );
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/espalier`;
  const folder = mkdtempSync(join(import.meta.dirname, "readme-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "example.ts");
  expect(code).toContain("ws://localhost:4400/espalier");
  // What it logs is not the test's business; that it closes is.
  writeFileSync(
    file,
    `${code.replace("ws://localhost:4400/espalier", url).replace("console.log", "void ")}\nexport { agent, client };\n`,
  );
  const example = (await import(file)) as Record<"agent" | "client", { close(): void }>;
  cleanups.push(
    () => example.agent.close(),
    () => example.client.close(),
  );
  const reader = connect({ url, WebSocket });
  cleanups.push(() => reader.close());
  const { view } = reader.session("garden", { create: true });
  await until(() => view.at(1)?.entry.status === "complete");
  expect(textsOf(view)).toEqual(["When do I prune it?", "Prune it in late winter. "]);
});
