/** `espalier serve`: where it listens, what it says of that, and how it ends. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until } from "../kit/until.js";
import { cleanUp as closeClients, connectTo, openSession, textsOf } from "../server/sockets.js";
import { cleanUp, createFolder, run, serve, start } from "./command.js";

afterEach(async () => {
  await closeClients();
  await cleanUp();
});

test("[D8] without --dir it keeps sessions in memory, and says so", async () => {
  const cwd = createFolder();
  const server = start(["serve", "--port", "0"], { cwd });
  const [, url = ""] = await server.said(/listens on (\S+)/);
  await server.said(/Ctrl-C stops it/);
  expect(server.stdout).toMatch(/kept in memory/);
  expect(server.stdout).toMatch(/Open development mode: .+ this machine/);
  expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:[1-9]\d*\/espalier$/);
  await openSession(connectTo(url));
  expect(readdirSync(cwd)).toEqual([]);
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "[J6] %s ends it with 0, everything in its file",
  async (signal) => {
    const dir = createFolder();
    const server = await serve(["--dir", dir]);
    const { view } = await openSession(connectTo(server.url), "plans");
    expect(await view.send("kept").settled).toMatchObject({ ok: true });
    const { code, stderr } = await server.stop(signal);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "espalier: stopping …\n" });
    expect(readFileSync(join(dir, "plans.jsonl"), "utf8")).toContain('"text":"kept"');
    expect(readdirSync(join(dir, ".espalier")).filter((name) => /journal|lock|server/.test(name))).toEqual(
      [],
    );
    const again = await serve(["--dir", dir], server.port);
    expect(again.port).toBe(server.port);
    await until(() => view.snapshot.length === 1 && textsOf(view)[0] === "kept");
  },
);

test("a taken port, and a directory that another server has, are told in a line each", async () => {
  const dir = createFolder();
  const server = await serve(["--dir", dir]);
  const other = createFolder();
  const taken = await run(["serve", "--port", String(server.port), "--dir", other]);
  expect(taken).toMatchObject({ code: 1, stdout: "" });
  expect(taken.stderr).toMatch(
    /^espalier: unable to listen on 127\.0\.0\.1:\d+; the port is taken \(.+--port\)\n$/,
  );
  const locked = await run(["serve", "--port", "0", "--dir", dir]);
  expect(locked).toMatchObject({ code: 1, stdout: "" });
  expect(locked.stderr).toMatch(
    /^espalier: unable to open .+; process \d+ has had it since .+\(stop .+\)\n$/,
  );
  expect(locked.stderr).toContain(`process ${server.child.pid} `);
  // Neither has touched what is the first one's.
  await openSession(connectTo(server.url));
  expect(readdirSync(join(other, ".espalier")).filter((name) => name.startsWith("lock-"))).toEqual([]);
});

test("what a killed server noted of its address is not believed", async () => {
  const dir = createFolder();
  const server = await serve(["--dir", dir]);
  await server.stop("SIGKILL");
  expect(existsSync(join(dir, ".espalier", "server.json"))).toBe(true);
  expect(await run(["ls", "--dir", dir])).toMatchObject({ code: 0 });
  const { code, stderr } = await run(["tail", "s", "--dir", dir]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("no server runs on") });
});

test("a second Ctrl-C does not wait", async () => {
  const server = await serve();
  // A peer that answers nothing would be waited for.
  const peer = createConnection(server.port, "127.0.0.1");
  const key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13";
  peer.write(
    `GET /espalier HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`,
  );
  await new Promise((resolve) => peer.once("data", resolve));
  server.child.kill("SIGINT");
  await server.said(/stopping/);
  expect((await server.stop("SIGINT")).code).toBe(130);
  peer.destroy();
});
