/**
 * A walk through the page in a few steps: each a sentence for people, and what it does. The sentences are
 * those of the README, word for word.
 */
import { expect } from "vitest";
import { type ChatWindow, eventually } from "./windows.js";

export type Walk = {
  readonly first: ChatWindow;
  /** Opens a second window on an address. */
  openSecond(url: string): Promise<void>;
  readonly second: ChatWindow;
};

export type Step = { readonly sentence: string; readonly act: (walk: Walk) => Promise<void> };

export const WALK: readonly Step[] = [
  {
    sentence: "Type a question, such as “What is an espalier?”, and press Enter: the answer streams in.",
    act: async ({ first }) => {
      await first.send("What is an espalier?");
      await first.until(1, "complete");
    },
  },
  {
    sentence:
      "Press “Regenerate” below the answer: another one takes its place, and “2 of 2” stands beside it.",
    act: async ({ first }) => {
      await first.press(1, "Regenerate");
      await first.until(1, "streaming");
      expect(await first.place(1)).toBe("2 of 2");
      await first.until(1, "complete");
    },
  },
  {
    sentence: "Step back and forth between the two with “‹” and “›”: nothing was lost.",
    act: async ({ first }) => {
      const after = await first.texts();
      await first.press(1, "Previous alternative");
      await eventually(() => first.place(1)).toBe("1 of 2");
      expect(await first.texts()).not.toEqual(after);
      await first.press(1, "Next alternative");
      await eventually(() => first.texts()).toEqual(after);
    },
  },
  {
    sentence:
      "Press “Edit” below your question, change it, and press Enter: the question has two branches now.",
    act: async ({ first }) => {
      await first.press(0, "Edit");
      await first.page.getByRole("textbox", { name: "Edit message" }).fill("How do I prune an apple tree?");
      await first.page.keyboard.press("Enter");
      await first.until(1, "complete");
      expect(await first.place(0)).toBe("2 of 2");
    },
  },
  {
    sentence:
      "Ask something else below the answer, then press “Go back to here” on that answer: you are rewound.",
    act: async ({ first }) => {
      await first.send("And in winter?");
      await first.until(3, "complete");
      await first.press(1, "Go back to here");
      await first.page.getByRole("status", { name: "Rewound" }).waitFor();
      expect(await first.texts()).toHaveLength(2);
    },
  },
  {
    sentence: "Ask another question from here: it grows as a branch of its own, beside the first.",
    act: async ({ first }) => {
      await first.send("And in summer?");
      await first.until(3, "complete");
      expect(await first.place(2)).toBe("2 of 2");
    },
  },
  {
    sentence: "Open the address in a second window: it shows the same conversation.",
    act: async (walk) => {
      await walk.openSecond(walk.first.page.url());
      await eventually(() => walk.second.texts()).toEqual(await walk.first.texts());
    },
  },
  {
    sentence: "In the second window, step to the other branch with “‹”: the first window stays where it is.",
    act: async ({ first, second }) => {
      const before = await first.texts();
      await second.press(2, "Previous alternative");
      await eventually(async () => (await second.texts())[2]).toBe("And in winter?");
      expect(await first.texts()).toEqual(before);
    },
  },
  {
    sentence:
      "Ask one more question in the first window, and reload it while the answer streams: the text is there at once and goes on.",
    act: async ({ first }) => {
      await first.send("Tell me a long story about the garden.");
      await first.untilLength(5, 40);
      const soFar = (await first.texts())[5] ?? "";
      await first.page.reload();
      await first.untilLength(5, 1);
      expect((await first.texts())[5]?.startsWith(soFar)).toBe(true);
    },
  },
  {
    sentence:
      "Look at both: two windows, two branches of one conversation, and only one of them is moved by the stream.",
    act: async ({ first, second }) => {
      const still = await second.texts();
      await first.until(5, "complete");
      expect(await second.texts()).toEqual(still);
      expect(still[2]).toBe("And in winter?");
    },
  },
];
