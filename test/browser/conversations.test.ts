// The list of conversations, titles, and what the keyboard does.

import { expect, test } from "vitest";
import { chatKit } from "./kit.js";
import { eventually } from "./windows.js";

const kit = chatKit();

test("[F7, G1] conversations appear in every window, the last changed first, with the titles they are given", async () => {
  const first = await kit.open();
  const second = await kit.open();
  const titles = () =>
    second.page.getByRole("navigation", { name: "Conversations" }).locator(".title").allTextContents();

  await first.send("Where do roots go?");
  await first.until(1, "complete");
  await eventually(titles).toEqual(["Where do roots go?"]);
  await first.page.getByRole("button", { name: "New conversation" }).click();
  await first.send("When do pears ripen?");
  await first.until(1, "complete");
  await eventually(titles).toEqual(["When do pears ripen?", "Where do roots go?"]);

  await first.page.getByRole("button", { name: "Rename" }).click();
  await first.page.getByRole("textbox", { name: "Title" }).fill("Pears");
  await first.page.keyboard.press("Enter");
  await eventually(titles).toEqual(["Pears", "Where do roots go?"]);

  await second.page.getByRole("link", { name: /Pears/ }).click();
  await eventually(() => second.texts()).toEqual(await first.texts());
});

test("what is sent from a conversation that is left at once arrives", async () => {
  const window = await kit.open();
  await window.send("Left behind.");
  const id = await window.sessionId();
  await window.page.getByRole("button", { name: "New conversation" }).click();
  await eventually(async () => (await kit.witness.texts(id))[0]).toBe("Left behind.");
});

test("the keyboard is enough: a new line, a send, an edit, a step between alternatives", async () => {
  const { page, composer, texts, until, message, place } = await kit.open();
  await composer.press("a");
  await composer.press("Shift+Enter");
  await composer.press("b");
  await composer.press("Enter");
  await until(1, "complete");
  expect((await texts())[0]).toBe("a\nb");

  await message(0).getByRole("button", { name: "Edit" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("c");
  await page.keyboard.press("Enter");
  await until(1, "complete");
  expect((await texts())[0]).toBe("a\nbc");

  await message(0).getByRole("button", { name: "Previous alternative" }).focus();
  await page.keyboard.press("ArrowLeft");
  await eventually(() => place(0)).toBe("1 of 2");
  await page.keyboard.press("ArrowRight");
  await eventually(() => place(0)).toBe("2 of 2");
  await page.keyboard.press("ArrowLeft");
  await eventually(() => place(0)).toBe("1 of 2");
});

test("[L5, C1] what the page does not know is shown with its name, and what is for the model is not", async () => {
  const session = await kit.witness.session("kinds");
  const place = { after: null };
  await session.publish([
    {
      draft: {
        id: "p1" as never,
        type: "message",
        role: "user",
        parts: [{ type: "data", name: "map", data: { x: 1 } }],
      },
      place,
    },
    { draft: { id: "p2" as never, type: "custom", name: "weather", data: "rain" }, place },
    {
      draft: {
        id: "p3" as never,
        type: "message",
        role: "user",
        audience: "model",
        parts: [{ type: "text", text: "hidden" }],
      },
      place,
    },
    { draft: { id: "p4" as never, type: "model-change", provider: "house", modelId: "m-1" }, place },
  ]);
  const { page } = await kit.open(`${kit.chat.url}#/kinds`);
  await page.getByText("Data: map").waitFor();
  await page.getByText("weather").waitFor();
  await page.getByText("Model: house m-1").waitFor();
  expect(await page.getByText("hidden").count()).toBe(0);
});
