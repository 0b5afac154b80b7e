// The README's walk, done; and the README's words for it, compared.

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chatKit } from "./kit.js";
import { WALK } from "./walk.js";
import type { ChatWindow } from "./windows.js";

const README = new URL("../../README.md", import.meta.url);
const kit = chatKit({ speed: 60 });

test("the walk can be done as it is written", async () => {
  const first = await kit.open();
  let second: ChatWindow | undefined;
  for (const { sentence, act } of WALK) {
    const done = act({
      first,
      openSecond: async (url) => {
        second = await kit.open(url);
      },
      get second() {
        return second as ChatWindow;
      },
    });
    await done.catch((cause) => expect.fail(`at “${sentence}”: ${String(cause)}`));
  }
}, 120_000);

test.skipIf(!existsSync(README))("the README tells it in the same words", () => {
  const readme = readFileSync(README, "utf8").replaceAll(/\s+/g, " ");
  expect(WALK.map(({ sentence }) => sentence).filter((sentence) => !readme.includes(sentence))).toEqual([]);
  expect(WALK.length).toBeLessThanOrEqual(12);
});
