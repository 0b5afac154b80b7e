/**
 * [D3, L2, F1, F2, F4, F8] Install, make whole, erase and remove, under crashes at random operations like those
 * of `crash.test.ts`. Every text has a marker of its own, which is looked for in all bytes that the disk has.
 */
import type { Epoch, LogRecord, MessageEntry } from "@espalier/shared";
import { expect, test } from "vitest";
import type {
  AppendOutcome,
  ChangeOutcome,
  LogHeader,
  LogStore,
  StoredLog,
} from "../../../server/src/store/log-store.js";
import { createTimers, eachSeed, firstSeed, open, seeds } from "./crash-kit.js";
import { erase, message, sessionId, shared } from "./records.js";
import { createRandom, createSimDisk, type Random, type SimDisk } from "./sim-disk.js";

const LIVES = 6;

/** A record that was given to the store: a message with its text, or the erase of one. */
type Given = {
  readonly epoch: Epoch;
  readonly seq: number;
  readonly text: string;
  readonly erases: Given | null;
  wasShown: boolean;
  wasAcked: boolean;
};
type Progress = "no" | "asked" | "done";

type Session = {
  readonly id: string;
  readonly header: LogHeader;
  /** What it has once it is whole. */
  readonly inherited: readonly Given[];
  given: Given[];
  /** Those that its log has, as far as one can know. */
  present: Given[];
  head: number;
  install: Progress;
  whole: Progress;
  removal: Progress;
  isBusy: boolean;
};

type World = {
  sessions: Session[];
  /** Markers that must not be found any more. */
  readonly gone: Set<string>;
  boot: number;
  epochs: number;
  count: number;
};

const isShared = ({ header }: { header: LogHeader }): boolean => header.origin?.isShared === true;
const toRecord = ({ seq, text, erases }: Given): LogRecord =>
  erases === null ? message(seq, text) : erase(seq, `e${erases.seq}`);

const newText = (world: World, random: Random): string => {
  world.count += 1;
  return `<${world.count}>${"x".repeat(Math.floor(random() * 60))}`;
};
const markerOf = ({ text }: Given): string => text.slice(0, text.indexOf(">") + 1);

const mustBeGone = (world: World, givens: readonly Given[]): void => {
  for (const given of givens) if (given.erases === null) world.gone.add(markerOf(given));
};

const checkGone = (disk: SimDisk, world: World, when: string): void => {
  for (const marker of world.gone) {
    const paths = disk.pathsWith(marker);
    if (paths.length > 0) throw new Error(`${marker} is in ${paths.join(", ")} ${when}`);
  }
};

const isTombstone = (record: LogRecord): boolean => "type" in record && record.type === "erased";
const isAsGiven = (record: LogRecord, given: Given): boolean =>
  JSON.stringify(record) === JSON.stringify(toRecord(given));

/** The log has what it must have, and nothing else. */
const checkLog = (log: StoredLog, session: Session, world: World): void => {
  const recordsBySeq = new Map<number, LogRecord>(log.records.map((record) => [record.seq, record]));
  const isWhole = isShared(session) && !isShared(log);
  if (session.whole !== "asked") expect(isWhole).toBe(session.whole === "done");
  if (isWhole) session.whole = "done";
  else if (session.whole === "asked") session.whole = "no";
  const isErased = ({ seq, erases }: Given): boolean =>
    erases === null &&
    log.records.some((record) => record.kind === "erase" && record.id === `e${seq}` && record.seq > seq);
  const known = isWhole ? [...session.inherited, ...session.given] : session.given;
  const present: Given[] = [];
  for (const given of known) {
    const found = recordsBySeq.get(given.seq);
    const isThere = found !== undefined && (isErased(given) ? isTombstone(found) : isAsGiven(found, given));
    const isOfWhole = session.inherited.includes(given);
    const mustBe = isOfWhole || given.wasAcked || (given.wasShown && given.epoch === log.epoch);
    if (mustBe) expect([session.id, given.seq, isThere]).toEqual([session.id, given.seq, true]);
    if (isThere) present.push(given);
    if (given.epoch !== log.epoch && !isOfWhole) expect(log.head).toBeGreaterThanOrEqual(given.seq);
  }
  for (const seq of recordsBySeq.keys()) expect(present.some((given) => given.seq === seq)).toBe(true);
  for (const given of present) if (given.erases !== null) mustBeGone(world, [given.erases]);
  session.present = present;
  session.head = log.head;
};

const checkAll = async (store: LogStore, disk: SimDisk, world: World): Promise<void> => {
  expect(disk.paths().filter((path) => path.endsWith(".new"))).toEqual([]);
  for (const session of world.sessions.slice()) {
    const id = sessionId(session.id);
    const loaded = await store.load(id);
    const isDeleted = loaded.type === "refused" && loaded.error.code === "deleted";
    if (session.removal !== "asked")
      expect([session.id, isDeleted]).toEqual([session.id, session.removal === "done"]);
    if (isDeleted) {
      session.removal = "done";
      mustBeGone(world, [...session.given, ...(session.whole === "no" ? [] : session.inherited)]);
      expect(await store.append(id, 0, [message(1)])).toMatchObject({ type: "refused" });
      expect(await store.summary(id)).toBeNull();
      continue;
    }
    if (session.removal === "asked") session.removal = "no";
    if (loaded.type === "absent") {
      expect([session.id, session.install]).not.toEqual([session.id, "done"]);
      expect(session.given.filter(({ wasAcked }) => wasAcked)).toEqual([]);
      world.sessions = world.sessions.filter((each) => each !== session);
      continue;
    }
    if (loaded.type !== "ok") throw new Error(`${session.id}: ${loaded.error.message}`);
    if (session.install === "asked") for (const given of session.given) given.wasAcked = true;
    if (session.install === "asked") session.install = "done";
    checkLog(loaded.log, session, world);
    session.isBusy = false;
    const own = loaded.log.records.filter(
      ({ kind, seq }) => kind === "entry" && seq > (session.header.inherited ?? 0),
    );
    expect((await store.summary(id))?.entries).toBe(own.length);
  }
};

/** False where the store was being closed when it was asked, or the session removed. */
const wasTaken = <T extends AppendOutcome | ChangeOutcome>(
  name: string,
  outcome: T,
): outcome is T & { type: "ok" } => {
  if (outcome.type === "ok") return true;
  const reason = outcome.type === "refused" ? outcome.error : null;
  if (reason?.message.includes("it is closed") || (reason?.code === "deleted" && name === "append"))
    return false;
  throw new Error(`${name}: ${JSON.stringify(outcome)}`);
};

const live = async (disk: SimDisk, world: World, random: Random): Promise<void> => {
  const timers = createTimers();
  const store = await open(disk, world, random, timers);
  await checkAll(store, disk, world);
  checkGone(disk, world, "after a start");

  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const give = (seq: number, erases: Given | null = null): Given => ({
    epoch: store.epoch,
    seq,
    text: erases === null ? newText(world, random) : "",
    erases,
    wasShown: false,
    wasAcked: false,
  });

  const newSession = (header: LogHeader, install: Progress): Session => {
    world.count += 1;
    const inherited = isShared({ header })
      ? [2, 5].slice(Math.floor(random() * 3)).map((seq) => give(seq))
      : [];
    const head = header.inherited ?? 0;
    const name = random() < 0.3 ? `root/s${world.count}` : `s${world.count}`;
    const session: Session = {
      id: name,
      header,
      inherited,
      given: [],
      present: [],
      head,
      install,
      whole: "no",
      removal: "no",
      isBusy: false,
    };
    world.sessions.push(session);
    return session;
  };

  const write = async (session: Session): Promise<void> => {
    const given = give(session.head + 1);
    const before = session.head;
    session.head += 1;
    session.given.push(given);
    const outcome = await store.append(
      sessionId(session.id),
      before,
      [message(given.seq, given.text)],
      session.header,
    );
    if (!wasTaken("append", outcome)) return;
    given.wasShown = true;
    session.present.push(given);
    void outcome.durable.then(() => {
      given.wasAcked = true;
    });
    if (random() < 0.3) await outcome.durable;
  };

  const install = async (header: LogHeader): Promise<void> => {
    const session = newSession(header, "asked");
    session.isBusy = true;
    const count = isShared({ header }) && random() < 0.5 ? 0 : Math.floor(random() * 8);
    for (let index = 0; index < count; index += 1) session.given.push(give(session.head + index + 1));
    async function* records(): AsyncGenerator<LogRecord> {
      for (const given of session.given) {
        if (random() < 0.2) await new Promise((resolve) => setImmediate(resolve));
        yield toRecord(given);
      }
    }
    const outcome = await store.install(sessionId(session.id), header, records());
    if (!wasTaken("install", outcome)) return;
    session.install = "done";
    session.head += count;
    for (const given of session.given) given.wasAcked = true;
    session.present = [...session.given];
    session.isBusy = false;
  };

  const eraseIn = async (session: Session): Promise<void> => {
    const target = pick([...session.present, ...session.inherited].filter(({ erases }) => erases === null));
    if (target === undefined) return;
    const given = give(session.head + 1, target);
    session.isBusy = true;
    session.given.push(given);
    const outcome = await store.erase(
      sessionId(session.id),
      session.head,
      erase(given.seq, `e${target.seq}`),
    );
    if (!wasTaken("erase", outcome)) return;
    session.head += 1;
    given.wasShown = true;
    session.present.push(given);
    session.isBusy = false;
    const done = outcome.durable.then(() => {
      given.wasAcked = true;
      mustBeGone(world, [target]);
      checkGone(disk, world, "after an erase");
    });
    if (random() < 0.5) await done;
    else done.catch(failed);
  };

  const makeWhole = async (session: Session): Promise<void> => {
    session.whole = "asked";
    const outcome = await store.makeWhole(
      sessionId(session.id),
      session.inherited.map(toRecord) as MessageEntry[],
    );
    session.whole = wasTaken("make whole", outcome) ? "done" : "no";
  };

  const remove = async (session: Session): Promise<void> => {
    session.isBusy = true;
    session.removal = "asked";
    const outcome = await store.remove(sessionId(session.id));
    session.removal = wasTaken("remove", outcome) ? "done" : "no";
    if (session.removal === "no") return;
    mustBeGone(world, [...session.given, ...(session.whole === "no" ? [] : session.inherited)]);
    checkGone(disk, world, "after a removal");
  };

  let failed: (error: unknown) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    failed = reject;
  });
  failure.catch(() => {});

  const step = async (): Promise<void> => {
    const chance = random();
    const header = (): LogHeader => (random() < 0.4 ? shared("parent", 7) : { createdAt: 1 });
    if (chance < 0.08) return install(header());
    if (chance < 0.16) return write(newSession(header(), "no"));
    const session = pick(world.sessions.filter(({ isBusy, removal }) => !isBusy && removal === "no"));
    if (session === undefined) return;
    // A log that was never written is not there yet for anything but its first write.
    const isThere = session.install === "done" || session.present.length > 0;
    if (chance > 0.9 && isThere) return eraseIn(session);
    if (chance > 0.86 && isThere && isShared(session) && session.whole === "no") return makeWhole(session);
    if (chance > 0.83 && isThere) return remove(session);
    return write(session);
  };

  const run = async (): Promise<void> => {
    const steps = Math.floor(random() * 50);
    const running: Promise<void>[] = [];
    for (let count = 0; count < steps; count += 1) {
      const stepped = step();
      running.push(stepped);
      stepped.catch(failed);
      if (random() < 0.7) await stepped;
      if (random() < 0.15) timers.fire();
    }
    if (random() < 0.5) await Promise.all(running);
    await store.close();
  };
  await Promise.race([run(), failure]);
  checkGone(disk, world, "after a close");
};

const runSeed = async (seed: number): Promise<void> => {
  const random = createRandom(seed);
  const world: World = { sessions: [], gone: new Set(), boot: 0, epochs: 0, count: 0 };
  let disk = createSimDisk(random);
  for (let life = 0; life < LIVES; life += 1) {
    // Often while the one before is still being recovered from.
    disk.stopAt(1 + Math.floor(random() < 0.4 ? random() * 100 : random() ** 2 * 1200));
    const failure = await Promise.race([
      live(disk, world, random).then(
        () => null,
        (error: unknown) => error,
      ),
      disk.stopped.then(() => null),
    ]);
    if (failure !== null) throw failure;
    disk.stop();
    const isDeath = random() < 0.5;
    if (!isDeath) world.boot += 1;
    disk = disk.left(isDeath ? "death" : "power cut", random);
    checkGone(disk, world, "after a crash");
  }
};

test(`[D3] [L2] [F1] [F4] [F8] what is installed, made whole, erased and removed is so after any crash (seeds from ${firstSeed})`, async () => {
  await eachSeed(runSeed, seeds);
}, 600_000);
