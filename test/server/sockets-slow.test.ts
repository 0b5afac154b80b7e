/** [J7] A reader that does not take what it is sent is let go; nobody else notices. */
import type { EntryId } from "@espalier/shared";
import { afterEach, expect, test } from "vitest";
import { until } from "../kit/until.js";
import { cleanUp, connectTo, dial, JOIN, lastText, openSession, startServer } from "./sockets.js";

afterEach(cleanUp);

const CHUNK = 16 * 1024;
const TOTAL = 20 * 1024 * 1024;
/** An entry holds 16 MiB at most, so the stream goes over several. */
const ENTRY = 4 * 1024 * 1024;
/** What may wait for one reader, twice over for what is on its way, and some for the collector's leisure. */
const BOUND_BYTES = 4 * 1024 * 1024;

test("[J7] 20 MB past a reader that has stopped: it is closed with 1013, and others get all of it", async () => {
  const { url, streams } = await startServer();
  const writer = await openSession(connectTo(url));
  const slow = await dial(url, "slow");
  slow.send(JOIN);
  await until(() => slow.received.length > 1);
  slow.socket.pause();
  const slowStream = streams.at(-1);
  const reader = await openSession(connectTo(url));

  let most = 0;
  let written = 0;
  while (written < TOTAL) {
    const sent = writer.view.send(`part ${written}`);
    const stream = writer.session.stream({}, { after: sent.id as EntryId });
    for (let size = 0; size < ENTRY; size += CHUNK) {
      stream.append("x".repeat(CHUNK));
      written += CHUNK;
      // As fast as the reader takes it: the server has nothing else to keep.
      await until(() => lastText(reader.view).length >= size - 8 * CHUNK);
      most = Math.max(most, slowStream?.writableLength ?? 0);
    }
    expect(await stream.end()).toMatchObject({ ok: true });
    await until(() => reader.view.getMessages().at(-1)?.entry.status === "complete");
    expect(lastText(reader.view).length).toBe(ENTRY);
  }
  expect(most).toBeLessThan(BOUND_BYTES);
  slow.socket.resume();
  await until(() => slow.closeCode);
  expect(slow.closeCode).toBe(1013);
  const got = slow.received.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
  expect(got).toBeLessThan(TOTAL / 2);
}, 60_000);
