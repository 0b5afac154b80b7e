// The example's agent with a model: the real package, over real sockets, against an API that speaks the format.

import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, connect, type Session, serveRuns } from "@espalier/client";
import { createServer, type EspalierServer } from "@espalier/server";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createHandler } from "../../examples/chat/agent/handler.js";
import { createOpenAiAnswer } from "../../examples/chat/agent/openai.js";
import { textOf } from "../kit/world.js";

type Asked = {
  readonly url: string;
  readonly key: string;
  readonly body: { model: string; messages: unknown[] };
};

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const read = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
};

/** A chat-completions API that answers with `respond`. */
const api = async (respond: (response: ServerResponse) => void): Promise<{ url: string; asked: Asked[] }> => {
  const asked: Asked[] = [];
  const http = createHttpServer(async (request, response) => {
    const body = JSON.parse(await read(request)) as Asked["body"];
    asked.push({ url: request.url ?? "", key: request.headers.authorization ?? "", body });
    respond(response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  undo.push(
    () => http.closeAllConnections(),
    () => void http.close(),
  );
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`, asked };
};

const chunk = (more: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...more })}\n\n`;

const say =
  (...texts: string[]) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const content of texts)
      response.write(chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }));
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    response.end(`${chunk({ choices: [], usage })}data: [DONE]\n\n`);
  };

/** A conversation, and an agent that asks the API. */
const talk = async (baseURL: string): Promise<Session> => {
  const server: EspalierServer = await createServer();
  undo.push(() => server.close());
  const { url } = await server.listen(0);
  const client = (token: string): Client => {
    const connected = connect({ url, token, WebSocket });
    undo.push(() => connected.close());
    return connected;
  };
  const answer = createOpenAiAnswer({ apiKey: "key-1", baseURL, model: "m-1" });
  serveRuns(client("agent"), createHandler(answer, new AbortController().signal));
  return client("reader").session("talk", { create: true });
};

const lines = (session: Session) =>
  session.view.getMessages().map(({ entry }) => `${entry.status}: ${textOf(entry)}`);

const ask = async (session: Session, text: string): Promise<void> => {
  session.view.send(text, { run: true });
  await expect
    .poll(() => session.view.at(session.view.snapshot.length - 1)?.entry, { timeout: 10_000 })
    .toMatchObject({
      role: "assistant",
      status: expect.not.stringContaining("streaming"),
    });
};

test("a model's stream becomes the message, with its usage", async () => {
  const { url, asked } = await api(say("Bend ", "it ", "slowly. 🌳"));
  const session = await talk(url);
  await ask(session, "How?");
  expect(lines(session)).toEqual(["complete: How?", "complete: Bend it slowly. 🌳"]);
  expect(session.view.at(1)?.entry.usage).toEqual({ input: 7, output: 3, model: "m-1" });
  expect(asked).toMatchObject([
    { url: "/v1/chat/completions", key: "Bearer key-1", body: { model: "m-1", stream: true } },
  ]);
});

test("the model is sent the line that the run answers, and no other branch", async () => {
  const { url, asked } = await api(say("Yes."));
  const session = await talk(url);
  await ask(session, "First?");
  await ask(session, "Second?");
  const [, , second] = session.view.snapshot.ids;
  session.view.edit(second as never, "Third?", { run: true });
  await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(3);
  expect(asked.at(-1)?.body.messages).toEqual([
    { role: "user", content: "First?" },
    { role: "assistant", content: "Yes." },
    { role: "user", content: "Third?" },
  ]);
  const reply = session.view.snapshot.ids[1];
  session.view.regenerate(reply as never);
  await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(4);
  expect(asked.at(-1)?.body.messages).toEqual([{ role: "user", content: "First?" }]);
});

test("a refused key ends the message as failed, with the reason", async () => {
  const { url } = await api((response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "this key is not known", type: "auth" } }));
  });
  const session = await talk(url);
  await ask(session, "How?");
  const reply = session.view.at(1)?.entry;
  expect(reply).toMatchObject({ status: "failed", parts: [{ type: "data", name: "error" }] });
  expect(JSON.stringify(reply)).toContain("this key is not known");
});
