import { expect, test } from "vitest";
import { createWorld, open, say, textsOf } from "../kit/world.js";

test("smoke", async () => {
  const world = await createWorld();
  const a = await open(world, world.client("ann"));
  const b = await open(world, world.client("bob"));
  await say(world, a.view, "one", "two");
  expect(textsOf(a.view)).toEqual(["one", "two"]);
  expect(textsOf(b.view)).toEqual(["one", "two"]);
});
