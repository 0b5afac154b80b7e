/**
 * What a token costs a view, through the whole client: a frame's text comes in, the replica folds it, the
 * view tells its listener, which reads the snapshot and the message. It must not grow with the history,
 * with what is shown, or with other views (V11).
 */
import type { EntryId, View } from "@espalier/client";
import type { Append, Entry, LogRecord, Seq } from "@espalier/shared";
import { createFedClient, messageEntry } from "./fed-client.js";
import type { Bench, Row } from "./measure.js";

const TOKENS = 10_000;

const history = (count: number): Entry[] =>
  Array.from({ length: count }, (_, index) =>
    messageEntry(index, index === 0 ? null : index - 1, `message ${index}`),
  );

const read = (view: View): void => {
  const { length } = view.snapshot;
  view.at(length - 1);
};

/** Microseconds a token. */
const tokens = async (count: number, views: { showing: number; hidden: number }): Promise<number> => {
  const fed = await createFedClient(history(count));
  const shown = [fed.view];
  while (fed.view.snapshot.hasOlder && (await fed.view.loadOlder(count)) > 0);
  const first = count === 0 ? null : (`e${Math.min(count - 1, 3)}` as EntryId);
  for (let index = 1; index < views.showing; index += 1)
    shown.push(fed.session.createView({ leafId: fed.view.snapshot.leafId }));
  for (const view of shown) view.follow();
  for (let index = 0; index < views.hidden; index += 1) {
    const hidden = fed.session.createView({ leafId: first });
    hidden.subscribe(() => read(hidden));
  }
  for (const view of shown) view.subscribe(() => read(view));
  const streaming = messageEntry(count, count === 0 ? null : count - 1, "", {
    status: "streaming",
    parts: [],
  } as Partial<Entry>);
  fed.feed([streaming]);
  if (fed.view.snapshot.leafId !== streaming.id) throw new Error("the streaming message is not shown");
  let at = 0;
  const frames = Array.from({ length: TOKENS }, (_, index) => {
    const text = ` t${index % 10}`;
    const append: Append = {
      kind: "append",
      id: streaming.id,
      seq: (count + 2 + index) as Seq,
      time: 1_750_000_000_000,
      at,
      deltas: [{ text }],
    };
    at += text.length;
    return fed.frame([append]);
  });
  const start = performance.now();
  for (const frame of frames) fed.feedText(frame);
  const micros = ((performance.now() - start) * 1000) / TOKENS;
  const entry = fed.view.at(fed.view.snapshot.length - 1)?.entry;
  if (entry?.size !== at) throw new Error("tokens are missing");
  fed.close();
  return micros;
};

/** Milliseconds to build a line live, a view reading on every change. */
const liveBuild = async (count: number, isListRead: boolean): Promise<number> => {
  const fed = await createFedClient([]);
  fed.view.subscribe(() => {
    read(fed.view);
    if (isListRead) void fed.view.snapshot.ids.length;
  });
  const frames = history(count).map((entry) => fed.frame([entry as LogRecord]));
  const start = performance.now();
  for (const frame of frames) fed.feedText(frame);
  const ms = performance.now() - start;
  if (fed.view.snapshot.length !== count) throw new Error("entries are missing");
  fed.close();
  return ms;
};

const RATIO_LIMIT = 1.5;
const TOKEN_LIMIT_MICROS = 5;

export const run: Bench = async ({ isQuick }) => {
  const rounds = isQuick ? 3 : 7;
  const histories = isQuick ? [0, 10_000] : [0, 1000, 10_000, 50_000];
  const rows: Row[] = [];
  // Side by side in each round, so that a noisy moment hits all of them.
  const costs = await leastOf(rounds, [
    ...histories.map((count) => () => tokens(count, { showing: 1, hidden: 0 })),
    () => tokens(1000, { showing: 8, hidden: 0 }),
    () => tokens(1000, { showing: 1, hidden: 100 }),
  ]);
  const [base = 0] = costs;
  histories.forEach((count, index) => {
    const ours = costs[index] ?? 0;
    rows.push({
      name: "view",
      work: `a token, a view reading on every change, ${count} entries shown`,
      ours,
      limit: TOKEN_LIMIT_MICROS,
      unit: "µs",
      beside: `${(ours / base).toFixed(2)} of it with no history`,
    });
  });
  const flat = (costs[histories.indexOf(10_000)] ?? 0) / base;
  rows.push({
    name: "view",
    work: "the same with 10,000 entries beside none",
    ours: flat,
    limit: RATIO_LIMIT,
    unit: "×",
  });
  rows.push({
    name: "view",
    work: "the same with 8 views that show it",
    ours: costs.at(-2) ?? 0,
    unit: "µs",
  });
  rows.push({
    name: "view",
    work: "the same with 100 views that do not",
    ours: costs.at(-1) ?? 0,
    unit: "µs",
  });
  const builds = await leastOf(3, [
    () => liveBuild(4000, false),
    () => liveBuild(16_000, false),
    () => liveBuild(4000, true),
  ]);
  rows.push({
    name: "view",
    work: "4,000 entries, one after the other, a view reading",
    ours: builds[0] ?? 0,
    unit: "ms",
  });
  rows.push({
    name: "view",
    work: "the growth from 4,000 to 16,000 of them",
    ours: (builds[1] ?? 0) / (builds[0] ?? 1),
    unit: "×",
    beside: "4 is linear",
  });
  rows.push({
    name: "view",
    work: "4,000 of them, a view that lists all ids each time",
    ours: builds[2] ?? 0,
    unit: "ms",
  });
  return rows;
};

/** The least of several rounds of each, all of them run in each round. */
const leastOf = async (rounds: number, measures: (() => Promise<number>)[]): Promise<number[]> => {
  const least = measures.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, measure] of measures.entries())
      least[index] = Math.min(least[index] as number, await measure());
  return least;
};
