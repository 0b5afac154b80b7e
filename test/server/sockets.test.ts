/** Real sockets and the real client: what the in-memory world cannot show. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "@espalier/server";
import { type EntryId, MESSAGE_BYTES, PROTOCOL_VERSION, type PrincipalId, refusal } from "@espalier/shared";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { readAddress } from "../../server/src/store/file/address.js";
import { createNodeDisk } from "../../server/src/store/file/disk.js";
import { until } from "../kit/until.js";
import {
  cleanUp,
  connectTo,
  dial,
  JOIN,
  lastText,
  openSession,
  startServer,
  textsOf,
  undoLater,
} from "./sockets.js";

afterEach(cleanUp);

/** Words that are told apart, so that one that came twice or not at all is seen. */
const wordsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `word${index} `);

const following = (id: string): { after: EntryId } => ({ after: id as EntryId });

describe("a conversation over real sockets", () => {
  test("[O1, P1] what one client sends, the other sees; a stream comes token by token", async () => {
    const { url } = await startServer();
    const ann = await openSession(connectTo(url, { token: "ann" }));
    const bob = await openSession(connectTo(url, { token: "bob" }));
    const sent = ann.view.send("What grows in shade?");
    expect(await sent.settled).toMatchObject({ ok: true, parentId: null });
    await until(() => textsOf(bob.view)[0] === "What grows in shade?");

    const seen: string[] = [];
    bob.view.subscribe(() => seen.push(lastText(bob.view)));
    const writer = ann.session.stream({}, following(sent.id));
    let said = "";
    for (const word of wordsOf(20)) {
      writer.append(word);
      said += word;
      await until(() => lastText(bob.view) === said);
    }
    expect(await writer.end()).toMatchObject({ ok: true });
    expect(lastText(bob.view)).toBe(wordsOf(20).join(""));
    expect(new Set(seen).size).toBeGreaterThanOrEqual(20);
    expect(bob.view.getMessages().map(({ entry }) => entry.author)).toEqual(["ann", "ann"]);
  });

  test("[J3] connections that break in mid-stream lose nothing and repeat nothing", async () => {
    const { url, streams } = await startServer();
    const writer = await openSession(connectTo(url));
    const reader = await openSession(connectTo(url));
    const sent = writer.view.send("Tell me");
    const stream = writer.session.stream({}, following(sent.id));
    const words = wordsOf(300);
    for (const [index, word] of words.entries()) {
      stream.append(word);
      if (index % 10 === 0) await until(() => lastText(reader.view).includes(word));
      // What is written next finds no connection.
      if (index % 100 === 50) for (const broken of [...streams]) broken.destroy();
    }
    expect(await stream.end()).toMatchObject({ ok: true });
    await until(() => reader.view.getMessages().at(-1)?.entry.status === "complete");
    expect(lastText(reader.view)).toBe(words.join(""));
    expect(lastText(writer.view)).toBe(words.join(""));
    const late = await openSession(connectTo(url));
    expect(textsOf(late.view)).toEqual(["Tell me", words.join("")]);
  });
});

describe("who gets in", () => {
  test("[J4] a refused token is told, and not tried again by itself", async () => {
    let asked = 0;
    const { url } = await startServer({
      authenticate: ({ token }) => {
        asked += 1;
        return token === "good"
          ? { id: "ann" as PrincipalId }
          : refusal("unauthorized", "unable to sign in; no");
      },
    });
    let token = "bad";
    const client = connectTo(url, { token: () => token });
    await until(() => client.snapshot.status === "refused");
    expect(client.snapshot.error).toMatchObject({ code: "unauthorized", message: "unable to sign in; no" });
    // Whatever else the server does in the meantime, it does not hear of this client.
    const other = connectTo(url, { token: "good" });
    await openSession(other);
    expect(asked).toBe(2);
    expect(client.snapshot.status).toBe("refused");
    token = "good";
    client.retry();
    await until(() => client.snapshot.status === "connected");
    expect(client.snapshot.principal).toBe("ann");
  });

  test("what the hook hears: the token, headers and address; what it throws is not shown as a principal", async () => {
    const heard: unknown[] = [];
    const { url } = await startServer({
      authenticate: async ({ token, headers, remoteAddress }) => {
        heard.push([token, headers["x-from"], remoteAddress]);
        throw new Error("the directory is down");
      },
    });
    const raw = await dial(url, null, { headers: { "x-from": "test" } });
    raw.send({ type: "hello", protocol: PROTOCOL_VERSION, writer: "w", token: "t" });
    await until(() => raw.closeCode);
    expect(heard).toEqual([["t", "test", "127.0.0.1"]]);
    expect(raw.received).toMatchObject([{ type: "refused", error: { code: "internal" } }]);
  });

  const origins: [origin: string | undefined, status: number][] = [
    [undefined, 101],
    ["http://localhost:5173", 101],
    ["http://127.0.0.1", 101],
    ["http://[::1]:3000", 101],
    ["https://example.com", 403],
    ["http://localhost.example.com", 403],
    ["http://127.0.0.1.example.com", 403],
    ["http://127.example.com", 403],
    ["null", 403],
  ];
  test.each(origins)("open mode and a page of %s: %s", async (origin, status) => {
    const { url } = await startServer();
    const socket = new WebSocket(url, origin === undefined ? {} : { origin });
    socket.on("error", () => {});
    undoLater(() => socket.terminate());
    const answered = await new Promise<number | undefined>((resolve) => {
      socket.on("open", () => resolve(101));
      socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
    });
    expect(answered).toBe(status);
  });

  test("open mode serves nobody through a proxy; with `authenticate` any origin may come", async () => {
    const open = await startServer();
    await expect(dial(open.url, "w", { headers: { "x-forwarded-for": "203.0.113.9" } })).rejects.toThrow(
      "403",
    );
    const closed = await startServer({ authenticate: () => ({ id: "ann" as PrincipalId }) });
    await dial(closed.url, "w", {
      origin: "https://example.com",
      headers: { "x-forwarded-for": "203.0.113.9" },
    });
  });

  test("open mode listens on loopback only, and says so", async () => {
    const server = await createServer();
    undoLater(() => server.close());
    await expect(server.listen(0, "0.0.0.0")).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("loopback only"),
    });
    expect((await server.listen(0)).url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/espalier$/);
  });
});

describe("what is no message", () => {
  const wrongs: [name: string, code: number, send: (socket: WebSocket) => void][] = [
    ["a binary frame", 1003, (socket) => socket.send(Buffer.from([1, 2, 3]))],
    ["no JSON", 1007, (socket) => socket.send("{")],
    ["JSON of another shape", 1007, (socket) => socket.send('{"type":"sing"}')],
    ["a frame that is too large", 1009, (socket) => socket.send("x".repeat(MESSAGE_BYTES + 1))],
    ["nesting without end", 1007, (socket) => socket.send(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)],
  ];
  test.each(wrongs)("%s closes its own connection alone, with %i", async (_, code, send) => {
    const { url } = await startServer();
    const good = await openSession(connectTo(url));
    const raw = await dial(url);
    send(raw.socket);
    // What comes after it is not heard any more.
    if (raw.socket.readyState === WebSocket.OPEN) raw.send({ ...JOIN, session: "unheard" });
    await until(() => raw.closeCode);
    expect(raw.closeCode).toBe(code);
    expect(raw.received.filter((message) => "type" in message && message.type === "joined")).toEqual([]);
    expect(await good.view.send("still here").settled).toMatchObject({ ok: true });
  });

  test("bytes that are no frames end their own connection alone", async () => {
    const { url, port } = await startServer();
    const good = await openSession(connectTo(url));
    const stream = connectTcp(port, "127.0.0.1");
    undoLater(() => stream.destroy());
    const request = [
      "GET /espalier HTTP/1.1",
      "Host: localhost",
      "Connection: Upgrade",
      "Upgrade: websocket",
    ];
    stream.write(
      `${[...request, "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="].join("\r\n")}\r\n\r\n`,
    );
    await new Promise((resolve) => stream.once("data", resolve));
    stream.write(Buffer.alloc(1024, 0xff));
    await new Promise((resolve) => stream.once("end", resolve).resume());
    expect(await good.view.send("still here").settled).toMatchObject({ ok: true });
  });

  test.each(["//", "/%", "/espalier/x", "/?a=1"])(
    "a request for %s is answered, and nothing breaks",
    async (path) => {
      const { url, port } = await startServer();
      const stream = connectTcp(port, "127.0.0.1");
      undoLater(() => stream.destroy());
      stream.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
      const answer = await new Promise((resolve) => stream.once("data", (data) => resolve(String(data))));
      expect(answer).toMatch(/^HTTP\/1\.1 404/);
      await openSession(connectTo(url));
    },
  );
});

describe("its place in a program", () => {
  test("it attaches to an http server, beside its pages and others' sockets", async () => {
    const http = createHttpServer((_, response) => response.end("a page"));
    const server = await createServer({ http, path: "/live" });
    const others: string[] = [];
    http.on("upgrade", ({ url }, stream) => {
      if (url === "/live") return;
      others.push(url ?? "");
      stream.destroy();
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    undoLater(() => http.close());
    undoLater(() => server.close());
    const { port } = http.address() as AddressInfo;
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("a page");
    await openSession(connectTo(`ws://127.0.0.1:${port}/live`));
    await expect(dial(`ws://127.0.0.1:${port}/other`)).rejects.toThrow();
    expect(others).toEqual(["/other"]);
  });

  test("where it listens is noted in its directory until it closes, also on a server of one's own", async () => {
    const dir = mkdtempSync(join(tmpdir(), "espalier-test-"));
    undoLater(() => rmSync(dir, { recursive: true }));
    const noted = async () => (await readAddress(createNodeDisk(), dir))?.url;
    const { url, server } = await startServer({ dir });
    expect(await until(noted)).toBe(url);
    await server.close();
    expect(await noted()).toBeUndefined();
    const own = await createServer({ dir });
    const { url: ownUrl } = await own.listen(0);
    expect(await noted()).toBe(ownUrl);
    await own.close();
    expect(await noted()).toBeUndefined();
  });

  test("a taken port is told in a line, and the directory is given up by `close`", async () => {
    const first = await createServer();
    undoLater(() => first.close());
    const { port } = await first.listen(0);
    const second = await createServer();
    undoLater(() => second.close());
    await expect(second.listen(port)).rejects.toMatchObject({
      code: "unavailable",
      message: `unable to listen on 127.0.0.1:${port}; the port is taken`,
    });
    expect((await second.listen(0)).port).toBeGreaterThan(0);
  });

  test("[J6] close finishes what it was told, then sends its clients away with 1012; twice is harmless", async () => {
    const server = await createServer();
    const { url } = await server.listen(0);
    const raw = await dial(url);
    raw.send(JOIN);
    await until(() => raw.received.length > 1);
    const { ch } = raw.received[1] as { ch: number };
    const draft = { id: "e1", type: "message", role: "user", parts: [{ type: "text", text: "last words" }] };
    raw.send({ type: "publish", n: 2, ch, items: [{ draft, place: { after: null } }] });
    raw.send({ type: "ping" });
    await until(() => raw.received.some((message) => "type" in message && message.type === "pong"));
    const closing = server.close();
    expect(server.close()).toBe(closing);
    await closing;
    await until(() => raw.closeCode);
    expect(raw.closeCode).toBe(1012);
    const types = raw.received.map((message) => ("type" in message ? message.type : "records"));
    expect(types).toContain("ack");
    expect(types.at(-1)).toBe("refused");
  });

  test("[J6] a peer that never answers keeps nothing from closing", async () => {
    const server = await createServer();
    const { url, port } = await server.listen(0);
    const raw = await dial(url);
    raw.socket.pause();
    const silent = connectTcp(port, "127.0.0.1");
    undoLater(() => silent.destroy());
    await new Promise((resolve) => silent.once("connect", resolve));
    await server.close();
    await expect(dial(url)).rejects.toThrow();
  });
});
