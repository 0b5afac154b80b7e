// Branches on screen: two windows on one conversation, edits, rewinds.

import { expect, test } from "vitest";
import { chatKit } from "./kit.js";
import { eventually } from "./windows.js";

const kit = chatKit({ speed: 60 });

test("[V1, V3] two windows keep their branches while a reply streams on one of them", async () => {
  const first = await kit.open();
  await first.send("What is an espalier?");
  await first.until(1, "complete");
  const [, reply] = await first.texts();
  const second = await kit.open(first.page.url());
  await second.until(1, "complete");

  await first.press(1, "Regenerate");
  await first.until(1, "streaming");
  await first.untilLength(1, 40);
  expect(await first.place(1)).toBe("2 of 2");
  await eventually(() => second.place(1)).toBe("1 of 2");
  // V10: what streams on a hidden branch touches nothing here.
  const touched = await second.page.getByTestId("list").evaluateHandle((list) => {
    const seen: string[] = [];
    new MutationObserver((records) => seen.push(...records.map(({ type }) => type))).observe(list, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    return seen;
  });
  const before = (await first.texts())[1] ?? "";
  await first.untilLength(1, before.length + 80);
  expect(await second.texts()).toEqual(["What is an espalier?", reply]);
  expect(await touched.jsonValue()).toEqual([]);

  await first.until(1, "complete");
  const [, other] = await first.texts();
  expect(other).not.toBe(reply);
  expect(await kit.witness.texts(await first.sessionId())).toEqual(["What is an espalier?", other]);
  expect(await second.texts()).toEqual(["What is an espalier?", reply]);
});

test("[V6] a branch that is stepped to while it streams goes on there, and back is as it was", async () => {
  const { send, until, untilLength, press, texts, place } = await kit.open();
  await send("Tell me about pears.");
  await until(1, "complete");
  const [, reply] = await texts();
  await press(1, "Regenerate");
  await until(1, "streaming");
  await press(1, "Previous alternative");
  await until(1, "complete");
  expect(await texts()).toEqual(["Tell me about pears.", reply]);
  expect(await place(1)).toBe("1 of 2");
  await press(1, "Next alternative");
  await untilLength(1, 1);
  await until(1, "complete");
  expect(await place(1)).toBe("2 of 2");
  expect((await texts())[1]).not.toBe(reply);
});

test("[V5, P2] an edit is one more alternative, and both are kept with what came after", async () => {
  const window = await kit.open();
  await window.send("How do I water roots?");
  await window.until(1, "complete");
  const [, reply] = await window.texts();
  await window.press(0, "Edit");
  await window.page.getByRole("textbox", { name: "Edit message" }).fill("How do I prune in winter?");
  await window.page.keyboard.press("Enter");
  await window.until(1, "streaming");
  expect(await window.place(0)).toBe("2 of 2");
  await window.until(1, "complete");
  const edited = await window.texts();
  expect(edited[0]).toBe("How do I prune in winter?");

  await window.press(0, "Previous alternative");
  await eventually(() => window.texts()).toEqual(["How do I water roots?", reply]);
  await window.press(0, "Next alternative");
  await eventually(() => window.texts()).toEqual(edited);
});

test("[V5] a rewound view says so, leads back, and goes on from there as a branch of its own", async () => {
  const window = await kit.open();
  await window.send("First: apples.");
  await window.until(1, "complete");
  await window.send("Second: frost.");
  await window.until(3, "complete");
  const whole = await window.texts();
  const rewound = window.page.getByRole("status", { name: "Rewound" });

  await window.press(1, "Go back to here");
  await rewound.waitFor();
  expect(await window.texts()).toEqual(whole.slice(0, 2));
  await window.page.getByRole("button", { name: "Return to the end" }).click();
  await eventually(() => window.texts()).toEqual(whole);
  expect(await rewound.count()).toBe(0);

  await window.press(1, "Go back to here");
  await window.send("Third: shade.");
  await window.until(3, "complete");
  expect((await window.texts()).slice(0, 3)).toEqual([...whole.slice(0, 2), "Third: shade."]);
  expect(await window.place(2)).toBe("2 of 2");
  await window.press(2, "Previous alternative");
  await eventually(() => window.texts()).toEqual(whole);
});

test("[V12] a prompt without an answer can ask for one", async () => {
  const window = await kit.open();
  await window.send("What grows in shade?");
  await window.until(1, "complete");
  await window.press(0, "Go back to here");
  await window.press(0, "Ask for an answer");
  await window.until(1, "complete");
  expect(await window.place(1)).toBe("2 of 2");
});
