// Long conversations: older messages come in above without moving what is read, and a token costs one row.

import { expect, test } from "vitest";
import { chatKit } from "./kit.js";
import { type ChatWindow, eventually } from "./windows.js";

const kit = chatKit({ speed: 60 });

const textsUpTo = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index}: ${"word ".repeat(1 + ((index * 7) % 90))}`);

/** Scrolls, where it is told to, and says in the same turn which row is the first in sight, and where. */
const look = ({ page }: ChatWindow, scrollTo: number | null = null) =>
  page.getByRole("region", { name: "Messages" }).evaluate((scroller, to) => {
    if (to !== null) scroller.scrollTop = to;
    const { top } = scroller.getBoundingClientRect();
    const rows = [...scroller.querySelectorAll("[data-entry]")];
    const row = rows.find((candidate) => candidate.getBoundingClientRect().bottom > top + 1);
    return {
      id: row?.getAttribute("data-entry") ?? "",
      top: Math.round(row?.getBoundingClientRect().top ?? 0),
      rows: rows.length,
    };
  }, scrollTo);

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

/**
 * Goes near the top and waits for older messages to come in. Says how far the rows in sight moved when they
 * did: from the last frame without them to the first with them, and to the one in which all is at rest.
 */
const loadOlder = ({ page }: ChatWindow) =>
  page.getByRole("region", { name: "Messages" }).evaluate(async (scroller) => {
    type Frame = { rows: number; topsById: Map<string, number> };
    const frame = async (): Promise<Frame> => {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const sight = scroller.getBoundingClientRect();
      const rows = [...scroller.querySelectorAll("[data-entry]")];
      const topsById = new Map<string, number>();
      for (const row of rows) {
        const { top, bottom } = row.getBoundingClientRect();
        if (bottom > sight.top && top < sight.bottom) topsById.set(row.getAttribute("data-entry") ?? "", top);
      }
      return { rows: rows.length, topsById };
    };
    const distance = (from: Frame, to: Frame): number => {
      const moved = [...from.topsById].map(([id, top]) => Math.abs((to.topsById.get(id) ?? Infinity) - top));
      return Math.min(...moved);
    };
    scroller.scrollTop = 300;
    let before = await frame();
    for (;;) {
      const after = await frame();
      if (after.rows > before.rows) {
        let rest = after;
        for (let frames = 0; frames < 5; frames += 1) rest = await frame();
        return { rows: after.rows, atOnce: distance(before, after), atRest: distance(before, rest) };
      }
      before = after;
    }
  });

test("[V8] scrolling up loads older messages, and what is read stays where it is", async () => {
  const texts = textsUpTo(400);
  await kit.witness.fill("long", texts);
  const window = await kit.open(`${kit.chat.url}#/long`);
  await eventually(async () => (await window.texts()).at(-1)).toBe(texts.at(-1));
  const { rows } = await look(window);
  expect(rows).toBeLessThan(texts.length);

  for (let loaded = rows; loaded < texts.length; ) {
    const { rows: now, atOnce, atRest } = await loadOlder(window);
    expect(Math.max(atOnce, atRest)).toBeLessThanOrEqual(2);
    loaded = now;
  }
  expect(await window.texts()).toEqual(texts);
});

test("a reader who scrolled up stays there while an answer streams; one at the end stays at the end", async () => {
  await kit.witness.fill("stay", textsUpTo(40));
  const window = await kit.open(`${kit.chat.url}#/stay`);
  await window.message(39).waitFor();
  await window.send("Tell me about seasons.");
  await window.untilLength(41, 200);
  await window.page.getByText("To the end").waitFor({ state: "detached" });

  await look(window, 900);
  await window.page.getByRole("button", { name: "To the end" }).waitFor();
  const before = await look(window);
  await window.until(41, "complete");
  expect(await look(window)).toEqual(before);
  await window.page.getByRole("button", { name: "To the end" }).click();
  await eventually(() => window.message(41).isVisible()).toBe(true);
});

test("[V11] with 5,000 messages shown, a token touches the row that it is for and no other", async () => {
  await kit.witness.fill("thousands", textsUpTo(5000));
  const window = await kit.open(`${kit.chat.url}#/thousands`);
  await window.message(0).waitFor();
  while ((await look(window, 0)).rows < 5000) await window.page.evaluate(nextFrame);

  const stream = (await kit.witness.session("thousands")).stream({}, { after: null });
  stream.append("0");
  await window.untilLength(5000, 1);
  const touched = await window.page.getByTestId("list").evaluateHandle((list) => {
    const seen = new Set<string>();
    new MutationObserver((records) => {
      for (const { target } of records)
        seen.add(
          (target.parentElement?.closest("[data-entry]") ?? list).getAttribute("data-entry") ?? "list",
        );
    }).observe(list, { subtree: true, childList: true, characterData: true });
    return { read: () => [...seen] };
  });
  for (let length = 2; length < 10; length += 1) {
    stream.append(".");
    await window.untilLength(5000, length);
  }
  expect(await touched.evaluate(({ read }) => read())).toEqual([stream.id]);
  await stream.end();
}, 120_000);
