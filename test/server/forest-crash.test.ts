/** The process dies, or the power goes, at any operation of a fork, an erasure and a deletion: their repeat finishes them. */
import { expect, test } from "vitest";
import { expectType, hello, joinedAs, type RawClient } from "../kit/raw.js";
import { createWorld, type World } from "../kit/world.js";
import { authenticate, begin, deleteMessage, eraseMessage, forkMessage, lineOf, list } from "./forest.js";
import { type Boots, createTimers, open } from "./store/crash-kit.js";
import { createRandom, createSimDisk, type SimDisk } from "./store/sim-disk.js";

const SECRET = "geheim";
/** Every so many operations of the disk. */
const STRIDE = Number(process.env.ESPALIER_STRIDE ?? 7);

const worldOn = async (disk: SimDisk, boots: Boots): Promise<World> =>
  createWorld({
    authenticate,
    store: await open(disk, boots, createRandom(boots.boot), createTimers()),
    work: () => disk.operations,
  });

/** False where the disk stopped before it was answered. */
const ask = async (world: World, client: RawClient, message: object): Promise<boolean> => {
  const n = client.post(message);
  await world.settle();
  const answer = client.answer(n);
  if (answer?.type === "refused") expect(answer.error.code).toMatch(/deleted|not_found|unavailable/);
  return answer !== undefined && answer.type !== "refused";
};

const work = async (world: World, mode: "copy" | "share"): Promise<boolean> => {
  const client = await hello(world, "root");
  if (!(await ask(world, client, forkMessage("t", { entry: "b" }, mode)))) return false;
  const n = client.post({ type: "join", session: "s", lines: [] });
  await world.settle();
  const joined = client.answer(n);
  if (joined?.type === "joined" && !(await ask(world, client, eraseMessage(joined.ch, SECRET)))) return false;
  return ask(world, client, deleteMessage("s"));
};

const prepared = async (): Promise<{ disk: SimDisk; boots: Boots; world: World }> => {
  const disk = createSimDisk(createRandom(1));
  const boots = { boot: 1, epochs: 0 };
  const world = await worldOn(disk, boots);
  await begin(world, "root", ["a", SECRET, "b", "c"]);
  return { disk, boots, world };
};

test.each([
  ["copy", "death"],
  ["copy", "power cut"],
  ["share", "death"],
  ["share", "power cut"],
] as const)(
  "[F1] [F2] [F8] [L2] [D1] by %s, after a %s",
  async (mode, end) => {
    const whole = await prepared();
    const first = whole.disk.operations;
    expect(await work(whole.world, mode)).toBe(true);
    const last = whole.disk.operations;
    expect(last - first).toBeGreaterThan(20);

    for (let stop = first + 1; stop <= last; stop += STRIDE) {
      const { disk, boots, world } = await prepared();
      disk.stopAt(stop);
      expect(await work(world, mode)).toBe(false);
      world.stopServer();
      const left = disk.left(end, createRandom(stop));
      const again = await worldOn(left, { boot: boots.boot + (end === "death" ? 0 : 1), epochs: 10 });
      await work(again, mode);
      const admin = await joinedAs(again, "root", { session: "t" });
      expect((await list(admin.client)).map(({ id }) => id)).toEqual(["t"]);
      if (mode === "share") {
        // Where the session was deleted before the repeat, it was erased before that.
        expect(await lineOf(again, "t")).toEqual(["a", "[erased]", "b"]);
        await again.store.close();
        expect(
          left.pathsWith(SECRET).filter((path) => left.textOf(path).includes(`"text":"${SECRET}"`)),
        ).toEqual([]);
      } else expect(await lineOf(again, "t")).toEqual(["a", SECRET, "b"]);
      expectType(await admin.client.ask({ type: "join", session: "s", lines: [] }), "refused");
    }
  },
  120_000,
);
