/** Connections whose token or socket misbehaves. */
import { connect } from "@espalier/client";
import { expect, test } from "vitest";
import { createWorld } from "../kit/world.js";

test("[J4] a token that never comes, or is not to be had, is asked for again; a late one changes nothing", async () => {
  const world = await createWorld();
  const late: ((token: string) => void)[] = [];
  let asked = 0;
  const client = connect({
    url: "ws://world",
    token: () => {
      asked += 1;
      if (asked === 1) return new Promise<string>((resolve) => late.push(resolve));
      if (asked === 2) throw new Error("no token now");
      return "ann";
    },
    WebSocket: world.network.socketFor("ann"),
    runtime: world.clock.runtime(5),
  });
  await world.advance(9_000);
  expect(client.snapshot.status).toBe("connecting");
  await world.advance(30_000);
  expect(client.snapshot).toMatchObject({ status: "connected", principal: "ann" });
  late[0]?.("bob");
  await world.settle();
  expect(client.snapshot).toMatchObject({ status: "connected", principal: "ann" });
  expect(world.network.pairs).toHaveLength(1);
});

test("[J4] a WebSocket that cannot be made is tried again, with a bounded number of timers", async () => {
  const world = await createWorld();
  const before = world.clock.timers;
  let tries = 0;
  const Broken = class {
    constructor() {
      tries += 1;
      throw new Error("blocked");
    }
  };
  const client = connect({ url: "ws://world", WebSocket: Broken, runtime: world.clock.runtime(5) });
  await world.advance(120_000);
  expect(tries).toBeGreaterThan(3);
  expect(client.snapshot).toMatchObject({ status: "offline", error: { code: "offline" } });
  expect(world.clock.timers - before).toBe(1);
  client.close();
  expect(world.clock.timers).toBe(before);
});

test("the list is told again after a reconnect, to those who still watch", async () => {
  const world = await createWorld();
  const ann = world.client("ann");
  const bob = world.client("bob");
  await world.settle();
  const heard: string[] = [];
  const undo = bob.watch((sessions) => heard.push(...sessions.map(({ id }) => id)));
  await world.settle();
  ann.session("one", { create: true }).view.send("x");
  await world.settle();
  expect(heard).toContain("one");
  for (const pair of [...world.network.pairs]) if (pair.owner === "bob") pair.break();
  heard.length = 0;
  await world.advance(31_000);
  expect(heard).toEqual(["one"]);
  undo();
  ann.session("two", { create: true }).view.send("x");
  await world.settle();
  expect(heard).toEqual(["one"]);
});
