/**
 * Random orders of everything that is done to sessions as wholes (forks, erasures, deletions) among writes,
 * some of them at once, with restarts between, against a model. A failure prints its seed and path.
 */
import type { Entry, EntryId, SessionId } from "@espalier/shared";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answer, at, hello, join, publish, type RawClient, say } from "../kit/raw.js";
import { createWorld, textOf, type World } from "../kit/world.js";
import {
  authenticate,
  deleteMessage,
  eraseMessage,
  forkMessage,
  heldBy,
  list,
  openStore,
  type StoreKind,
} from "./forest.js";

const STEPS = Number(process.env.ESPALIER_FOREST_RUNS ?? 60);

type Op =
  | { op: "publish"; session: number; under: number }
  | { op: "fork"; session: number; entry: number; isShared: boolean }
  | { op: "erase"; session: number; entry: number }
  | { op: "delete"; session: number }
  | { op: "settle" }
  | { op: "restart" };

const pick = fc.nat({ max: 1000 });
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ op: fc.constant("publish" as const), session: pick, under: pick }) },
  { weight: 6, arbitrary: fc.record({ op: fc.constant("fork" as const), session: pick, entry: pick, isShared: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("erase" as const), session: pick, entry: pick }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("delete" as const), session: pick }) },
  { weight: 8, arbitrary: fc.constant({ op: "settle" as const }) },
  { weight: 1, arbitrary: fc.constant({ op: "restart" as const }) },
); // biome-ignore format: one line each

/** One entry, wherever it is shared. */
type Kept = {
  readonly id: string;
  readonly parentId: string | null;
  readonly text: string;
  state: "kept" | "erased";
};
type Modelled = {
  readonly id: string;
  readonly kept: Map<string, Kept>;
  readonly isCopy: boolean;
  sharesWith: string | null;
};
type Asked = { readonly client: RawClient; readonly n: number; done(answer: Answer<"ack" | "forked">): void };

const play = async (kind: StoreKind, ops: readonly Op[]): Promise<void> => {
  const { store, work, reopen } = await openStore(kind);
  const world = await createWorld({ authenticate, store, work });
  const sessions = new Map<string, Modelled>();
  const deleted = new Set<string>();
  /** Those that the admin has joined. */
  const chs = new Map<string, number>();
  const readers = new Map<string, { client: RawClient; joined: Answer<"joined"> }>();
  let asked: Asked[] = [];
  let admin = await hello(world, "root");
  let count = 0;

  const next = (prefix: string): string => `${prefix}${count++}`;
  const at_ = <T>(items: readonly T[], index: number): T | undefined =>
    items[index % Math.max(1, items.length)];

  const begin = async (): Promise<void> => {
    const id = next("s");
    const { ch } = await join(admin, { session: id });
    const entry = next("e");
    await admin.ask(publish(ch, at({ under: null }, say(entry))));
    sessions.set(id, {
      id,
      isCopy: false,
      sharesWith: null,
      kept: new Map([[entry, { id: entry, parentId: null, text: entry, state: "kept" }]]),
    });
  };

  const readAll = async (): Promise<void> => {
    for (const { id } of sessions.values())
      if (!readers.has(id) && !deleted.has(id)) {
        chs.set(id, (await join(admin, { session: id, create: false, lines: [] })).ch);
        const client = await hello(world, "reader");
        readers.set(id, {
          client,
          joined: await join(client, {
            session: id,
            create: false,
            lines: linesOf(sessions.get(id) as Modelled),
          }),
        });
      }
  };

  const post = (message: object, done: Asked["done"]): void =>
    void asked.push({ client: admin, n: admin.post(message), done });

  const perform = async (each: Op): Promise<void> => {
    if (each.op === "settle") return settle();
    if (each.op === "restart") {
      await settle();
      world.stopServer();
      await reopen();
      await world.startServer();
      readers.clear();
      chs.clear();
      admin = await hello(world, "root");
      return readAll();
    }
    const session = at_(
      [...sessions.values()].filter(({ id }) => !deleted.has(id)),
      each.session,
    );
    if (session === undefined) return begin();
    if (each.op === "delete") return post(deleteMessage(session.id), () => remove(session.id));
    const entries = [...session.kept.values()];
    if (each.op === "fork") {
      const entry = at_(entries, each.entry) as Kept;
      const id = next("s");
      const before = pathOf(session, entry.id).map(({ state }) => state);
      return post(
        forkMessage(id, { session: session.id, entry: entry.id }, each.isShared ? "share" : "copy"),
        () => {
          const path = pathOf(session, entry.id);
          if (each.isShared)
            sessions.set(id, {
              id,
              isCopy: session.isCopy,
              sharesWith: session.id,
              kept: new Map(path.map((kept) => [kept.id, kept])),
            });
          else copies.push({ id, path, before });
        },
      );
    }
    const ch = chs.get(session.id);
    if (ch === undefined) return;
    if (each.op === "erase") {
      const { id } = at_(entries, each.entry) as Kept;
      return post(eraseMessage(ch, id), () => {
        (session.kept.get(id) as Kept).state = "erased";
      });
    }
    const under = at_([...entries.map(({ id }) => id), null], each.under) ?? null;
    const id = next("e");
    post(publish(ch, at({ under: under as EntryId | null }, say(id))), () => {
      session.kept.set(id, { id, parentId: under, text: id, state: "kept" });
    });
  };

  /** Who shared with it has the entries as its own from then on. */
  const remove = (id: string): void => {
    deleted.add(id);
    for (const heir of sessions.values()) {
      if (heir.sharesWith !== id || deleted.has(heir.id)) continue;
      heir.sharesWith = null;
      const own = new Map((sessions.get(id) as Modelled).kept);
      for (const [entry, kept] of own) own.set(entry, { ...kept });
      const family = [heir];
      for (const member of family) {
        for (const [entry, kept] of member.kept)
          if ((sessions.get(id) as Modelled).kept.get(entry) === kept)
            member.kept.set(entry, own.get(entry) as Kept);
        family.push(...[...sessions.values()].filter(({ sharesWith }) => sharesWith === member.id));
      }
    }
  };

  let copies: { id: string; path: readonly Kept[]; before: readonly Kept["state"][] }[] = [];

  /** Ids of a copy are learnt from it. */
  const learnCopies = async (): Promise<void> => {
    for (const { id, path, before } of copies) {
      const joined = await join(await hello(world, "learner"), {
        session: id,
        create: false,
        lines: [{ limit: 1000 }],
      });
      const kept = joined.entries.map((entry, index): Kept => {
        const { text, state } = path[index] as Kept;
        return {
          id: entry.id,
          parentId: entry.parentId,
          text,
          // Which of the two came first, a copy or an erasure at the same time, is not known.
          state: state === before[index] ? state : entry.type === "erased" ? "erased" : "kept",
        };
      });
      sessions.set(id, {
        id,
        isCopy: true,
        sharesWith: null,
        kept: new Map(kept.map((each) => [each.id, each])),
      });
    }
    copies = [];
  };

  const settle = async (): Promise<void> => {
    await world.settle();
    for (const { client, n, done } of asked) {
      const answer = client.answer(n);
      expect(answer, "everything is answered").toBeDefined();
      if (answer?.type === "ack" || answer?.type === "forked") done(answer);
      // A refusal is of what was deleted meanwhile.
      else
        expect(answer).toMatchObject({
          error: { code: expect.stringMatching(/deleted|not_joined|not_found/) },
        });
    }
    if (asked.some(({ client, n }) => client.answer(n)?.type === "refused"))
      expect(deleted.size).toBeGreaterThan(0);
    asked = [];
    await learnCopies();
    await readAll();
    await check();
  };

  const check = async (): Promise<void> => {
    const looker = await hello(world, "looker");
    const live = [...sessions.values()].filter(({ id }) => !deleted.has(id));
    expect((await list(looker)).map(({ id }) => id).sort()).toEqual(live.map(({ id }) => id).sort());
    for (const id of deleted)
      expect(await looker.ask({ type: "join", session: id, lines: [] })).toMatchObject({
        error: { code: "deleted" },
      });
    for (const session of live) {
      const joined = await join(looker, { session: session.id, create: false, lines: linesOf(session) });
      checkContent(session, joined.entries);
      const reader = readers.get(session.id) as { client: RawClient; joined: Answer<"joined"> };
      expect(reader.client.all("left")).toEqual([]);
      for (const { entry } of heldBy(reader.joined, reader.client).nodes())
        expect(entry).toEqual(joined.entries.find(({ id }) => id === entry.id));
      await checkLog(world, session);
    }
    looker.close();
    for (const id of deleted) readers.get(id)?.client.close();
  };

  for (const each of ops) await perform(each);
  await settle();
};

const pathOf = ({ kept }: Modelled, leaf: string): Kept[] => {
  const path: Kept[] = [];
  for (
    let at = kept.get(leaf);
    at !== undefined;
    at = at.parentId === null ? undefined : kept.get(at.parentId)
  )
    path.push(at);
  return path.reverse();
};

const linesOf = ({ kept }: Modelled): { candidates: EntryId[]; walk: "stay"; limit: number }[] => {
  const parents = new Set([...kept.values()].map(({ parentId }) => parentId));
  const leaves = [...kept.keys()].filter((id) => !parents.has(id));
  return leaves.slice(0, 64).map((id) => ({ candidates: [id as EntryId], walk: "stay", limit: 1000 }));
};

const checkContent = ({ kept }: Modelled, entries: readonly Entry[]): void => {
  const given = entries.map(
    (entry) => [entry.id, entry.parentId, entry.type === "erased" ? null : textOf(entry)] as const,
  );
  const known = [...kept.values()].map(
    ({ id, parentId, text, state }) => [id, parentId, state === "erased" ? null : text] as const,
  );
  expect(new Map(given.map((each) => [each[0], each]))).toEqual(
    new Map(known.map((each) => [each[0], each])),
  );
};

/** What was erased is in no log that shares it, and seqs rise. */
const checkLog = async (world: World, { id, kept, isCopy }: Modelled): Promise<void> => {
  const outcome = await world.store.load(id as SessionId);
  if (outcome.type !== "ok") throw new Error(JSON.stringify(outcome));
  const seqs = outcome.log.records.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  if (isCopy) return;
  const text = JSON.stringify(outcome.log.records);
  for (const each of kept.values())
    if (each.state === "erased") expect(text).not.toContain(`"text":"${each.text}"`);
};

test.each<StoreKind>(["memory", "file"])(
  "[F1] [F2] [F4] [F8] [L2] [T1] whatever the order, each session has what it should, and nobody what was erased (%s)",
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 10, maxLength: 60, size: "max" }), (ops) => play(kind, ops)),
      { numRuns: kind === "memory" ? STEPS : Math.ceil(STEPS / 3) },
    );
  },
  600_000,
);
