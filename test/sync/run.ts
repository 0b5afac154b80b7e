/** Carries out what happens, and remembers what must be in the log for it. */
import {
  type Client,
  connect,
  type EntryId,
  type Forked,
  type QueueStorage,
  type Session,
  type StreamWriter,
  type View,
  type ViewOptions,
  type ViewState,
} from "@espalier/client";
import type { EpochStore } from "../client/epoch-store.js";
import { createStorage } from "../kit/storage.js";
import { mortal, type World } from "../kit/world.js";
import { CLIENTS, type Op } from "./ops.js";

/** How the views of a client begin; the first is the default one's. */
const VIEWS: readonly ViewOptions[] = [{ limit: 3 }, { limit: 1 }, { limit: 2, follow: "newest" }];
/** More than a window brings around one entry (V9). */
const MANY = 40;

type Stream = { readonly writer: StreamWriter; text: string; isLost: boolean };

type Actor = {
  readonly name: string;
  readonly storage: QueueStorage;
  readonly client: Client;
  readonly session: Session;
  readonly views: View[];
  readonly streams: Stream[];
  /** Nothing of it runs on. */
  die(): void;
};

export class Run {
  readonly actors: Actor[];
  /** What was written, by entry id: each must be in the log once, unless it was refused. */
  readonly written = new Map<string, string>();
  readonly settled = new Map<string, boolean>();
  readonly streamed = new Map<string, Stream>();
  /** Whether they are in the log is not told by how they were settled first. */
  readonly unsure = new Set<string>();
  readonly forks: { readonly forked: Forked; readonly isCopy: boolean }[] = [];
  #count = 0;
  #clients = 0;

  constructor(
    readonly world: World,
    readonly store: EpochStore,
  ) {
    this.actors = CLIENTS.map((name) => this.begin(name, createStorage(), []));
  }

  begin(name: string, storage: QueueStorage, states: readonly ViewState[]): Actor {
    this.#clients += 1;
    const { runtime, kill: die } = mortal(this.world.clock.runtime(7_000_000 + this.#clients));
    const connected = connect({
      url: "ws://world",
      token: name,
      WebSocket: this.world.network.socketFor(name),
      runtime,
      storage,
    });
    const options = (index: number): ViewOptions => {
      const state = states[index];
      return { ...VIEWS[index], ...(state === undefined ? {} : { state }) };
    };
    const session = connected.session("s", { create: true, view: options(0) });
    const views = [
      session.view,
      ...states.slice(1).map((_, index) => session.createView(options(index + 1))),
    ];
    return { name, storage, client: connected, session, views, streams: [], die };
  }

  /** The page is gone without a word, and a new one takes what it had stored. */
  reload(index: number): void {
    const old = this.actors[index] as Actor;
    old.die();
    for (const pair of [...this.world.network.pairs]) if (pair.owner === old.name) pair.break();
    for (const { id } of old.session.snapshot.writes) this.unsure.add(id);
    for (const stream of old.streams) stream.isLost = true;
    for (const stream of this.streamed.values()) if (stream.writer.error !== null) stream.isLost = true;
    const states = old.views.map((view) => JSON.parse(JSON.stringify(view.state())) as ViewState);
    this.actors[index] = this.begin(old.name, old.storage, states);
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
        const stream = { writer, text: "", isLost: false };
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
        const stream = actor.streams.at(-1);
        if (stream !== undefined) void stream.writer.end();
        break;
      }
      case "bad":
        void view.send({ type: "branch-summary", fromId: "nowhere" as EntryId, summary: "lost" });
        break;
      case "many": {
        const id = view.at(0)?.id;
        for (let index = 0; id !== undefined && index < MANY; index += 1) {
          const text = this.text();
          this.note(text, view.edit(id, text));
        }
        break;
      }
      case "reload":
        this.reload(op.client);
        break;
      case "retry":
      case "discard": {
        const { writes } = actor.session.snapshot;
        const id = writes[op.at % Math.max(1, writes.length)]?.id;
        if (id === undefined) break;
        this.unsure.add(id);
        if (op.type === "retry") view.retry(id);
        else view.discard(id);
        break;
      }
      case "epoch":
        world.stopServer();
        this.store.begin();
        await world.startServer();
        break;
      case "claim": {
        const requested = actor.session.runs().find(({ status }) => status === "requested");
        if (requested === undefined) break;
        const text = this.text();
        void actor.session.claim(requested.id).then(async (held) => {
          if ("code" in held) return;
          const writer = held.stream();
          writer.append(text);
          const stream = { writer, text, isLost: false };
          actor.streams.push(stream);
          this.streamed.set(writer.id, stream);
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
        if (actor.views.length < VIEWS.length)
          actor.views.push(actor.session.createView(VIEWS[actor.views.length]));
        break;
      case "title":
        void actor.session.setRegister("title", this.text());
        break;
      case "pin": {
        const id = pick(op.at);
        if (id !== undefined) void actor.session.marks.pins.toggle(id);
        break;
      }
      case "label": {
        const id = pick(op.at);
        if (id !== undefined) void actor.session.marks.labels.set(id, op.at % 3 === 0 ? null : this.text());
        break;
      }
      case "collapse": {
        const id = pick(op.at);
        if (id === undefined || op.at % 5 === 0)
          void actor.session.marks.collapsed.setAll("entry", op.at % 2 === 0);
        else void actor.session.marks.collapsed.toggle(id);
        break;
      }
      case "rewind": {
        const id = pick(op.at);
        if (id !== undefined) void view.rewind(id);
        void view.prompts({ limit: op.at });
        break;
      }
      case "erase": {
        const id = pick(op.at);
        if (id !== undefined) void actor.session.erase(id);
        break;
      }
      case "reset":
        void actor.session.reset();
        break;
      case "fork":
        void view.fork({ mode: op.copy ? "copy" : "share" }).then((forked) => {
          if (!("code" in forked)) this.forks.push({ forked, isCopy: op.copy });
        });
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
