/** Short ways to fork, erase, delete and list, as principals that may: `root` is an admin, the others are not. */
import { type Authenticate, createMemoryStore, type LogHeader, type LogStore } from "@espalier/server";
import type { Entry, EntryId, Epoch, PrincipalId, SessionId, SessionSummary } from "@espalier/shared";
import {
  type Answer,
  expectType,
  hello,
  type JoinOptions,
  join,
  joinedAs,
  publish,
  type RawClient,
  say,
  treeOf,
} from "../kit/raw.js";
import { createWorld, textOf, type World, type WorldOptions } from "../kit/world.js";

import { createTimers, open as openOnDisk } from "./store/crash-kit.js";
import { createRandom, createSimDisk } from "./store/sim-disk.js";

export const authenticate: Authenticate = ({ token }) => ({
  id: (token ?? "nobody") as PrincipalId,
  admin: token === "root",
});

/** On a disk in memory with `ESPALIER_STORE=file`, so that every test here can be had on both. */
export const createForestWorld = async (options: WorldOptions = {}): Promise<World> =>
  createWorld({
    authenticate,
    ...(await openStore(process.env.ESPALIER_STORE === "file" ? "file" : "memory")),
    ...options,
  });

export type StoreKind = "memory" | "file";

/** `reopen` closes the store and opens what it left. */
export const openStore = async (
  kind: StoreKind,
): Promise<{ store: LogStore; work: () => number; reopen: () => Promise<void> }> => {
  if (kind === "memory") {
    const store = createMemoryStore({ newEpoch: () => "epoch1" as Epoch });
    return { store, work: () => 0, reopen: async () => {} };
  }
  const disk = createSimDisk(createRandom(1));
  const timers = createTimers();
  const boots = { boot: 1, epochs: 0 };
  let open = await openOnDisk(disk, boots, createRandom(2), timers);
  const store = new Proxy({} as LogStore, { get: (_target, name) => open[name as keyof LogStore] });
  return {
    store,
    work: () => disk.operations,
    reopen: async () => {
      await open.close();
      open = await openOnDisk(disk, boots, createRandom(2), timers);
    },
  };
};

export const forkMessage = (
  session: string,
  from: { session?: string; entry: string | null },
  mode: "copy" | "share" = "share",
) => ({ type: "fork", session, from: { session: from.session ?? "s", entry: from.entry }, mode });

export const fork = async (
  client: RawClient,
  session: string,
  from: { session?: string; entry: string | null },
  mode: "copy" | "share" = "share",
): Promise<string | null> => expectType(await client.ask(forkMessage(session, from, mode)), "forked").entry;

export const deleteMessage = (session: string) => ({ type: "delete", session });
export const eraseMessage = (ch: number, id: string) => ({ type: "erase", ch, id });

export const list = async (client: RawClient, more: object = {}): Promise<readonly SessionSummary[]> =>
  expectType(await client.ask({ type: "list", limit: 1000, ...more }), "listed").sessions;

/** Publishes texts, each below the one before; ids are the texts. */
export const grow = async (
  client: RawClient,
  ch: number,
  under: string | null,
  ...ids: string[]
): Promise<void> => {
  let parent = under;
  for (const id of ids) {
    expectType(
      await client.ask(publish(ch, { draft: say(id), place: { under: parent as EntryId | null } })),
      "ack",
    );
    parent = id;
  }
};

/** A session with a line of its own. */
export const begin = async (
  world: World,
  name = "root",
  ids: readonly string[] = ["a", "b", "c"],
  session = "s",
) => {
  const joined = await joinedAs(world, name, { session });
  await grow(joined.client, joined.ch, null, ...ids);
  return { world, ...joined };
};

/** A fresh join of a session by somebody who was never there. */
export const look = async (
  world: World,
  session: string,
  options: JoinOptions & { name?: string } = {},
): Promise<Answer<"joined">> => {
  const client = await hello(world, options.name ?? "looker");
  const joined = await join(client, { create: false, ...options, session });
  client.close();
  await world.settle();
  return joined;
};

/** What the session's line reads, for somebody who was never there. */
export const lineOf = async (world: World, session: string): Promise<string[]> => {
  const joined = await look(world, session, { lines: [{ limit: 1000 }] });
  return textsOf(joined.entries);
};

export const textsOf = (entries: readonly Entry[]): string[] => entries.map(textOf);

/** What somebody who is joined holds by now. */
export const heldBy = (joined: Answer<"joined">, client: RawClient) =>
  treeOf(joined, client.frames(joined.ch));

export const headerOf = async (world: World, session: string): Promise<LogHeader> => {
  const outcome = await world.store.load(session as SessionId);
  if (outcome.type !== "ok") throw new Error(`${session}: ${JSON.stringify(outcome)}`);
  return outcome.log.header;
};
