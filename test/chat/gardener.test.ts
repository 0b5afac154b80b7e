// The example's agent without a model.

import type { Entry } from "@espalier/client";
import { expect, test } from "vitest";
import { compose, createGardener } from "../../examples/chat/agent/gardener.js";
import { PASSAGES } from "../../examples/chat/agent/library.js";

const prompt = (text: string): Entry[] => [
  { type: "message", role: "user", parts: [{ type: "text", text }] } as unknown as Entry,
];
const passageAbout = (word: string): string =>
  PASSAGES.find(({ about }) => about.includes(word))?.text ?? "nothing";

test("it answers from the passages that the prompt's words name", () => {
  for (const seed of ["s1", "s2", "s3"]) {
    const answer = compose({ history: prompt("How do I graft a scion onto a rootstock?"), seed });
    expect(answer).toContain(passageAbout("graft"));
  }
});

test("asked again it answers otherwise, and the same seed says the same", () => {
  const history = prompt("Tell me something.");
  const answers = Array.from({ length: 10 }, (_, index) => compose({ history, seed: `run-${index}` }));
  expect(new Set(answers).size).toBeGreaterThan(7);
  expect(compose({ history, seed: "run-3" })).toBe(answers[3]);
});

test("what it streams is what it composed", async () => {
  const question = {
    history: prompt("Pears?"),
    seed: "s",
    options: {},
    signal: new AbortController().signal,
  };
  let streamed = "";
  let pieces = 0;
  for await (const piece of createGardener({ speed: 5000 })(question)) {
    if ("text" in piece) streamed += piece.text;
    pieces += 1;
  }
  expect(streamed).toBe(compose(question));
  expect(pieces).toBeGreaterThan(1);
});

test("it stops when nobody waits", async () => {
  const over = new AbortController();
  const question = { history: prompt("Pears?"), seed: "s", options: { speed: 5 }, signal: over.signal };
  for await (const _ of createGardener({ speed: 30 })(question)) over.abort();
  expect(over.signal.aborted).toBe(true);
});

test("the same question is never answered with the same words twice in a row", () => {
  const history = prompt("How do I graft a scion onto a rootstock?");
  let before = "";
  for (let index = 0; index < 200; index += 1) {
    const answer = compose({ history, seed: `run-${index}` }, before);
    expect(answer).not.toBe(before);
    before = answer;
  }
});
