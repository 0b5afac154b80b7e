/**
 * Any order of events ends well: several clients write, edit, stream, move about, lose their connections
 * and acknowledgements, and the server restarts. When the network is whole again, every client shows what
 * the log folds to: each entry and each token once, in one order (T1, J3, L4).
 */
import type { Client, EntryId, Session, StreamWriter, View } from "@espalier/client";
import { type Entry, isRunEnded, newestChild, type Tree, tipOf } from "@espalier/shared";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createWorld, textOf, type World } from "../kit/world.js";

const CLIENTS = ["ann", "bob", "cid"];

type Op =
  | { type: "send"; client: number; run: boolean }
  | { type: "edit" | "select" | "branch" | "step" | "regenerate"; client: number; at: number }
  | { type: "begin" | "append" | "end" | "follow" | "older" | "view" | "title"; client: number }
  | { type: "claim"; client: number }
  | { type: "break"; client: number }
  | { type: "deliver"; client: number; toServer: boolean; count: number }
  | { type: "settle" | "restart" | "down" | "up" }
  | { type: "advance"; ms: number };

const client = fc.nat({ max: CLIENTS.length - 1 });
const at = fc.nat({ max: 20 });
const opArbitrary: fc.Arbitrary<Op> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("send" as const), client, run: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "edit" as const,
        "select" as const,
        "branch" as const,
        "step" as const,
        "regenerate" as const,
      ),
      client,
      at,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "begin" as const,
        "append" as const,
        "append" as const,
        "append" as const,
        "end" as const,
        "follow" as const,
        "older" as const,
        "view" as const,
        "title" as const,
      ),
      client,
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("claim" as const), client }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("break" as const), client }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("deliver" as const),
      client,
      toServer: fc.boolean(),
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "settle" as const,
        "settle" as const,
        "restart" as const,
        "down" as const,
        "up" as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 12_000 }) }),
  },
);

type Actor = {
  readonly client: Client;
  readonly session: Session;
  readonly views: View[];
  streams: { writer: StreamWriter; text: string }[];
};

class Run {
  readonly actors: Actor[];
  /** What was written, by entry id: each must be in the log once, unless it was refused. */
  readonly written = new Map<string, string>();
  readonly settled = new Map<string, boolean>();
  readonly streamed = new Map<string, { writer: StreamWriter; text: string }>();
  #count = 0;

  constructor(readonly world: World) {
    this.actors = CLIENTS.map((name) => {
      const connected = world.client(name);
      const session = connected.session("s", { create: true });
      return { client: connected, session, views: [session.view], streams: [] };
    });
  }

  text(): string {
    this.#count += 1;
    return `t${this.#count}`;
  }

  note(text: string, sent: { id: string; settled: Promise<{ ok: boolean }> }): void {
    this.written.set(sent.id, text);
    void sent.settled.then(({ ok }) => this.settled.set(sent.id, ok));
  }

  async apply(op: Op): Promise<void> {
    const { world } = this;
    const actor = "client" in op ? (this.actors[op.client] as Actor) : (this.actors[0] as Actor);
    const view = actor.views[this.#count % actor.views.length] as View;
    const pick = (index: number): EntryId | undefined =>
      view.at(index % Math.max(1, view.snapshot.length))?.id;
    switch (op.type) {
      case "send": {
        const text = this.text();
        this.note(text, view.send(text, { run: op.run }));
        break;
      }
      case "edit": {
        const id = pick(op.at);
        const text = this.text();
        if (id !== undefined) this.note(text, view.edit(id, text));
        break;
      }
      case "select": {
        const id = pick(op.at);
        if (id !== undefined) view.select(id);
        break;
      }
      case "branch":
        view.branch(op.at % 7 === 0 ? null : (pick(op.at) ?? null));
        break;
      case "step": {
        const id = pick(op.at);
        if (id !== undefined) view.step(id, op.at % 2 === 0 ? 1 : -1);
        break;
      }
      case "regenerate": {
        const id = pick(op.at);
        if (id !== undefined) view.regenerate(id);
        break;
      }
      case "begin": {
        const leaf = view.snapshot.leafId;
        const writer = actor.session.stream({}, { after: leaf });
        const stream = { writer, text: "" };
        actor.streams.push(stream);
        this.streamed.set(writer.id, stream);
        break;
      }
      case "append": {
        const stream = actor.streams.at(-1);
        if (stream === undefined) break;
        const token = `${this.text()} `;
        stream.writer.append(token);
        if (stream.writer.error === null) stream.text += token;
        break;
      }
      case "end": {
        const stream = actor.streams.pop();
        if (stream !== undefined) void stream.writer.end();
        break;
      }
      case "claim": {
        const requested = actor.session.runs().find(({ status }) => status === "requested");
        if (requested === undefined) break;
        const text = this.text();
        void actor.session.claim(requested.id).then(async (held) => {
          if ("code" in held) return;
          const writer = held.stream();
          writer.append(text);
          this.streamed.set(writer.id, { writer, text });
          await writer.end();
          await held.end();
        });
        break;
      }
      case "follow":
        view.follow();
        break;
      case "older":
        void view.loadOlder(3);
        break;
      case "view":
        if (actor.views.length < 3) actor.views.push(actor.session.createView({ limit: 2 }));
        break;
      case "title":
        void actor.session.setRegister("title", this.text());
        break;
      case "break":
        for (const pair of [...world.network.pairs]) if (pair.owner === CLIENTS[op.client]) pair.break();
        break;
      case "deliver": {
        const pair = world.network.pairs.find(({ owner }) => owner === CLIENTS[op.client]);
        world.clock.runDeferred();
        for (let index = 0; index < op.count; index += 1)
          if (op.toServer) pair?.deliverToServer();
          else pair?.deliverToClient();
        await new Promise((resolve) => setImmediate(resolve));
        break;
      }
      case "settle":
        await world.settle();
        break;
      case "restart":
        world.stopServer();
        await world.startServer();
        break;
      case "down":
        world.network.isDown = true;
        break;
      case "up":
        world.network.isDown = false;
        break;
      case "advance":
        await world.advance(op.ms);
        break;
    }
  }

  /** The network is whole, everybody finishes, and a good while passes. */
  async heal(): Promise<void> {
    this.world.network.isDown = false;
    for (let round = 0; round < 3; round += 1) {
      for (const { streams } of this.actors) for (const { writer } of streams) void writer.end();
      await this.world.advance(70_000);
    }
  }
}

const checkShown = (tree: Tree, view: View): void => {
  const shown = view.getMessages();
  for (const [index, { id, entry, state, error }] of shown.entries()) {
    if (state !== "confirmed") {
      // Only what was refused may still hang at the end.
      expect([state, error?.code ?? null]).not.toEqual(["pending", null]);
      continue;
    }
    const node = tree.get(id);
    expect(entry).toEqual(node?.entry);
    if (index > 0) expect(entry.parentId).toBe(shown[index - 1]?.id);
    const siblings = tree.children(entry.parentId);
    const { index: position, total } = view.branchInfo(id);
    expect({ id, position, total }).toEqual({
      id,
      position: siblings.findIndex((sibling) => sibling.entry.id === id),
      total: siblings.length,
    });
  }
};

const checkEverything = async (run: Run): Promise<void> => {
  const { world, actors } = run;
  const records = await world.records("s");
  const tree = await world.fold("s");
  // One order: seqs rise, and no id is twice an entry.
  records.forEach((record, index) => {
    if (index > 0) expect(record.seq).toBeGreaterThan((records[index - 1] as { seq: number }).seq);
  });
  const ids = records.filter(({ kind }) => kind === "entry").map((record) => (record as Entry).id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { entry } of tree.nodes()) expect(entry.status).not.toBe("streaming");
  for (const [id, text] of run.written) {
    const isThere = tree.get(id as EntryId);
    expect(run.settled.get(id)).toBe(isThere !== undefined);
    if (isThere !== undefined) expect(textOf(isThere.entry)).toBe(text);
  }
  for (const [id, { writer, text }] of run.streamed) {
    const node = tree.get(id as EntryId);
    if (writer.error === null) expect(node === undefined ? null : textOf(node.entry)).toBe(text);
    // An aborted one keeps a prefix: nothing is doubled or out of order.
    else if (node !== undefined)
      expect(text.startsWith(textOf(node.entry)) || textOf(node.entry).startsWith(text)).toBe(true);
  }
  for (const { session, views } of actors) {
    for (const run of session.runs()) expect(isRunEnded(run.status)).toBe(false);
    expect(session.snapshot.writes.filter(({ state }) => state === "pending")).toEqual([]);
    for (const view of views) checkShown(tree, view);
    // Every line of the tree can be read through a view, whole.
    const reader = session.createView();
    for (const root of tree.roots) {
      for (const leaf of leavesOf(root)) {
        reader.branch(leaf.entry.id);
        const loaded = reader.loadUntil(() => false);
        await world.settle();
        await loaded;
        checkShown(tree, reader);
        expect(reader.getMessages().at(-1)?.id).toBe(leaf.entry.id);
        expect(reader.snapshot.hasOlder).toBe(false);
      }
    }
    reader.close();
  }
  const titles = actors.map(({ session }) => session.snapshot.title);
  expect(new Set(titles).size).toBe(1);
};

const leavesOf = (root: Parameters<typeof tipOf>[0]): (typeof root)[] => {
  const leaves: (typeof root)[] = [];
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.children.length === 0) leaves.push(tipOf(node, newestChild));
    pending.push(...node.children);
  }
  return leaves;
};

const NUM_RUNS = Number(process.env.CONVERGENCE_RUNS ?? 150);

test("[T1] [J3] [L4] every replica equals the fold of the log, whatever happened", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 1_000_000 }),
      fc.array(opArbitrary, { minLength: 5, maxLength: 80 }),
      async (seed, ops) => {
        const run = new Run(await createWorld({ seed }));
        await run.world.settle();
        for (const op of ops) await run.apply(op);
        await run.heal();
        await checkEverything(run);
        for (const { client: connected } of run.actors) connected.close();
      },
    ),
    {
      numRuns: NUM_RUNS,
      ...(process.env.CONVERGENCE_SEED === undefined ? {} : { seed: Number(process.env.CONVERGENCE_SEED) }),
    },
  );
}, 600_000);
