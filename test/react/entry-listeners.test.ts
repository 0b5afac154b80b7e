// What a component that shows one entry is told: all that changes how the entry looks.

import type { EntryId, ErrorBody } from "@espalier/client";
import { expect, test } from "vitest";
import { createWorld, open, textOf } from "../kit/world.js";

test("[O1] an entry's listener hears that its write is confirmed", async () => {
  const world = await createWorld();
  const { view } = await open(world, world.client("ann"));
  const { id } = view.send("hello");
  const states: string[] = [];
  view.subscribeEntry(id as EntryId, () => states.push(view.get(id as EntryId)?.state ?? "gone"));
  await world.settle();
  expect(states).toEqual(["confirmed"]);
});

test("[O2] an entry's listener hears of each try, and one that cannot be sent costs no connection", async () => {
  const world = await createWorld();
  const { view } = await open(world, world.client("ann"));
  const { id } = view.send("x".repeat(2_000_000));
  await world.settle();
  const seen: (ErrorBody | null | undefined)[] = [];
  view.subscribeEntry(id as EntryId, () => seen.push(view.get(id as EntryId)?.error));
  view.retry(id);
  await world.settle();
  expect(seen).toMatchObject([null, { code: "too_large" }]);
  expect(world.network.log.filter(({ text }) => text.includes('"hello"'))).toHaveLength(1);
});

test("[J2] an entry's listener hears of what a fresh window brought", async () => {
  const world = await createWorld();
  const ann = await open(world, world.client("ann"));
  const bob = await open(world, world.client("bob"));
  const stream = ann.session.stream({}, { after: null });
  stream.append("so far");
  await world.settle();
  let heard = "";
  bob.view.subscribeEntry(stream.id, () => {
    const shown = bob.view.get(stream.id);
    heard = shown === undefined ? "gone" : textOf(shown.entry);
  });

  const cut = world.network.pairs.find(({ owner }) => owner === "bob");
  world.network.isDown = true;
  cut?.break();
  for (let index = 0; index < 300; index += 1) {
    stream.append(`, and ${"more ".repeat(2000)}`);
    await world.settle();
  }
  world.network.isDown = false;
  await world.advance(60_000);
  expect(heard).toBe(textOf(ann.view.get(stream.id)?.entry as never));
}, 60_000);
