/** An entry whose content an admin took away (L2), as those see it who show it. */
import type { Client, EntryId, PrincipalId, Session } from "@espalier/client";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, open, say, textsOf, type World } from "../kit/world.js";

let world: World;
let admin: Client;
let a: Session;
let b: Session;
let ids: EntryId[];

beforeEach(async () => {
  world = await createWorld({
    authenticate: ({ token }) => ({
      id: (token ?? "nobody") as PrincipalId,
      ...(token === "admin" ? { admin: true } : {}),
    }),
  });
  admin = world.client("admin");
  a = (await open(world, admin)).session;
  b = (await open(world, world.client("bob"))).session;
  ids = (await say(world, b.view, "one", "secret", "three")) as EntryId[];
});

const settle = () => world.settle();
const drop = (owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
const erase = async (session: Session, id: EntryId) => {
  const done = session.erase(id);
  await settle();
  return done;
};
const secret = (): EntryId => ids[1] as EntryId;

describe("[L2] erased", () => {
  test("its place stays and its content is gone: one change of one entry", async () => {
    const heard: unknown[] = [];
    b.view.subscribe((change) => heard.push(change));
    const { snapshot } = b.view;
    expect(await erase(a, secret())).toBeNull();
    for (const { view } of [a, b]) {
      expect(textsOf(view)).toEqual(["one", "[erased]", "three"]);
      expect(view.get(secret())?.entry).toMatchObject({ type: "erased", role: "user", author: "bob" });
      expect(JSON.stringify(view.getMessages())).not.toContain("secret");
    }
    expect(heard).toEqual([{ type: "entry", id: secret() }]);
    expect(b.view.snapshot).toBe(snapshot);
  });

  test("again is harmless, and who is no admin is refused", async () => {
    expect(await erase(b, secret())).toMatchObject({ code: "forbidden" });
    expect(textsOf(b.view)).toEqual(["one", "secret", "three"]);
    await erase(a, secret());
    expect(await erase(a, secret())).toBeNull();
    expect(await erase(a, "nowhere" as EntryId)).toMatchObject({ code: "not_found" });
  });

  test("[V5] a prompt without content can be rewound past", async () => {
    await erase(a, secret());
    const found = b.view.prompts();
    await settle();
    expect((await found).map(({ text }) => text)).toEqual(["three", "", "one"]);
    const done = b.view.rewind(secret());
    await settle();
    expect(await done).toMatchObject({ text: "", parts: [] });
    expect(textsOf(b.view)).toEqual(["one"]);
  });

  test.each(["a tail", "a fresh window"])(
    "one that was away sees it by %s",
    async (by) => {
      world.network.isDown = true;
      drop("bob");
      await settle();
      world.network.isDown = false;
      await erase(a, secret());
      if (by === "a fresh window")
        for (let index = 0; index < 300; index += 1) a.view.send(`${index} ${"x".repeat(20_000)}`);
      await world.advance(60_000);
      const older = b.view.loadUntil(() => false);
      await settle();
      await older;
      expect(textsOf(b.view).slice(0, 3)).toEqual(["one", "[erased]", "three"]);
    },
    60_000,
  );

  test("[S7] a streaming message that is erased streams no more", async () => {
    const writer = b.stream({}, { after: b.view.snapshot.leafId });
    writer.append("so far");
    await settle();
    await erase(a, writer.id);
    writer.append(", and more");
    const ended = writer.end();
    await settle();
    expect(await ended).toMatchObject({ ok: false });
    expect(textsOf(a.view).at(-1)).toBe("[erased]");
    expect(a.view.get(writer.id)?.entry.status).toBe("aborted");
    expect(textsOf(b.view)).toEqual(textsOf(a.view));
  });
});
