// What a reload keeps: the line, what has streamed so far, and what was not sent.

import { expect, test } from "vitest";
import { chatKit } from "./kit.js";
import { createProxy } from "./proxy.js";
import { eventually } from "./windows.js";

const kit = chatKit({ speed: 45 });

test("[J1, J3] a reload in mid-stream shows the text so far at once, and each token once", async () => {
  const window = await kit.open();
  await window.send("Tell me about trees.");
  await window.untilLength(1, 60);
  const [, soFar = ""] = await window.texts();
  await window.page.reload();
  await window.message(1).waitFor();
  const [, first = ""] = await window.texts();
  expect(first.startsWith(soFar)).toBe(true);
  await window.until(1, "streaming");
  await window.until(1, "complete");
  expect(await window.texts()).toEqual(await kit.witness.texts(await window.sessionId()));
  expect(await window.shown()).toHaveLength(2);
});

test("[V7] a reload shows the same line, with its hold", async () => {
  const window = await kit.open();
  await window.send("What is grafting?");
  await window.until(1, "complete");
  const [, reply] = await window.texts();
  await window.press(1, "Regenerate");
  await window.until(1, "streaming");
  await window.press(1, "Previous alternative");
  await window.until(1, "complete");
  await window.page.reload();
  await window.until(1, "complete");
  expect(await window.texts()).toEqual(["What is grafting?", reply]);
  expect(await window.place(1)).toBe("1 of 2");

  await window.press(0, "Go back to here");
  await window.page.reload();
  await window.page.getByRole("status", { name: "Rewound" }).waitFor();
  expect(await window.texts()).toEqual(["What is grafting?"]);
});

test("[O3] what is written offline waits, outlives a reload, and is sent once", async () => {
  const proxy = await createProxy(kit.chat.port);
  const window = await kit.open(proxy.url);
  await window.send("Before.");
  await window.until(1, "complete");

  proxy.cut();
  await window.context.setOffline(true);
  const connection = window.page.getByRole("status", { name: "Connection" });
  await eventually(() => connection.textContent()).toContain("Offline.");
  await window.send("While away.");
  await window.send("And one more.");
  expect((await window.shown()).slice(2).map(({ state, text }) => [state, text])).toEqual([
    ["pending", "While away."],
    ["pending", "And one more."],
  ]);

  // The page itself comes from the network, which is back; the server is not.
  await window.context.setOffline(false);
  await window.page.reload();
  await eventually(async () => (await window.shown()).map(({ state }) => state)).toContain("pending");

  proxy.mend();
  await eventually(async () => (await window.shown()).filter(({ role }) => role === "user")).toMatchObject([
    { text: "Before.", state: "confirmed" },
    { text: "While away.", state: "confirmed" },
    { text: "And one more.", state: "confirmed" },
  ]);
  await eventually(() => connection.textContent()).toBe("");
  proxy.close();
});
