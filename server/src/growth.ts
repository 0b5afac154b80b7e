/**
 * What was appended to one streaming entry, by position (S3), and about how many bytes the entry takes by
 * now. Costs what is appended, not what is held.
 */
import {
  type Delta,
  type MessageEntry,
  pushDelta,
  sizeOfDelta,
  takeDeltas,
  trimDeltas,
} from "@espalier/shared";
import { weightOf, weightOfPart } from "./frame.js";

export type Growth = {
  readonly weight: number;
  /** `parts` are those of the entry after the deltas. */
  push(deltas: readonly Delta[], parts: MessageEntry["parts"]): void;
  /** The deltas from one position to another; what is asked for lies near the end. */
  slice(from: number, to: number): readonly Delta[];
};

/** A text that grew by many pieces is copied whole when it is cut for the first time. */
const MAX_JOINED_LENGTH = 16 * 1024;

const isLongText = (delta: Delta | undefined): boolean =>
  delta !== undefined && "text" in delta && delta.text.length > MAX_JOINED_LENGTH;

export const createGrowth = (entry: MessageEntry): Growth => {
  const deltas: Delta[] = [];
  const partWeights = entry.parts.map(weightOfPart);
  let size = 0;
  let weight = weightOf(entry);

  const weigh = (index: number, change: (before: number) => number): void => {
    const before = partWeights[index] ?? 0;
    partWeights[index] = change(before);
    weight += (partWeights[index] as number) - before;
  };

  return {
    get weight() {
      return weight;
    },
    push: (more, parts) => {
      for (const delta of more) {
        if (isLongText(deltas.at(-1))) deltas.push(delta);
        else pushDelta(deltas, delta);
        size += sizeOfDelta(delta);
        if ("text" in delta)
          weigh(delta.part ?? Math.max(0, partWeights.length - 1), (before) => before + delta.text.length);
        else if ("push" in delta) weigh(partWeights.length, () => weightOfPart(delta.push));
      }
      const changed = new Set(more.flatMap((delta) => ("set" in delta ? [delta.part] : [])));
      for (const index of changed) {
        const part = parts[index];
        if (part !== undefined) weigh(index, () => weightOfPart(part));
      }
    },
    slice: (from, to) => {
      let index = deltas.length;
      let start = size;
      while (index > 0 && start > from) {
        index -= 1;
        start -= sizeOfDelta(deltas[index] as Delta);
      }
      return takeDeltas(trimDeltas(deltas.slice(index), from - start), to - from);
    },
  };
};
