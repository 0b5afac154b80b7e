/**
 * What a token costs a view, through the whole client: a frame's text comes in, the replica folds it, the
 * view tells its listener, which reads the snapshot and the message. It must not grow with the history,
 * with what is shown, or with other views (V11).
 */
import type { EntryId, View } from "@espalier/client";
import type { Append, Entry, LogRecord, Seq } from "@espalier/shared";
import { createFedClient, messageEntry } from "./fed-client.js";

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

const best = async (times: number, measure: () => Promise<number>): Promise<number> => {
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index < times; index += 1) least = Math.min(least, await measure());
  return least;
};

if (process.argv[2] === "scratch") {
  for (const count of [0, 1000, 10_000, 50_000])
    console.log(
      "history",
      count,
      (await best(5, () => tokens(count, { showing: 1, hidden: 0 }))).toFixed(2),
      "µs/token",
    );
  for (const views of [
    { showing: 8, hidden: 0 },
    { showing: 1, hidden: 100 },
  ])
    console.log(views, (await best(5, () => tokens(1000, views))).toFixed(2), "µs/token");
  for (const isListRead of [false, true])
    for (const count of [4000, 16_000])
      console.log(
        "live build",
        count,
        isListRead,
        (await best(3, () => liveBuild(count, isListRead))).toFixed(1),
        "ms",
      );
}
