/**
 * A server, clients and a network in one process, on a manual clock: no sleeps, and the same again for
 * the same seed.
 */
import {
  type Client,
  connect,
  type Model,
  type QueueStorage,
  type Session,
  type View,
} from "@espalier/client";
import {
  type Authenticate,
  createEngine,
  createMemoryStore,
  type Engine,
  type LogStore,
} from "@espalier/server";
import {
  createTree,
  type Entry,
  type Epoch,
  type LogRecord,
  type PrincipalId,
  type Runtime,
  type SessionId,
  type Tree,
} from "@espalier/shared";
import { createClock, type ManualClock } from "./clock.js";
import { createNetwork, type Network } from "./network.js";

export type World = {
  readonly clock: ManualClock;
  readonly network: Network;
  readonly store: LogStore;
  /** A client of its own; `name` is its principal too, unless a token is given. */
  client(name: string, options?: { token?: () => string; storage?: QueueStorage; model?: Model }): Client;
  /** Lets everything that is under way arrive, without moving the clock. */
  settle(): Promise<void>;
  /** Moves the clock, running what is due on the way. */
  advance(ms: number): Promise<void>;
  stopServer(): void;
  startServer(): Promise<void>;
  /** The fold of a session's log, from the store. */
  fold(session: string): Promise<Tree>;
  records(session: string): Promise<readonly LogRecord[]>;
};

export type WorldOptions = {
  readonly seed?: number;
  readonly store?: LogStore;
  readonly authenticate?: Authenticate;
  readonly graceMs?: number;
  readonly onTrouble?: (error: Error) => void;
  /** A count that rises while the store is at work on its own: what is settled waits for that too. */
  readonly work?: () => number;
};

/** Whole turns of the real event loop: promises of any depth are done after each. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const openAuthenticate: Authenticate = ({ token }) => ({ id: (token ?? "nobody") as PrincipalId });

export const createWorld = async (options: WorldOptions = {}): Promise<World> => {
  const {
    seed = 1,
    authenticate = openAuthenticate,
    graceMs = 30_000,
    onTrouble = () => {},
    work = () => 0,
  } = options;
  const clock = createClock();
  const serverRuntime = clock.runtime(seed * 1000);
  const store = options.store ?? createMemoryStore({ newEpoch: () => serverRuntime.newId() as Epoch });
  let engine: Engine | null = null;
  let clients = 0;

  const network = createNetwork(
    () =>
      engine === null
        ? null
        : (socket) => (engine as Engine).accept(socket, { headers: {}, remoteAddress: "127.0.0.1" }),
    (callback) => serverRuntime.defer(callback),
  );

  let killServer = (): void => {};

  const startServer = async (): Promise<void> => {
    const { runtime, kill } = mortal(serverRuntime);
    killServer = kill;
    engine = await createEngine({ store, runtime, authenticate, graceMs, onTrouble });
  };

  const deliver = (): boolean => {
    let any = false;
    for (const pair of [...network.pairs]) {
      while (pair.toServer > 0) {
        pair.deliverToServer();
        any = true;
      }
      while (pair.toClient > 0) {
        pair.deliverToClient();
        any = true;
      }
    }
    return any;
  };

  const settle = async (): Promise<void> => {
    for (let quietTurns = 0; quietTurns < 3; ) {
      const before = work();
      const delivered = deliver();
      const ran = clock.runDeferred();
      await turn();
      quietTurns = delivered || ran || work() !== before ? 0 : quietTurns + 1;
    }
  };

  const world: World = {
    clock,
    network,
    store,
    client: (name, { token = () => name, storage, model } = {}) => {
      clients += 1;
      return connect({
        url: "ws://world",
        token,
        WebSocket: network.socketFor(name),
        runtime: clock.runtime(seed * 1000 + clients),
        ...(storage === undefined ? {} : { storage }),
        ...(model === undefined ? {} : { model }),
      });
    },
    settle,
    advance: async (ms) => {
      const until = clock.now + ms;
      await settle();
      while (clock.runTimer(until)) await settle();
      clock.moveTo(until);
      await settle();
    },
    stopServer: () => {
      engine = null;
      killServer();
      for (const pair of [...network.pairs]) pair.break();
    },
    startServer,
    fold: async (session) => {
      const tree = createTree();
      for (const record of await world.records(session)) tree.apply(record);
      return tree;
    },
    records: async (session) => {
      const outcome = await store.load(session as SessionId);
      return outcome.type === "ok" ? outcome.log.records : [];
    },
  };
  await startServer();
  return world;
};

/** A runtime whose owner can be killed: what was to happen later does not happen any more. */
export const mortal = (runtime: Runtime): { runtime: Runtime; kill: () => void } => {
  let isAlive = true;
  const whileAlive = (callback: () => void) => (): void => {
    if (isAlive) callback();
  };
  return {
    runtime: {
      ...runtime,
      setTimer: (delayMs, callback) => runtime.setTimer(delayMs, whileAlive(callback)),
      defer: (callback) => runtime.defer(whileAlive(callback)),
    },
    kill: () => {
      isAlive = false;
    },
  };
};

/** What a person reads of a view: the text of each shown entry, pending ones marked. */
export const textsOf = (view: View): string[] =>
  view.getMessages().map(({ entry, state }) => textOf(entry) + (state === "confirmed" ? "" : ` (${state})`));

export const textOf = (entry: Entry): string =>
  entry.type === "message"
    ? entry.parts.map((part) => ("text" in part ? part.text : `[${part.type}]`)).join("")
    : `[${entry.type}]`;

/** Opens a session with its default view, and lets it join. */
export const open = async (
  world: World,
  client: Client,
  id = "s",
): Promise<{ session: Session; view: View }> => {
  const session = client.session(id, { create: true });
  const { view } = session;
  await world.settle();
  return { session, view };
};

/** Sends texts one after the other, each confirmed before the next. */
export const say = async (world: World, view: View, ...texts: string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const text of texts) {
    ids.push(view.send(text).id);
    await world.settle();
  }
  return ids;
};
