/** What waits for one reader, by itself: order, merging, and bounds (J7). */
import type { EntryId, LogRecord, RecordsMessage, SessionId, SessionSummary } from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFrame } from "../../server/src/frame.js";
import { createOutbox, type Outbox } from "../../server/src/outbox.js";
import { createQueue } from "../../server/src/queue.js";
import { createReadQueue } from "../../server/src/read-queue.js";
import { createTail } from "../../server/src/tail.js";
import { append, message } from "./store/records.js";

const takeAll = (outbox: Outbox): string[] => {
  const taken: string[] = [];
  for (let text = outbox.take(); text !== undefined; text = outbox.take()) taken.push(text);
  return taken;
};

const summary = (id: string, entries: number): SessionSummary => ({
  id: id as SessionId, title: null, createdAt: 0, changedAt: 0, entries, waiting: 0,
}); // biome-ignore format: one line

describe("[J7] the outbox", () => {
  test("no record passes an answer or another of its session, and none is lost", () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ frame: fc.nat({ max: 2 }) }) },
      { weight: 1, arbitrary: fc.constant("answer" as const) },
      { weight: 1, arbitrary: fc.constant("take" as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const outbox = createOutbox();
        const taken: string[] = [];
        let seq = 0;
        for (const next of steps) {
          seq += 1;
          if (next === "answer") outbox.pushAnswer(JSON.stringify({ answer: seq }));
          else if (next === "take") taken.push(...[outbox.take() ?? []].flat());
          else outbox.pushFrame(createFrame(next.frame, [message(seq)], seq));
        }
        taken.push(...takeAll(outbox));
        expect(outbox).toMatchObject({ bytes: 0, answerBytes: 0, isEmpty: true });
        const heard = taken.map((text) => JSON.parse(text) as RecordsMessage | { answer: number });
        const order = heard.flatMap((given) => ("answer" in given ? [given.answer] : given.records.map((record) => record.seq))); // biome-ignore format: one line
        expect([...order].sort((a, b) => a - b)).toEqual(
          steps.flatMap((next, index) => (next === "take" ? [] : [index + 1])),
        );
        let lastAnswer = 0;
        const uptos = new Map<number, number>();
        for (const given of heard) {
          if ("answer" in given) {
            expect(given.answer).toBeGreaterThan(lastAnswer);
            lastAnswer = given.answer;
            continue;
          }
          for (const { seq: at } of given.records) {
            expect(at).toBeGreaterThan(lastAnswer);
            expect(at).toBeGreaterThan(uptos.get(given.ch) ?? 0);
            uptos.set(given.ch, at);
          }
          expect(given.upto).toBe(uptos.get(given.ch));
        }
      }),
    );
  });

  test("[S6] appends that wait become one, over what lies between them", () => {
    const outbox = createOutbox();
    const records: LogRecord[] = [append(2, "e1", "a"), message(3), append(4, "e1", "b", { at: 1 })];
    for (const record of records) outbox.pushFrame(createFrame(1, [record], record.seq));
    expect(takeAll(outbox).map((text) => JSON.parse(text))).toEqual([
      { ch: 1, upto: 4, records: [message(3), append(4, "e1", "ab")] },
    ]);
  });

  test("changes of the list come last, the latest of each session", () => {
    const outbox = createOutbox();
    for (let entries = 0; entries < 100; entries += 1) outbox.pushSummary(summary("s", entries));
    outbox.pushSummary(summary("t", 1));
    outbox.pushAnswer('"answer"');
    expect(takeAll(outbox).map((text) => JSON.parse(text))).toEqual([
      "answer",
      { type: "sessions", sessions: [summary("s", 99), summary("t", 1)] },
    ]);
  });
});

test("a queue gives back what was put in, in order, whatever was taken between", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 3000 }), { maxLength: 12 }), (counts) => {
      const queue = createQueue<number>();
      const model: number[] = [];
      for (const [index, count] of counts.entries())
        for (let each = 0; each < count; each += 1)
          if (index % 2 === 0) {
            queue.push(each);
            model.push(each);
          } else expect(queue.shift()).toBe(model.shift());
      expect([queue.size, queue.first(), queue.last()]).toEqual([model.length, model[0], model.at(-1)]);
    }),
    { numRuns: 20 },
  );
});

test("[J7] reads wait for room, a few at a time, and any number that ends at once is no recursion", () => {
  let hasRoom = false;
  let done = 0;
  const reads = createReadQueue(() => hasRoom);
  for (let index = 0; index < 100_000; index += 1)
    reads.push((finish) => {
      done += 1;
      finish();
    }, 1);
  expect([done, reads.bytes]).toEqual([0, 100_000]);
  hasRoom = true;
  reads.resume();
  expect([done, reads.bytes]).toEqual([100_000, 0]);
  const finishes: (() => void)[] = [];
  for (let index = 0; index < 20; index += 1) reads.push((finish) => void finishes.push(finish), 1);
  expect(finishes).toHaveLength(8);
  finishes[3]?.();
  expect(finishes).toHaveLength(9);
});

describe("[J2] the tail", () => {
  test("gives what came after a seq, or says that it cannot", () => {
    const tail = createTail(0);
    for (let seq = 1; seq <= 20_000; seq += 1) tail.push(message(seq, ""));
    expect(tail.after(1_000)).toBeNull();
    expect(tail.after(19_000)?.map(({ seq }) => seq - 19_000)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => 1 + index),
    );
    expect(tail.after(20_000)).toEqual([]);
  });

  test("a record that is larger than the bound is no part of it", () => {
    const tail = createTail(0);
    tail.push(message(1, "x".repeat(2 * 1024 * 1024)));
    expect(tail.after(0)).toBeNull();
    tail.push(message(2, "", { id: "b" as EntryId }));
    expect(tail.after(1)).toHaveLength(1);
  });
});
