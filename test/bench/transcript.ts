/**
 * What a whole transcript costs at lengths that nobody should have to fear (T5): a chain of 200,000 entries
 * folded, walked, read by a model, forked, exported and imported; and what a fork adds to the disk.
 */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@espalier/client";
import { createServer } from "@espalier/server";
import { exportEspalier, foldConversation, IMPORTERS, type Source } from "@espalier/server/formats";
import {
  type Append,
  type CompactionEntry,
  context,
  createContextReader,
  type EntryId,
  forkPath,
  type LogRecord,
  type MessageEntry,
  pathTo,
  type Seq,
  type SessionId,
  type TreeNode,
} from "@espalier/shared";
import { WebSocket } from "ws";
import { seededRandom } from "../kit/clock.js";
import { alternatives, foldOf, history, message, newIds } from "./histories.js";
import { fillSession } from "./join.js";
import { type Bench, type Row, timesOf } from "./measure.js";

const NAME = "transcript";
const CREATED_AT = 1_800_000_000_000;

const row = (work: string, ours: number, unit: string, limit?: number, beside?: string): Row => ({
  name: NAME,
  work,
  ours,
  unit,
  ...(limit === undefined ? {} : { limit }),
  ...(beside === undefined ? {} : { beside }),
});

const once = async (work: () => unknown): Promise<number> => {
  globalThis.gc?.();
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const PIECE_BYTES = 64 * 1024;

const sourceOf = (text: string): Source => {
  const bytes = Buffer.from(text);
  const read = async function* (from = 0, to = bytes.length) {
    for (let at = from; at < to; at += PIECE_BYTES) yield bytes.subarray(at, Math.min(at + PIECE_BYTES, to));
  };
  return {
    file: { name: "long.jsonl", size: bytes.length, read },
    beside: async () => null,
    list: async () => [],
  };
};

const drained = (items: Iterable<unknown>): number => {
  let count = 0;
  for (const _ of items) count += 1;
  return count;
};

const chainRows = async (length: number, random: () => number): Promise<Row[]> => {
  const entries = history(length, 0, random);
  const of = `${length.toLocaleString("en")} entries, one line`;
  const [fold = 0] = timesOf(3, { prepare: () => entries, run: foldOf });
  const leaf = foldOf(entries).newest as TreeNode;
  const [path = 0] = timesOf(3, { prepare: () => leaf, run: pathTo });
  const line = pathTo(leaf).map(({ entry }) => entry);
  const [read = 0] = timesOf(3, { prepare: () => line, run: (each) => context(each) });
  const ids = newIds(length, random);
  const copy = (): number => {
    let next = 0;
    return drained(forkPath(line, () => ids[next++] as EntryId));
  };
  const [fork = 0] = timesOf(3, { prepare: () => line, run: copy });
  const conversation = foldConversation({
    id: "long" as SessionId,
    header: { createdAt: CREATED_AT },
    records: entries,
  });
  let text = "";
  const exported = await once(async () => {
    for await (const piece of exportEspalier(conversation)) text += piece;
  });
  let imported = 0;
  const importing = await once(async () => {
    const { sessions } = IMPORTERS.espalier(sourceOf(text), {
      newId: () => newIds(1, random)[0] as string,
      now: () => CREATED_AT,
    });
    for await (const session of sessions) for await (const _ of session.records()) imported += 1;
  });
  if (imported !== length) throw new Error(`unable to measure; ${imported} of ${length} records came back`);
  const bytes = `${(text.length / 1e6).toFixed(0)} MB`;
  return [
    row(`${of}: fold`, fold, "ms", (500 * length) / 200_000),
    row(`${of}: whole path`, path, "ms"),
    row(`${of}: context, from nothing`, read, "ms"),
    row(`${of}: fork by copy`, fork, "ms"),
    row(`${of}: export`, exported, "ms", undefined, bytes),
    row(`${of}: import`, importing, "ms", undefined, bytes),
  ];
};

const alternativesRow = (random: () => number): Row => {
  const prepare = () => alternatives(50_000, random);
  const [ours = 0] = timesOf(5, { prepare, run: foldOf });
  return row("50,000 alternatives of one parent: fold", ours, "ms", 200);
};

const MOVES = 100;

/** A compaction that keeps 20, then a line that grows: each time the context is asked for anew. */
const compactedRow = (length: number, rounds: number, random: () => number): Row => {
  const entries: LogRecord[] = history(length, 0, random);
  const tree = foldOf(entries);
  const [id, ...ids] = newIds(1 + MOVES * (rounds + 8), random) as [EntryId, ...EntryId[]];
  const last = (tree.newest as TreeNode).entry;
  const { seq } = last;
  const compaction: CompactionEntry = {
    kind: "entry",
    id,
    parentId: last.id,
    seq: (seq + 1) as Seq,
    rev: (seq + 1) as Seq,
    time: CREATED_AT,
    author: last.author,
    status: "complete",
    size: 0,
    type: "compaction",
    summary: "They spoke of the tides.",
    firstKeptId: (entries.at(-20) as MessageEntry).id,
    upToId: last.id,
  };
  tree.apply(compaction);
  const reader = createContextReader(tree);
  reader.at(tree.newest);
  let next = seq + 1;
  const prepare = () => {
    const grown: MessageEntry[] = [];
    let parent = (tree.newest as TreeNode).entry.id;
    for (let index = 0; index < MOVES; index += 1) {
      next += 1;
      const child = ids.pop() as EntryId;
      grown.push(message(child, parent, next));
      parent = child;
    }
    return grown;
  };
  const run = (grown: readonly MessageEntry[]): number => {
    let read = 0;
    for (const entry of grown) {
      tree.apply(entry);
      read += reader.at(tree.newest).length;
    }
    return read;
  };
  const [time = 0] = timesOf(rounds, { prepare, run });
  const work = `context of a ${length.toLocaleString("en")}-entry line, 20 kept by a compaction, warm`;
  return row(work, (time / MOVES) * 1000, "µs", 200);
};

/** A reply that streams at the end of a line without compaction: the context is asked for after each token. */
const tokenRow = (length: number, rounds: number, random: () => number): Row => {
  const entries: LogRecord[] = history(length - 1, 0, random);
  const tree = foldOf(entries);
  const [id] = newIds(1, random) as [EntryId];
  const last = (tree.newest as TreeNode).entry;
  const streaming = { ...message(id, last.id, last.seq + 1), status: "streaming" } satisfies MessageEntry;
  tree.apply(streaming);
  const reader = createContextReader(tree);
  reader.at(tree.newest);
  let at = 0;
  const token = (): Append => {
    const seq = (streaming.seq + 1 + at) as Seq;
    return { kind: "append", id, seq, time: CREATED_AT, at: at++, deltas: [{ text: "." }] };
  };
  const prepare = () => Array.from({ length: MOVES }, token);
  const run = (tokens: readonly Append[]): number => {
    let read = 0;
    for (const each of tokens) {
      tree.apply(each);
      read += reader.at(tree.newest).length;
    }
    return read;
  };
  const [time = 0] = timesOf(rounds, { prepare, run });
  const work = `context of a ${length.toLocaleString("en")}-entry line, one token at its end, warm`;
  return row(work, (time / MOVES) * 1000, "µs", 200);
};

const bytesIn = async (dir: string): Promise<number> => {
  let bytes = 0;
  for (const name of await readdir(dir, { recursive: true })) {
    const found = await stat(join(dir, name));
    if (found.isFile()) bytes += found.size;
  }
  return bytes;
};

/** Real files, a real server: what the directory has more of, and how long the client waits. */
const forkRows = async (length: number): Promise<Row[]> => {
  const dir = await mkdtemp(join(tmpdir(), "espalier-bench-"));
  await fillSession(dir, "long", length);
  const server = await createServer({ dir });
  const { url } = await server.listen(0);
  const client = connect({ url, WebSocket });
  const session = client.session("long");
  while (session.snapshot.status !== "live" || session.view.snapshot.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const entry = session.view.snapshot.leafId;
  const bytesBefore = await bytesIn(dir);
  const times: number[] = [];
  const forks = 10;
  for (let index = 0; index < forks; index += 1)
    times.push(
      await once(async () => {
        const forked = await client.fork({ from: { session: session.id, entry }, mode: "share" });
        if ("code" in forked) throw new Error(forked.message);
      }),
    );
  const added = ((await bytesIn(dir)) - bytesBefore) / forks;
  const copy = await once(() => client.fork({ from: { session: session.id, entry }, mode: "copy" }));
  client.close();
  await server.close();
  await rm(dir, { recursive: true });
  const of = `fork of ${length.toLocaleString("en")} entries`;
  return [
    row(`${of} by sharing: added on disk`, added, "bytes", 1000),
    row(`${of} by sharing: asked to acknowledged`, Math.min(...times), "ms"),
    row(`${of} by copy: asked to acknowledged`, copy, "ms"),
  ];
};

export const run: Bench = async ({ isQuick }) => {
  const random = seededRandom(1);
  return [
    ...(await chainRows(isQuick ? 50_000 : 200_000, random)),
    alternativesRow(random),
    tokenRow(10_000, isQuick ? 5 : 20, random),
    compactedRow(isQuick ? 20_000 : 100_000, isQuick ? 5 : 20, random),
    ...(await forkRows(isQuick ? 10_000 : 100_000)),
  ];
};
