/** Sidechains: where they may begin, what they come from, and how they are listed (F5, F7). */
import type { PrincipalId } from "@espalier/shared";
import { expect, test } from "vitest";
import {
  expectType,
  follow,
  hello,
  join,
  joinedAs,
  joinMessage,
  publish,
  type RawClient,
  register,
  say,
} from "../kit/raw.js";
import { begin, createForestWorld, deleteMessage, grow, headerOf, list, look } from "./forest.js";

const start = (session: string, entry = "b", callId = "c1") => ({ session, entry, callId });

const joinFrom = (session: string, origin: object | undefined) => ({
  ...joinMessage({ session }),
  ...(origin === undefined ? {} : { origin }),
});

test("[F5] its origin is the tool call that began it, from the first write on", async () => {
  const { world, client } = await begin(await createForestWorld());
  const joined = expectType(await client.ask(joinFrom("s/one", start("s"))), "joined");
  expect(joined).toMatchObject({ origin: start("s"), createdAt: null, changedAt: null, inherited: 0 });
  expect(await list(client, { of: "s" })).toEqual([]);
  world.clock.moveTo(world.clock.now + 5);
  await grow(client, joined.ch, null, "x");
  expect(await headerOf(world, "s/one")).toEqual({ createdAt: world.clock.now, origin: start("s") });
  expect(await look(world, "s/one")).toMatchObject({
    origin: start("s"),
    createdAt: world.clock.now,
    changedAt: world.clock.now,
  });
});

test("[F5] it may come from another sidechain of its root, and from nowhere else", async () => {
  const { world, client } = await begin(await createForestWorld());
  await begin(world, "root", ["x"], "other");
  await begin(world, "root", ["x"], "s/one");
  expectType(await client.ask(joinFrom("s/two", start("s/one", "x"))), "joined");
  for (const origin of [start("other"), start("other/one"), start("s/three")])
    expect(await client.ask(joinFrom("s/three", origin))).toMatchObject({ error: { code: "invalid" } });
  expect(await client.ask(joinFrom("fresh", start("s")))).toMatchObject({ error: { code: "invalid" } });
  // A session that is there is what it is.
  expectType(await client.ask(joinFrom("s", start("other"))), "joined");
});

test("[F5] the first origin counts, and one that comes after the first write does not", async () => {
  const { world, client } = await begin(await createForestWorld());
  const { ch } = expectType(await client.ask(joinFrom("s/one", start("s", "a"))), "joined");
  const second = expectType(await client.ask(joinFrom("s/one", start("s", "b"))), "joined");
  expect(second.origin).toEqual(start("s", "a"));
  await grow(client, ch, null, "x");
  await client.ask(joinFrom("s/one", start("s", "c")));
  expect((await headerOf(world, "s/one")).origin).toEqual(start("s", "a"));
});

test("[F5] there is none without its root session", async () => {
  const world = await createForestWorld();
  const { client, ch } = await joinedAs(world, "root");
  expect(await client.ask(joinFrom("s/one", start("s")))).toMatchObject({ error: { code: "not_found" } });
  await grow(client, ch, null, "a");
  expectType(await client.ask(joinFrom("s/one", start("s"))), "joined");
});

test("[F5] one asks for rights to it as to any session; its root's id is masked where that is not to be read", async () => {
  const world = await createForestWorld({
    authenticate: ({ token }) => ({
      id: (token ?? "") as PrincipalId,
      may: (_right, session) => token === "root" || session === "s/one",
    }),
  });
  const { client } = await begin(world, "root");
  const { ch } = expectType(await client.ask(joinFrom("s/one", start("s"))), "joined");
  await grow(client, ch, null, "x");
  const ann = await hello(world, "ann");
  expect(await ann.ask(joinFrom("s/two", start("s")))).toMatchObject({ error: { code: "forbidden" } });
  const joined = await join(ann, { session: "s/one" });
  expect(joined.origin).toEqual({ ...start("s"), session: null });
  expect(await list(ann, { of: "s" })).toMatchObject([{ id: "s/one", origin: { session: null } }]);
});

const summariesOf = (client: RawClient, session: string) =>
  client.all("sessions").flatMap(({ sessions }) => sessions.filter(({ id }) => id === session));

test("[F4] sidechains are listed under their root alone, which says how many there are", async () => {
  const { world, client } = await begin(await createForestWorld());
  const ann = await hello(world, "ann");
  await list(ann, { watch: true });
  for (const name of ["s/one", "s/two"]) {
    world.clock.moveTo(world.clock.now + 1);
    const { ch } = expectType(await client.ask(joinFrom(name, start("s"))), "joined");
    await grow(client, ch, null, "x");
  }
  expect(await list(client)).toMatchObject([{ id: "s", sidechains: 2 }]);
  expect(summariesOf(ann, "s").at(-1)).toMatchObject({ sidechains: 2 });
  expect((await list(client, { of: "s" })).map(({ id }) => id)).toEqual(["s/two", "s/one"]);
  expect((await list(client, { of: "s", limit: 1, after: "s/two" })).map(({ id }) => id)).toEqual(["s/one"]);
  expect(summariesOf(ann, "s/two")).toHaveLength(1);
  await client.ask(deleteMessage("s/one"));
  expect(summariesOf(ann, "s").at(-1)).toMatchObject({ sidechains: 1 });
});

test("[F8] an archived session is hidden from lists that do not ask for it, and watchers hear of it", async () => {
  const { world, client, ch } = await begin(await createForestWorld());
  const ann = await hello(world, "ann");
  await list(ann, { watch: true });
  await client.ask(register(ch, "archived", true));
  expect(await list(client)).toEqual([]);
  expect(await list(client, { archived: true })).toMatchObject([{ id: "s", isArchived: true }]);
  expect(ann.all("sessions").at(-1)?.sessions).toMatchObject([{ id: "s", isArchived: true }]);
  await client.ask(register(ch, "archived", null));
  expect(await list(client)).toHaveLength(1);
  await client.ask(publish(ch, follow(null, say("more"))));
});
