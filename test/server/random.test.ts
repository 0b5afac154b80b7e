/**
 * Random orders of everything that clients can do to one session, with drops and restarts between: what was
 * acknowledged is in the log, and whoever was joined has the log's fold. A failure prints its seed and path.
 */
import { createTree, type EntryId, type LogRecord, type ServerMessage, type Tree } from "@espalier/shared";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Answer,
  at,
  hello,
  joinMessage,
  publish,
  publishWithRun,
  type RawClient,
  say,
  streaming,
} from "../kit/raw.js";
import { createWorld, type World } from "../kit/world.js";

const WRITERS = ["w0", "w1", "w2"];

/** What the entry `eN` streams in the end: an append is a piece of it, so nothing may come twice or be lost. */
const pointsOf = (entry: number): string[] => [
  ...Array.from({ length: 40 }, (_, index) => `${entry}:${index} é😀 `).join(""),
];

const index = (below: number) => fc.nat({ max: below - 1 });
const rarely = fc.nat({ max: 7 }).map((value) => value === 7);

type Op =
  | {
      op: "publish";
      by: number;
      isRepeat: boolean;
      pick: number;
      place: number;
      target: number;
      count: number;
    }
  | { op: "append"; pick: number; isStranger: boolean; shift: number; length: number; isEnd: boolean }
  | { op: "run"; by: number; run: number; step: number; target: number }
  | { op: "register"; by: number; value: number }
  | { op: "read"; by: number; isFresh: boolean }
  | { op: "deliver"; pair: number; toServer: boolean; count: number }
  | { op: "settle" }
  | { op: "drop"; by: number }
  | { op: "restart" }
  | { op: "wait"; ms: number };

const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ op: fc.constant("publish" as const), by: index(3), isRepeat: rarely, pick: fc.nat(), place: index(4), target: fc.nat(), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 50, arbitrary: fc.record({ op: fc.constant("append" as const), pick: index(4), isStranger: rarely, shift: fc.constantFrom(0, 0, 0, 0, 0, -1, -4, -9, 1), length: index(12), isEnd: rarely }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("run" as const), by: index(3), run: index(2), step: index(3), target: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("register" as const), by: index(3), value: index(3) }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("read" as const), by: index(5), isFresh: fc.boolean() }) },
  { weight: 10, arbitrary: fc.record({ op: fc.constant("deliver" as const), pair: index(8), toServer: fc.boolean(), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 8, arbitrary: fc.constant({ op: "settle" as const }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("drop" as const), by: index(5) }) },
  { weight: 1, arbitrary: fc.constant({ op: "restart" as const }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("wait" as const), ms: fc.constantFrom(1, 10_000, 31_000) }) },
); // biome-ignore format: one line each

/** What was sent of an entry: who did, and up to which code point. */
type Sent = { readonly number: number; readonly by: number; point: number };

type Seat = { readonly name: string; client: RawClient; ch: number | null; cursor: { epoch: string; seq: number } | undefined }; // biome-ignore format: one line

/** The last join of a connection and what came after it. */
type Heard = { readonly joined: Answer<"joined">; readonly held: Tree; upto: number };

const play = async (world: World, ops: readonly Op[]) => {
  const connections: RawClient[] = [];
  const connect = async (name: string): Promise<RawClient> => {
    const client = await hello(world, name);
    connections.push(client);
    return client;
  };
  const seats: Seat[] = [];
  const sent: Sent[] = [];
  for (const name of [...WRITERS, "r0", "r1"])
    seats.push({ name, client: await connect(name), ch: null, cursor: undefined });
  const seat = (by: number): Seat => seats[by] as Seat;

  const rejoin = (who: Seat, isFresh: boolean): void => {
    const cursor = isFresh ? undefined : who.cursor;
    who.client.post(joinMessage({ lines: [{ limit: 1000 }], ...(cursor === undefined ? {} : { cursor }) }));
  };

  const refresh = (): void => {
    for (const who of seats) {
      const joined = who.client.all("joined").at(-1);
      who.ch = joined?.ch ?? null;
      if (joined !== undefined)
        who.cursor = { epoch: joined.epoch, seq: who.client.frames(joined.ch).at(-1)?.upto ?? joined.head };
    }
  };

  const reconnect = async (who: Seat): Promise<void> => {
    refresh();
    who.client.close();
    who.client = await connect(who.name);
    rejoin(who, false);
    await world.settle();
    refresh();
    // What was on its way may be lost: as a good writer would, it sends that again.
    const acknowledged = (number: number): number =>
      connections
        .flatMap((client) => client.all("appended"))
        .filter(({ id }) => id === `e${number}`)
        .at(-1)?.size ?? 0;
    for (const of of sent)
      if (seat(of.by) === who)
        of.point = [...pointsOf(of.number).join("").slice(0, acknowledged(of.number))].length;
  };

  const idAt = (target: number): string | null => {
    const number = target % (sent.length + 1);
    return number === sent.length ? null : `e${number}`;
  };

  const placeOf = (place: number, target: number): object => {
    const id = idAt(target);
    if (place === 2 && id !== null) return { forkOf: id };
    return place === 1 ? { under: id } : { after: id };
  };

  const draftOf = (number: number) => (number % 4 === 3 ? say(`e${number}`) : streaming(`e${number}`));

  const publishOne = (
    who: Seat,
    ch: number,
    { by, isRepeat, pick, place, target, count }: Op & { op: "publish" },
  ) => {
    const first = isRepeat && sent.length > 0 ? pick % sent.length : sent.length;
    const toPlace = placeOf(place, target);
    const items = Array.from({ length: count }, (_, offset) => {
      const number = first + offset;
      sent[number] ??= { number, by, point: 0 };
      return at(offset === 0 ? toPlace : { after: `e${number - 1}` }, draftOf(number));
    });
    who.client.post(publish(ch, ...items));
  };

  /** Pieces go on where the writer stopped, or a little before or after that. */
  const appendOne = ({ pick, isStranger, shift, length, isEnd }: Op & { op: "append" }): void => {
    const of = sent.at(-1 - (pick % Math.max(1, sent.length)));
    if (of === undefined) return;
    const who = seat(isStranger ? (of.by + 1) % 3 : of.by);
    if (who.ch === null) return rejoin(who, true);
    const points = pointsOf(of.number);
    const from = Math.min(Math.max(0, of.point + shift), points.length);
    const end = Math.min(from + length, points.length);
    const text = points.slice(from, end).join("");
    if (!isStranger) of.point = Math.max(of.point, end);
    who.client.send({
      type: "append",
      ch: who.ch,
      id: `e${of.number}`,
      at: points.slice(0, from).join("").length,
      deltas: text === "" ? [] : [{ text }],
      ...(isEnd && end > 20 ? { status: "complete" } : {}),
    });
  };

  const runOne = (who: Seat, ch: number, { run, step, target }: Op & { op: "run" }): void => {
    const id = `r${run}`;
    if (step === 0)
      who.client.post(publishWithRun(ch, { id, place: { after: idAt(target) }, options: { run } }));
    else if (step === 1) who.client.post({ type: "claim", ch, id });
    else who.client.post({ type: "end", ch, id, status: "done" });
  };

  const perform = async (next: Op): Promise<void> => {
    switch (next.op) {
      case "deliver": {
        const pair = world.network.pairs[next.pair % Math.max(1, world.network.pairs.length)];
        for (let count = 0; count < next.count; count += 1)
          if (next.toServer) pair?.deliverToServer();
          else pair?.deliverToClient();
        world.clock.runDeferred();
        return;
      }
      case "settle":
        return world.settle();
      case "wait":
        return world.advance(next.ms);
      case "restart":
        refresh();
        world.stopServer();
        await world.startServer();
        for (const who of seats) await reconnect(who);
        return;
      case "drop":
        return reconnect(seat(next.by));
      case "read":
        return rejoin(seat(next.by), next.isFresh);
      case "append":
        refresh();
        return appendOne(next);
      default: {
        refresh();
        const who = seat(next.by);
        if (who.ch === null) return rejoin(who, true);
        if (next.op === "publish") publishOne(who, who.ch, next);
        else if (next.op === "run") runOne(who, who.ch, next);
        else who.client.post({ type: "register", ch: who.ch, key: "k", value: next.value });
      }
    }
  };

  for (const next of ops) await perform(next);
  await world.settle();
  return connections;
};

const foldUpTo = (records: readonly LogRecord[], seq: number): Tree => {
  const tree = createTree();
  for (const record of records) if (record.seq <= seq) expect(tree.apply(record).type).not.toBe("missing");
  return tree;
};

const isTyped = (
  given: ServerMessage,
): given is Exclude<ServerMessage, { records: unknown; upto: unknown }> => "type" in given;

/** Each join of a connection with what it held when the next one, or its end, came. */
const heardBy = (client: RawClient): Heard[] => {
  const heard: Heard[] = [];
  for (const given of client.received) {
    if (isTyped(given)) {
      if (given.type !== "joined") continue;
      const before = given.mode === "tail" ? heard.at(-1)?.held : undefined;
      const held = createTree();
      for (const { entry } of before?.nodes() ?? []) held.apply(entry);
      for (const record of [...given.entries, ...given.records]) held.apply(record);
      heard.push({ joined: given, held, upto: given.head });
      continue;
    }
    const last = heard.at(-1);
    if (last === undefined) continue;
    for (const record of given.records) {
      const applied = last.held.apply(record);
      // An entry outside the window may be missing; one that is held never misses a piece.
      if (applied.type === "missing") expect(last.held.get(applied.id)).toBeUndefined();
    }
    last.upto = given.upto;
  }
  return heard;
};

const checkAcks = (client: RawClient, tree: Tree, records: readonly LogRecord[]): void => {
  for (const { entries, run } of client.all("ack")) {
    for (const { id, seq, parentId } of entries) expect(tree.get(id)?.entry).toMatchObject({ seq, parentId });
    if (run !== undefined) expect(records).toContainEqual(expect.objectContaining({ kind: "run", id: run.id, rev: run.rev })); // biome-ignore format: one line
  }
  for (const { id, size, status } of client.all("appended")) {
    const entry = tree.get(id)?.entry;
    expect(entry?.size).toBeGreaterThanOrEqual(size);
    if (status !== "streaming") expect(entry).toMatchObject({ size, status });
  }
};

const checkLog = (tree: Tree, records: readonly LogRecord[]): void => {
  const seqs = records.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  for (const { entry, parent } of tree.nodes()) {
    expect(parent?.entry.id ?? null).toBe(entry.parentId);
    if (entry.type !== "message" || entry.role !== "assistant") continue;
    const text = entry.parts.map((part) => ("text" in part ? part.text : "?")).join("");
    expect(text).toBe(
      pointsOf(Number(entry.id.slice(1)))
        .join("")
        .slice(0, entry.size),
    );
  }
};

test("[J3] [L4] [S3] whatever the order, what was acknowledged is in the log, and who is joined has its fold", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 40, maxLength: 150, size: "max" }), async (ops) => {
      const world = await createWorld({ graceMs: 30_000 });
      const connections = await play(world, ops);
      const records = await world.records("s");
      const tree = foldUpTo(records, Number.POSITIVE_INFINITY);
      checkLog(tree, records);
      for (const client of connections) {
        checkAcks(client, tree, records);
        const heard = heardBy(client);
        for (const { held, upto } of heard) {
          const then = foldUpTo(records, upto);
          for (const { entry } of held.nodes()) expect(entry).toEqual(then.get(entry.id as EntryId)?.entry);
        }
        const last = heard.at(-1);
        // Who is still joined has everything up to the head.
        if (client.pair !== undefined && last !== undefined) expect(last.upto).toBe(records.at(-1)?.seq ?? 0);
        expect(client.closeCode === null || client.closeCode === 1000 || client.closeCode === 1006).toBe(
          true,
        );
      }
    }),
    { numRuns: 60 },
  );
});
