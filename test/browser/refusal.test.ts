// A refused write stays on screen until its writer has decided.

import { expect, test } from "vitest";
import { chatKit } from "./kit.js";
import { type ChatWindow, eventually } from "./windows.js";

const kit = chatKit();

/** Refuses what the page publishes for as long as `isRefusing` says so, as a server without disk space would. */
const refuse = async ({ page }: ChatWindow, isRefusing: () => boolean): Promise<void> => {
  await page.routeWebSocket(/espalier/, (near) => {
    const far = near.connectToServer();
    near.onMessage((text) => {
      const message = JSON.parse(String(text)) as { type: string; n: number };
      if (message.type !== "publish" || !isRefusing()) return far.send(text);
      const error = { code: "unavailable", message: "unable to write the log; no space is left" };
      near.send(JSON.stringify({ type: "refused", n: message.n, error }));
    });
  });
  await page.reload();
};

test("[O2] a refused message says why, is kept over a reload, and goes out on retry", async () => {
  const window = await kit.open();
  let isRefusing = true;
  await refuse(window, () => isRefusing);
  await window.send("Hold on to this.");
  const failure = window.message(0).getByRole("alert");
  await eventually(() => failure.textContent()).toContain("no space is left");
  await window.page.reload();
  await eventually(async () => (await window.shown())[0]?.state).toBe("failed");
  isRefusing = false;
  await window.press(0, "Retry");
  await window.until(0, "complete");
  await window.until(1, "complete");
  expect(await window.texts()).toEqual(await kit.witness.texts(await window.sessionId()));
});

test("[O2, V5] a discarded edit gives back the line that it was made from", async () => {
  const window = await kit.open();
  await window.send("What is a rootstock?");
  await window.until(1, "complete");
  const line = await window.texts();
  await refuse(window, () => true);
  await window.until(1, "complete");
  await window.press(0, "Edit");
  await window.page.getByRole("textbox", { name: "Edit message" }).fill("Never mind.");
  await window.page.keyboard.press("Enter");
  await eventually(() => window.shown()).toMatchObject([{ text: "Never mind.", state: "failed" }]);
  await window.press(0, "Discard");
  await eventually(() => window.texts()).toEqual(line);
});

test("[O2] an answer that could not be asked for can be asked for again", async () => {
  const window = await kit.open();
  let isRefusing = false;
  await refuse(window, () => isRefusing);
  await window.send("What is a scion?");
  await window.until(1, "complete");
  isRefusing = true;
  await window.press(1, "Regenerate");
  await window.page.getByRole("alert").waitFor();
  isRefusing = false;
  await window.page.getByRole("button", { name: "Retry" }).click();
  await eventually(() => window.place(1)).toBe("2 of 2");
});
