// The hooks, in a real browser: what renders again, and what is left behind.

import { createServer as createHttpServer } from "node:http";
import { fileURLToPath } from "node:url";
import type { EntryId } from "@espalier/client";
import { createServer, type EspalierServer } from "@espalier/server";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ReactPage } from "./react-page.js";
import { eventually, openBrowser, type Windows } from "./windows.js";
import { createWitness, type Witness } from "./witness.js";

const PAGE = fileURLToPath(new URL("./react-page.tsx", import.meta.url));

/** In development mode, where strict mode does what it does. */
const bundle = async (): Promise<string> => {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    mode: "development",
    define: { "process.env.NODE_ENV": '"development"' },
    resolve: { conditions: ["espalier-source", "module", "browser", "development"] },
    build: { write: false, minify: false, lib: { entry: PAGE, formats: ["es"] } },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (output === undefined || !("output" in output)) throw new Error("there is no bundle");
  return output.output[0].code;
};

let server: EspalierServer;
let windows: Windows;
let witness: Witness;
let page: Page;
let url: string;

const ask = <T>(of: (reactPage: ReactPage) => T): Promise<T> =>
  page.evaluate(`(${of.toString()})(globalThis.reactPage)`) as Promise<T>;
const row = (id: string) => page.locator(`[data-entry="${id}"]`);
const text = (selector: string) => page.locator(selector).textContent();

beforeAll(async () => {
  const code = await bundle();
  const http = createHttpServer((request, response) => {
    const isCode = request.url === "/page.js";
    response.setHeader("content-type", isCode ? "text/javascript" : "text/html");
    response.end(isCode ? code : '<div id="root"></div><script type="module" src="/page.js"></script>');
  });
  server = await createServer({ http });
  const { port } = await server.listen(0);
  url = `http://localhost:${port}/`;
  witness = createWitness(`ws://127.0.0.1:${port}/espalier`);
  windows = await openBrowser();
});

afterAll(async () => {
  witness.close();
  await windows.close();
  await server.close();
});

beforeEach(async () => {
  await page?.context().close();
  page = await windows.page(url);
  await eventually(() => text("#outside")).toContain("connected");
});

const publish = async (id: string, said: string, place: { after: EntryId | null } | { forkOf: EntryId }) => {
  const session = await witness.session("hooks");
  const parts = [{ type: "text" as const, text: said }];
  await session.publish([{ draft: { id: id as EntryId, type: "message", role: "user", parts }, place }]);
};

test("[V10] a token renders the row of its entry, and nothing else", async () => {
  await publish("a1", "one", { after: null });
  await publish("a2", "two", { after: null });
  const session = await witness.session("hooks");
  const stream = session.stream({}, { after: null });
  stream.append("0");
  await eventually(() => row(stream.id).locator("span").textContent()).toBe("0");
  const before = await ask((reactPage) => reactPage.renders());
  let written = "0";
  for (const token of ["1", "2", "3", "4", "5"]) {
    stream.append(token);
    written += token;
    await eventually(() => row(stream.id).locator("span").textContent()).toBe(written);
  }
  const after = await ask((reactPage) => reactPage.renders());
  const { [stream.id]: streamed = 0, ...others } = after;
  const { [stream.id]: former = 0, ...formerOthers } = before;
  expect(others).toEqual(formerOthers);
  expect(streamed - former).toBe(5);
  await stream.end();
});

test("[O1] a row hears that its own write is confirmed", async () => {
  const id = await ask((reactPage) => reactPage.send("mine"));
  await eventually(() => row(id).getAttribute("data-state")).toBe("confirmed");
  expect(await text("#outside")).toMatch(/connected .*0 hooks/);
});

test("[V3, V9] a row hears of an alternative, and steps to the other", async () => {
  const id = await ask((reactPage) => reactPage.send("original"));
  await eventually(() => row(id).getAttribute("data-state")).toBe("confirmed");
  const before = await ask((reactPage) => reactPage.renders());
  await publish("other", "alternative", { forkOf: id as EntryId });
  await eventually(() => row(id).locator("button").textContent()).toBe("1 of 2");
  expect((await ask((reactPage) => reactPage.renders())).list).toBe(before.list);
});

test("[G1] what shows marks renders again for those that it reads, and once for its own", async () => {
  const session = await witness.session("hooks");
  const before = await ask((reactPage) => reactPage.renders());
  await page.evaluate("globalThis.reactPage.toggle('e1')");
  await eventually(() => text("#pinned")).toBe("e1");
  await session.setRegister("label:e1", "x");
  await session.marks.pins.set("e2" as EntryId, true);
  await eventually(() => text("#pinned")).toBe("e1,e2");
  const after = await ask((reactPage) => reactPage.renders());
  expect((after.pinned ?? 0) - (before.pinned ?? 0)).toBe(2);
  expect(after.list).toBe(before.list);
});

test("what is subscribed to in strict mode is undone", async () => {
  const id = await ask((reactPage) => reactPage.send("last"));
  await row(id).waitFor();
  // The list, the runs, and an entry and a branch for each row.
  const rows = await page.locator("[data-entry]").count();
  expect(await ask((reactPage) => reactPage.subscriptions())).toBe(2 + 2 * rows);
  await ask((reactPage) => reactPage.unmount());
  expect(await ask((reactPage) => reactPage.subscriptions())).toBe(0);
});

test("runs, titles and new sessions are told", async () => {
  const session = await witness.session("hooks");
  session.view.send("a question", { run: true });
  await eventually(() => text("#runs")).toBe("requested");
  await session.setRegister("title", "Named");
  await eventually(() => text("#outside")).toContain("Named");
  await publishElsewhere();
  await eventually(() => text("#outside")).toContain("elsewhere+hooks");
});

test("[F8] the list is without what is archived or deleted, and without sidechains", async () => {
  const session = await witness.session("elsewhere");
  const { id, settled } = session.view.send("look around");
  await settled;
  await eventually(() => text("#outside")).toContain("elsewhere");
  await session.sidechain("scout", { entryId: id as EntryId }).view.send("x").settled;
  await session.archive();
  await eventually(() => text("#outside")).not.toContain("elsewhere");
  await session.archive(false);
  await eventually(() => text("#outside")).toMatch(/ elsewhere\b/);
  expect(await text("#outside")).not.toContain("scout");
  await witness.client.delete(session.id);
  await eventually(() => text("#outside")).not.toContain("elsewhere");
});

const publishElsewhere = async (): Promise<void> => {
  const session = await witness.session("elsewhere");
  await session.view.send("hello").settled;
};
