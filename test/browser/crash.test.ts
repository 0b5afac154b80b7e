// A server that dies in mid-stream and comes back: nobody has to do anything.

import { expect, test } from "vitest";
import { chatKit } from "./kit.js";
import { eventually } from "./windows.js";

const kit = chatKit({ speed: 40 });

test("[D1, J3, S9] a killed server comes back, page and agent rejoin, and the text is whole", async () => {
  const window = await kit.open();
  await window.send("Tell me about old trees and their rings.");
  await window.untilLength(1, 80);
  const [, soFar = ""] = await window.texts();

  await kit.chat.crash();
  const connection = window.page.getByRole("status", { name: "Connection" });
  await eventually(() => connection.textContent()).toContain("Offline.");
  await kit.chat.start();

  await window.until(1, "complete");
  const texts = await window.texts();
  expect(texts[1]?.startsWith(soFar)).toBe(true);
  expect(texts).toEqual(await kit.witness.texts(await window.sessionId()));
  expect(texts[1]).not.toMatch(/(.{60,})\1/s);
  expect(await window.shown()).toHaveLength(2);

  await window.send("And what is below the ground?");
  await window.until(3, "complete");
});
