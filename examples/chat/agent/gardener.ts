/** The built-in agent: answers from its library, by the words of the prompt. It needs no key and no network. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, isPrompt, type Question, textOf } from "./answer.js";
import { CLOSINGS, OPENINGS, PASSAGES } from "./library.js";

const PASSAGES_IN_ANSWER = 2;
const TICK_MS = 16;

/** `speed`: tokens a second. The run option `speed` comes first. */
export const createGardener = ({ speed }: { speed: number }): Answer => {
  let last: string | undefined;
  return async function* (question) {
    const answer = compose(question, last);
    last = answer;
    const tokens = tokensOf(answer);
    const tokensPerMs = Math.max(1, numberOf(question.options.speed) ?? speed) / 1000;
    const startedAt = Date.now();
    for (let told = 0; told < tokens.length && !question.signal.aborted; ) {
      // By the clock and not by the number of naps, which take longer than they were asked to.
      const due = Math.floor((Date.now() - startedAt) * tokensPerMs) + 1;
      if (due > told) yield { text: tokens.slice(told, due).join("") };
      told = Math.max(told, due);
      await sleep(Math.max(TICK_MS, 1 / tokensPerMs));
    }
  };
};

/** The whole answer to a question: the same for the same seed, but that it begins otherwise than the one before. */
export const compose = ({ history, seed }: Pick<Question, "history" | "seed">, before = ""): string => {
  const words = wordsOf(textOf(history.findLast(isPrompt)));
  const chance = chanceFrom(seed);
  const ranked = PASSAGES.map((passage) => ({
    passage,
    rank: passage.about.filter((word) => words.has(word)).length + chance(),
  })).sort((a, b) => b.rank - a.rank);
  const chosen = ranked.slice(0, PASSAGES_IN_ANSWER).map(({ passage }) => passage.text);
  const openings = OPENINGS.filter((opening) => before === "" || !before.startsWith(opening));
  return [pick(openings, chance), ...chosen, pick(CLOSINGS, chance)].join("\n\n");
};

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/\p{L}+/gu) ?? []);

const tokensOf = (text: string): string[] => text.match(/\s*\S+/g) ?? [];

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && value > 0 ? value : undefined;

const pick = (from: readonly string[], chance: () => number): string =>
  from[Math.floor(chance() * from.length)] as string;

/** Numbers from 0 to 1 that follow from a text. */
const chanceFrom = (seed: string): (() => number) => {
  let state = 2166136261;
  for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) as number), 16777619);
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) / 4294967296;
  };
};
