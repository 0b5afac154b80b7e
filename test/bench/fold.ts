/** The tree in one process: what a fold costs beside a `Map.set` of the same ids, a path, a token. */
import {
  type Append,
  type EntryId,
  type MessageEntry,
  pathTo,
  type Seq,
  type TreeNode,
} from "@espalier/shared";
import { seededRandom } from "../kit/clock.js";
import { alternatives, foldOf, history, message, newIds } from "./histories.js";
import { type Bench, type Row, timesOf } from "./measure.js";

const NAME = "fold";
const mapOf = (records: readonly MessageEntry[]): Map<EntryId, MessageEntry> => {
  const map = new Map<EntryId, MessageEntry>();
  for (const record of records) map.set(record.id, record);
  return map;
};

const foldRow = (work: string, rounds: number, factor: number, prepare: () => MessageEntry[]): Row => {
  const [floor = 0, ours = 0] = timesOf(rounds, { prepare, run: mapOf }, { prepare, run: foldOf });
  const beside = `${(ours / floor).toFixed(2)}× Map.set, ${floor.toFixed(2)} ms; at most ${factor}×`;
  return { name: NAME, work, ours, limit: factor * floor, unit: "ms", beside };
};

const alternativesRow = (rounds: number, random: () => number): Row => {
  const [ours = 0] = timesOf(rounds, { prepare: () => alternatives(50_000, random), run: foldOf });
  return { name: NAME, work: "50,000 alternatives of one parent", ours, limit: 100, unit: "ms" };
};

const pathRow = (length: number, rounds: number, random: () => number): Row => {
  const tree = foldOf(history(length, 0, random));
  const prepare = () => tree.newest as TreeNode;
  const [ours = 0] = timesOf(rounds, { prepare, run: pathTo });
  return { name: NAME, work: `path of ${length}`, ours, limit: 0.5, unit: "ms" };
};

const TOKENS = 10_000;

/** Each token comes alone, in a record of its own, and the entry is read after each. */
const tokenRow = (shown: number, rounds: number, random: () => number): Row => {
  const tree = foldOf(history(shown, 0, random));
  let seq = shown;
  const prepare = () => {
    seq += 1;
    const [id] = newIds(1, random) as [EntryId];
    tree.apply({ ...message(id, tree.newest?.entry.id ?? null, seq), status: "streaming", parts: [] });
    return Array.from({ length: TOKENS }, (_, index): Append => {
      seq += 1;
      return { kind: "append", id, seq: seq as Seq, time: seq, at: index * 4, deltas: [{ text: "tide" }] };
    });
  };
  const run = (tokens: readonly Append[]) => {
    let size = 0;
    for (const token of tokens) {
      tree.apply(token);
      size += tree.get(token.id)?.entry.size ?? 0;
    }
    return size;
  };
  const [time = 0] = timesOf(rounds, { prepare, run });
  const work = `one token into a message, ${shown} entries of history`;
  return { name: NAME, work, ours: (time / TOKENS) * 1000, limit: 1.5, unit: "µs" };
};

export const run: Bench = async ({ isQuick }) => {
  const random = seededRandom(1);
  const rounds = isQuick ? 3 : 15;
  const many = isQuick ? 20_000 : 100_000;
  return [
    foldRow("10,000 entries, linear", isQuick ? 5 : 41, 1.6, () => history(10_000, 0, random)),
    foldRow(`${many.toLocaleString("en")} entries, linear`, rounds, 2, () => history(many, 0, random)),
    foldRow(`${many.toLocaleString("en")} entries, 10 % forks`, rounds, 2.2, () =>
      history(many, 0.1, random),
    ),
    alternativesRow(rounds, random),
    pathRow(10_000, isQuick ? 5 : 41, random),
    tokenRow(0, rounds, random),
    tokenRow(10_000, rounds, random),
  ];
};
