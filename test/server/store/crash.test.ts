/**
 * [D1–D3] The order of writes, under crashes at random operations: deaths of the process and power cuts,
 * while writing, rotating, closing, opening and recovering, several in a row on the same disk.
 */
import type { Epoch } from "@espalier/shared";
import { expect, test } from "vitest";
import type { StoredLog } from "../../../server/src/store/log-store.js";
import { createTimers, eachSeed, firstSeed, open } from "./crash-kit.js";
import { message, sessionId } from "./records.js";
import { createRandom, createSimDisk, type Random, type SimDisk } from "./sim-disk.js";

const IDS = ["a", "b", "a/sub"];
const LIVES = 6;

/** What clients know: each record that was given, with the epoch that it was given in. */
type Given = {
  readonly epoch: Epoch;
  readonly seq: number;
  readonly text: string;
  wasShown: boolean;
  wasAcked: boolean;
  isOfAnotherLog: boolean;
};
type World = {
  readonly givenById: Map<string, Given[]>;
  boot: number;
  epochs: number;
  texts: number;
  opened: { boot: number; epoch: Epoch } | null;
};

const check = (log: StoredLog, given: Given[]): void => {
  const textsBySeq = new Map(
    log.records.map((record) => [record.seq as number, (record as ReturnType<typeof message>).parts[0]]),
  );
  for (const { epoch, seq, text, wasShown, wasAcked, isOfAnotherLog } of given) {
    const found = textsBySeq.get(seq);
    if (wasAcked || (wasShown && epoch === log.epoch)) expect(found).toEqual({ type: "text", text });
    if (epoch !== log.epoch && !isOfAnotherLog) expect(log.head).toBeGreaterThanOrEqual(seq);
  }
  for (const seq of textsBySeq.keys()) {
    const part = textsBySeq.get(seq);
    expect(given.some((each) => each.seq === seq && part?.type === "text" && each.text === part.text)).toBe(
      true,
    );
  }
};

/** One pair of epoch and seq names one record that anybody saw. */
const checkPairs = (given: Given[]): void => {
  const shown = given.filter(({ wasShown }) => wasShown).map(({ epoch, seq }) => `${epoch} ${seq}`);
  expect(new Set(shown).size).toBe(shown.length);
};

const live = async (disk: SimDisk, world: World, random: Random): Promise<void> => {
  const timers = createTimers();
  const store = await open(disk, world, random, timers);
  if (world.opened?.boot === world.boot) expect(store.epoch).toBe(world.opened.epoch);
  world.opened = { boot: world.boot, epoch: store.epoch };
  const heads = new Map<string, number>();
  for (const id of IDS) {
    const given = world.givenById.get(id) as Given[];
    const loaded = await store.load(sessionId(id));
    if (loaded.type === "ok") {
      check(loaded.log, given);
      expect((await store.summary(sessionId(id)))?.entries).toBe(loaded.log.records.length);
    } else {
      expect(loaded).toEqual({ type: "absent" });
      expect(given.filter(({ wasAcked }) => wasAcked)).toEqual([]);
      // The session begins anew, in another epoch than any of it was seen in, and with low seqs.
      for (const each of given) each.isOfAnotherLog = true;
    }
    heads.set(id, loaded.type === "ok" ? loaded.log.head : 0);
  }
  const write = async (id: string): Promise<void> => {
    const head = heads.get(id) as number;
    world.texts += 1;
    const given: Given = {
      epoch: store.epoch,
      seq: head + 1,
      text: `${world.texts} ${"x".repeat(Math.floor(random() * 80))}`,
      wasShown: false,
      wasAcked: false,
      isOfAnotherLog: false,
    };
    heads.set(id, head + 1);
    world.givenById.get(id)?.push(given);
    const outcome = await store.append(sessionId(id), head, [message(given.seq, given.text)]);
    if (outcome.type !== "ok") throw new Error(outcome.type);
    given.wasShown = true;
    void outcome.durable.then(() => {
      given.wasAcked = true;
    });
    if (random() < 0.3) await outcome.durable;
  };
  const steps = Math.floor(random() * 60);
  for (let step = 0; step < steps; step += 1) {
    const written = write(IDS[Math.floor(random() * IDS.length)] as string);
    if (random() < 0.7) await written;
    if (random() < 0.15) timers.fire();
  }
  await store.close();
};

const runSeed = async (seed: number): Promise<void> => {
  const random = createRandom(seed);
  const world: World = {
    givenById: new Map(IDS.map((id) => [id, []])),
    boot: 0,
    epochs: 0,
    texts: 0,
    opened: null,
  };
  let disk = createSimDisk(random);
  for (let life = 0; life < LIVES; life += 1) {
    disk.stopAt(1 + Math.floor(random() ** 2 * 400));
    const failure = await Promise.race([
      live(disk, world, random).then(
        () => null,
        (error: unknown) => error,
      ),
      disk.stopped.then(() => null),
    ]);
    if (failure !== null) throw failure;
    disk.stop();
    for (const given of world.givenById.values()) checkPairs(given);
    const isDeath = random() < 0.5;
    if (!isDeath) world.boot += 1;
    disk = disk.left(isDeath ? "death" : "power cut", random);
  }
};

test(`[D1] [D2] [D3] crashes at random operations lose nothing acknowledged (seeds from ${firstSeed})`, async () => {
  await eachSeed(runSeed);
}, 120_000);
