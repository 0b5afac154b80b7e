/** Registers: who may set which, and how many of them a join and a page give (G1). */
import type { Json, Register } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { expectType, follow, hello, join, joinedAs, publish, register, say } from "../kit/raw.js";
import { begin, createForestWorld, look } from "./forest.js";

describe("[G1] whose they are", () => {
  test.each(["collapse:ann", "read:ann", "saved-view:ann"])("%s is set by ann and by admins", async (key) => {
    const world = await createForestWorld();
    const { client: root, ch } = await begin(world);
    const ann = await joinedAs(world, "ann");
    const bob = await joinedAs(world, "bob");
    expectType(await ann.client.ask(register(ann.ch, key, 1)), "ack");
    for (const value of [1, 2, null])
      expect(await bob.client.ask(register(bob.ch, key, value))).toMatchObject({
        error: { code: "forbidden" },
      });
    expectType(await root.ask(register(ch, key, 3)), "ack");
    expect((await look(world, "s")).registers).toMatchObject([{ key, value: 3, author: "root" }]);
  });

  test("the others are anybody's who may write", async () => {
    const world = await createForestWorld();
    await begin(world);
    const { client, ch } = await joinedAs(world, "bob");
    for (const key of [
      "title",
      "meta",
      "archived",
      "pin:e1",
      "label:e1",
      "branch:main",
      "read:",
      "mine:ann",
    ].filter((key) => key !== "read:"))
      expectType(
        await client.ask(register(ch, key, key === "title" ? "T" : key.startsWith("branch") ? "a" : true)),
        "ack",
      );
  });

  test("a branch names an entry, or nothing; whether it exists is not asked, nor of a pin", async () => {
    const world = await createForestWorld();
    const { client, ch } = await begin(world);
    for (const value of ["a", "nope", null])
      expectType(await client.ask(register(ch, "branch:main", value)), "ack");
    for (const value of [1, true, "", "not an id", ["a"], { id: "a" }] as Json[])
      expect(await client.ask(register(ch, "branch:main", value))).toMatchObject({
        error: { code: "invalid" },
      });
    expectType(await client.ask(register(ch, "pin:nope", { note: "later" })), "ack");
    expectType(await client.ask(publish(ch, follow(null, say("d")))), "ack");
  });
});

describe("[G1] [J1] many of them", () => {
  const pinned = async (count: number, value: Json = true) => {
    const begun = await begin(await createForestWorld());
    for (let index = 0; index < count; index += 1)
      begun.client.post(register(begun.ch, `pin:e${String(index).padStart(5, "0")}`, value));
    await begun.world.settle();
    return begun;
  };

  const allByPage = async (count: number, value: Json, limit: number) => {
    const { world } = await pinned(count, value);
    const ann = await joinedAs(world, "ann");
    const found: Register[] = [];
    let pages = 0;
    for (let more = true; more; pages += 1) {
      const after = found.at(-1)?.key;
      const asked = { type: "registers", ch: ann.ch, limit, ...(after === undefined ? {} : { after }) };
      const page = expectType(await ann.client.ask(asked), "registers");
      found.push(...page.registers);
      more = page.more;
    }
    return { joined: ann.joined, found, pages };
  };

  test("up to 1,000 a join has them all", async () => {
    const { joined, found } = await allByPage(1000, true, 1000);
    expect(joined.registers).toHaveLength(1000);
    expect(joined.hasMoreRegisters).toBeUndefined();
    expect(found).toHaveLength(1000);
  });

  test("of more it has the newest, in their order, and says so; the rest is paged by key", async () => {
    const { joined, found, pages } = await allByPage(1005, true, 400);
    expect(joined.hasMoreRegisters).toBe(true);
    expect(joined.registers.map(({ key }) => key)).toEqual(found.slice(5).map(({ key }) => key));
    expect(found.map(({ key }) => key)).toEqual([...found.map(({ key }) => key)].sort());
    expect([found.length, pages]).toEqual([1005, 3]);
  });

  test("large ones are given up to a bound of bytes", async () => {
    const { joined, found } = await allByPage(20, "x".repeat(30_000), 1000);
    expect(joined.hasMoreRegisters).toBe(true);
    expect(JSON.stringify(joined.registers).length).toBeLessThan(256 * 1024 + 2000);
    expect(joined.registers.at(-1)?.key).toBe("pin:e00019");
    expect(found).toHaveLength(20);
  });

  test("one that was set again is among the newest; one that was cleared is not given", async () => {
    const { world, client, ch } = await pinned(1002);
    await client.ask(register(ch, "pin:e00000", "again"));
    await client.ask(register(ch, "pin:e01001", null));
    const { registers } = await look(world, "s");
    expect(registers.at(-1)).toMatchObject({ key: "pin:e00000", value: "again" });
    expect(registers.some(({ key }) => key === "pin:e01001")).toBe(false);
    const late = await join(await hello(world, "late"), { session: "s" });
    expect(late.registers).toEqual(registers);
  });
});
