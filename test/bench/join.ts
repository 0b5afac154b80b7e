/** What a join costs, on the wire and in time, whatever the length of the session: real files and sockets. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore, createServer } from "@espalier/server";
import { type Epoch, type LogRecord, PROTOCOL_VERSION, type SessionId } from "@espalier/shared";
import { WebSocket } from "ws";
import { messageEntry } from "./fed-client.js";
import type { Bench, Row } from "./measure.js";

const MAX_SHARE = 0.01;

const runtime = {
  now: () => Date.now(),
  setTimer: (delayMs: number, callback: () => void) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  defer: (callback: () => void) => void setImmediate(callback),
};

export const fillSession = async (dir: string, id: string, count: number): Promise<number> => {
  const store = await createFileStore({ dir, newEpoch: () => "bench" as Epoch, runtime });
  const text = "A sentence of about sixty letters, as people write them here. ".repeat(4);
  const records: LogRecord[] = Array.from({ length: count }, (_, index) =>
    messageEntry(index, index === 0 ? null : index - 1, text),
  );
  const outcome = await store.append(id as SessionId, 0, records);
  if (outcome.type !== "ok") throw new Error(`unable to fill the session; ${outcome.type}`);
  await store.close();
  return records.reduce((bytes, record) => bytes + JSON.stringify(record).length + 1, 0);
};

/** Connects, joins with a default window, and leaves; returns the time and what was sent. */
const joinOnce = (url: string, session: string): Promise<{ ms: number; bytes: number }> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    let start = 0;
    const say = (message: unknown): void => socket.send(JSON.stringify(message));
    socket.on("error", reject);
    socket.on("open", () => say({ type: "hello", protocol: PROTOCOL_VERSION, writer: "bench" }));
    socket.on("message", (data) => {
      const text = String(data);
      if (text.includes('"welcome"')) {
        start = performance.now();
        say({ type: "join", n: 1, session, lines: [{ candidates: [], walk: "oldest", limit: 50 }] });
      } else {
        socket.terminate();
        resolve({ ms: performance.now() - start, bytes: text.length });
      }
    });
  });

export const run: Bench = async ({ isQuick }) => {
  const rows: Row[] = [];
  for (const count of isQuick ? [1000, 100_000] : [1000, 10_000, 100_000]) {
    const dir = await mkdtemp(join(tmpdir(), "espalier-bench-"));
    const logBytes = await fillSession(dir, "long", count);
    const server = await createServer({ dir });
    const { url } = await server.listen(0);
    const first = await joinOnce(url, "long");
    const joins = [];
    for (let index = 0; index < 20; index += 1) joins.push(await joinOnce(url, "long"));
    const least = Math.min(...joins.map(({ ms }) => ms));
    rows.push({
      name: "join",
      work: `of ${count} entries: sent, beside the whole log`,
      ours: first.bytes / logBytes,
      unit: "×",
      beside: `${first.bytes} of ${logBytes} bytes`,
      ...(count === 100_000 ? { limit: MAX_SHARE } : {}),
    });
    rows.push({ name: "join", work: `of ${count} entries, open already`, ours: least, unit: "ms" });
    rows.push({
      name: "join",
      work: `of ${count} entries, read from its file first`,
      ours: first.ms,
      unit: "ms",
    });
    await server.close();
    await rm(dir, { recursive: true });
  }
  return rows;
};
