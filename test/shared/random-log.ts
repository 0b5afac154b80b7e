/** Random logs as a server would write them: every parent is there, every append starts where its entry ends. */
import {
  type Append,
  createTree,
  type Delta,
  type Entry,
  type LogRecord,
  sizeOfDeltas,
} from "@espalier/shared";
import fc from "fast-check";
import { append, streaming } from "./records.js";

type Step =
  | { type: "entry"; parent: number }
  | { type: "append"; entry: number; deltas: Delta[]; end: boolean };

const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "é", "😀", "\n"), maxLength: 4 });
const delta: fc.Arbitrary<Delta> = fc.oneof(
  { weight: 5, arbitrary: text.map((each) => ({ text: each })) },
  { weight: 1, arbitrary: text.map((each) => ({ text: each, part: 0 })) },
  { weight: 1, arbitrary: text.map((each): Delta => ({ push: { type: "text", text: each } })) },
  { weight: 1, arbitrary: text.map((each): Delta => ({ set: { text: each }, part: 0 })) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant("entry" as const), parent: fc.nat() }),
  fc.record({
    type: fc.constant("append" as const),
    entry: fc.nat(),
    deltas: fc.array(delta, { maxLength: 4 }),
    end: fc.boolean(),
  }),
);

const toLog = (steps: readonly Step[]): LogRecord[] => {
  const log: LogRecord[] = [];
  const tree = createTree();
  const add = (record: Entry | Append) => {
    log.push(record);
    tree.apply(record);
  };
  let seq = 0;
  for (const each of steps) {
    seq += 1 + (seq % 3 === 0 ? 2 : 0);
    const nodes = [...tree.nodes()];
    if (each.type === "entry") {
      const parent = each.parent % (nodes.length + 1);
      const parts = each.parent % 2 === 0 ? [] : [{ type: "text", text: "" } as const];
      add(streaming(`e${nodes.length}`, parent === 0 ? null : `e${parent - 1}`, seq, parts));
    } else if (nodes.length > 0) {
      const { entry } = nodes[each.entry % nodes.length] as (typeof nodes)[number];
      if (entry.type !== "message" || entry.status !== "streaming") continue;
      const deltas = entry.parts.length > 0 ? each.deltas : each.deltas.filter((one) => !("part" in one));
      add(append(entry.id, seq, entry.size, deltas, each.end ? { status: "complete" } : {}));
    }
  }
  return log;
};

export const randomLog: fc.Arbitrary<LogRecord[]> = fc.array(step, { maxLength: 60 }).map(toLog);

/** Cuts a list into neighbouring pieces, at random. */
export const cuts = <T>(items: readonly T[], at: readonly number[]): T[][] => {
  const places = [...new Set(at.map((place) => place % (items.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => items.slice(from, places[index] ?? items.length));
};

export const endOf = ({ at, deltas }: Append): number => at + sizeOfDeltas(deltas);
