/**
 * The state of a transcript, continued from `004-transcript-state-functions.test.ts`: pins, and what is collapsed.
 * The claims, and the tests that prove them:
 *
 * 16  collapses every thinking that is expanded, changing no id     [G1] all thinking …
 * 29  toggles whether one entry is collapsed                        [G1] one entry …
 * 29  toggles a pin                                                 [G1] a pin …
 * 29  tells the pins of what is shown                               [G1] the pins …
 *  7  branches and pins go on together                              [G1] the pins …
 */
import type { Client, EntryId, Session, View } from "@espalier/client";
import { beforeEach, expect, test } from "vitest";
import { open, say, textsOf, type World } from "../kit/world.js";
import { answer, createStage, settled } from "./kit.js";

let world: World;
let ann: Client;
let session: Session;
let view: View;

beforeEach(async () => {
  ({ world, ann, session, view } = await createStage());
});

const think = (thought: string): Promise<EntryId> =>
  answer(world, view, [
    { type: "thinking", text: thought },
    { type: "text", text: `after ${thought}` },
  ]);

test("[G1] all thinking is collapsed in one step, and each entry is the one it was (16)", async () => {
  const ids = [await think("first"), await think("second")];
  const { collapsed } = session.marks;
  const isCollapsed = () => ids.map((id) => collapsed.has(id, "thinking"));
  await settled(world, collapsed.toggle(ids[0] as EntryId, "thinking"));
  expect(isCollapsed()).toEqual([true, false]);
  const shown = view.getMessages();
  const { revision } = session;
  expect(await settled(world, collapsed.setAll("thinking", true))).toBeNull();
  expect([isCollapsed(), session.revision - revision]).toEqual([[true, true], 1]);
  expect(view.getMessages()).toEqual(shown);
  for (const [index, entry] of view.getMessages().entries()) expect(entry).toBe(shown[index]);
  expect(collapsed.has(await think("third"), "thinking")).toBe(true);
});

test("[G1] one entry is collapsed and expanded by its id, for one's own eyes, on all one's devices (29)", async () => {
  const [first, second] = [await think("first"), await think("second")] as const;
  const bob = (await open(world, world.client("bob"))).session;
  await settled(world, session.marks.collapsed.toggle(first, "thinking"));
  const device = (await open(world, world.client("ann"))).session;
  for (const each of [session, device]) {
    expect(each.marks.collapsed.has(first, "thinking")).toBe(true);
    expect(each.marks.collapsed.has(second, "thinking")).toBe(false);
    // Other parts of the same entry are no matter of this.
    expect(each.marks.collapsed.has(first, "tool")).toBe(false);
  }
  expect(bob.marks.collapsed.has(first, "thinking")).toBe(false);
  await settled(world, device.marks.collapsed.toggle(first, "thinking"));
  expect(session.marks.collapsed.has(first, "thinking")).toBe(false);
});

test("[G1] a pin is put on an entry by its id, and taken off again (29)", async () => {
  const [one, two] = (await say(world, view, "one", "two")) as [EntryId, EntryId];
  const { pins } = session.marks;
  for (const id of [two, one]) expect(await settled(world, pins.toggle(id))).toBeNull();
  expect([pins.has(one), pins.list()]).toEqual([true, [two, one]]);
  await settled(world, pins.toggle(two));
  expect([pins.has(two), pins.list()]).toEqual([false, [one]]);
  const bob = (await open(world, world.client("bob"))).session;
  expect(bob.marks.pins.list()).toEqual([one]);
  expect(textsOf(view)).toEqual(["one", "two"]);
});

test("[G1] the pins of what is shown are told in its order; those of other branches stay (7, 29)", async () => {
  const ids = (await say(world, view, "one", "two", "three")) as EntryId[];
  const [one, two, three] = ids as [EntryId, EntryId, EntryId];
  const { pins } = session.marks;
  for (const id of [three, one]) await settled(world, pins.toggle(id));
  expect(pins.on(view.getMessages())).toEqual([one, three]);
  view.edit(two, "other two");
  await world.settle();
  expect(pins.on(view.getMessages())).toEqual([one]);
  view.select(two);
  await world.settle();
  expect(pins.on(view.getMessages())).toEqual([one, three]);
  expect(ann.session("s").marks.pins.list()).toEqual([three, one]);
});
