/**
 * One process owns a directory (D7). The lock is a listening socket in the control folder: it answers
 * while its process lives, and cannot when that is dead, however it died.
 *
 * Each process that wants the directory makes a socket with a name of its own, and only then tries all
 * others. It owns the directory if none of them answers: of two that start at once, the later one to
 * make its socket is sure to see the other's. Where both see each other, both step back, wait for
 * different times and try again. Sockets that did not answer are removed by the owner alone.
 *
 * A name is given to one process once, so it says of a note in the folder whether who left it is still the
 * owner; a copy of the folder has the name as well, but nobody answers there.
 *
 * A network file system does not carry sockets from one machine to another: there this lock is none.
 */
import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, readdir, rm, stat, symlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { EspalierError, type Runtime } from "@espalier/shared";

const NAME = /^lock-(\d+)-[0-9a-f]+$/;
/** A socket's address is no longer than this on any system. */
const MAX_ADDRESS_BYTES = 100;
const TRIES = 8;
const MAX_PAUSE_MS = 60;

export type Lock = {
  readonly name: string;
  /** Gives the directory up. */
  release(): Promise<void>;
};

/** @throws EspalierError `locked` */
export const takeLock = async (
  dir: string,
  control: string,
  runtime: Pick<Runtime, "setTimer">,
): Promise<Lock> => {
  const address = await createAddress(control);
  try {
    for (let tries = 1; ; tries += 1) {
      const name = `lock-${process.pid}-${randomBytes(8).toString("hex")}`;
      const server = await listen(address.of(name));
      const release = async (): Promise<void> => {
        await new Promise((done) => server.close(done));
        await rm(join(control, name), { force: true });
      };
      const seen = await tryOthers(control, name, address.of);
      if (seen.type === "owned") {
        for (const dead of seen.dead) await rm(join(control, dead), { force: true });
        return { name, release };
      }
      await release();
      if (seen.type === "held" && tries >= TRIES) throw await locked(dir, control, seen.by);
      await new Promise<void>((done) => runtime.setTimer(randomInt(1, MAX_PAUSE_MS), done));
    }
  } finally {
    await address.remove();
  }
};

/** Whether the process that took this lock lives, and has this very folder and not one that it was copied from. */
export const isHeld = async (control: string, name: string): Promise<boolean> => {
  if (!NAME.test(name)) return false;
  const found = await stat(join(control, name)).catch(() => null);
  // A copy made of hard links would answer for the folder that it was made from.
  if (found === null || found.nlink !== 1) return false;
  const address = await createAddress(control);
  try {
    return await answers(address.of(name));
  } finally {
    await address.remove();
  }
};

type Seen =
  | { readonly type: "owned"; readonly dead: readonly string[] }
  | { readonly type: "held"; readonly by: string }
  /** An owner that has gone since took this one's socket for a dead one. */
  | { readonly type: "removed" };

const tryOthers = async (
  control: string,
  own: string,
  addressOf: (name: string) => string,
): Promise<Seen> => {
  const names = (await readdir(control)).filter((name) => NAME.test(name));
  const dead: string[] = [];
  for (const name of names) {
    if (name === own) continue;
    if (await answers(addressOf(name))) return { type: "held", by: name };
    dead.push(name);
  }
  const isThere = (await readdir(control)).includes(own);
  return isThere ? { type: "owned", dead } : { type: "removed" };
};

const listen = (address: string): Promise<Server> =>
  new Promise((done, fail) => {
    const server = createServer((socket) => void socket.on("error", () => {}).destroy());
    server.once("error", fail);
    server.listen(address, () => done(server));
    server.unref();
  });

/** Only a refusal, or that there is no such socket, says that nobody is there. */
const answers = (address: string): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(address);
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) =>
      done(code !== "ECONNREFUSED" && code !== "ENOENT"),
    );
  });

const locked = async (dir: string, control: string, name: string): Promise<EspalierError> => {
  const pid = NAME.exec(name)?.[1];
  const since = await stat(join(control, name)).then(
    ({ mtime }) => ` since ${mtime.toISOString()}`,
    () => "",
  );
  return new EspalierError("locked", `unable to open ${dir}; process ${pid} has had it${since}`);
};

/** A way to the folder that is short enough: itself, or a link to it for as long as the lock is being taken. */
const createAddress = async (
  control: string,
): Promise<{ of: (name: string) => string; remove: () => Promise<void> }> => {
  const folder = resolve(control);
  const longest = `${folder}/lock-${process.pid}-${"0".repeat(16)}`;
  if (Buffer.byteLength(longest) + 4 <= MAX_ADDRESS_BYTES) {
    return { of: (name) => `${folder}/${name}`, remove: async () => {} };
  }
  const around = await mkdtemp(join(tmpdir(), "espalier-"));
  await symlink(folder, join(around, "d"));
  return {
    of: (name) => `${around}/d/${name}`,
    remove: () => rm(around, { recursive: true, force: true }),
  };
};
