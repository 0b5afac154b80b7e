/**
 * The only door to the file system: what the file store asks of a disk, and no more, so that another
 * disk (a failing one, a simulated one) can stand in. Nothing here is safe from a power cut until the
 * `sync` of the file, and for a name the `syncDir` of its folder, has resolved.
 */
import fs from "node:fs";
import { mkdir, open as openHandle, readdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";

export type DiskFile = {
  /** What is there from `at` on, at most `length` bytes. */
  read(at: number, length: number): Promise<Buffer>;
  size(): Promise<number>;
  /** Writes all of it, or rejects having written some of it. */
  write(bytes: Uint8Array, at: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** What was written before the call is on disk when it resolves. */
  sync(): Promise<void>;
  /** False where no name leads to it any more, so that it is gone when it is closed. */
  isLinked(): boolean;
  close(): Promise<void>;
};

export type DiskName = { readonly name: string; readonly isDirectory: boolean };

export type Disk = {
  /** `write` makes the file where there is none, and never empties it. */
  open(path: string, mode: "read" | "write"): Promise<DiskFile>;
  /** Null where there is no such file. */
  stat(path: string): Promise<{ readonly size: number; readonly changedAt: number } | null>;
  /** Empty where there is no such folder. */
  list(dir: string): Promise<readonly DiskName[]>;
  /** With the folders above it; the names of those that it made are safe when it resolves. */
  makeDir(path: string): Promise<void>;
  syncDir(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Harmless where there is no such file. */
  remove(path: string): Promise<void>;
  /** Harmless where there is no such folder, or something in it. */
  removeDir(path: string): Promise<void>;
};

/** Conversations are private: nobody but their owner reads them. */
const FILE_MODE = 0o600;
const DIR_MODE = 0o700;

export const createNodeDisk = (): Disk => ({
  open: async (path, mode) => {
    const flags = mode === "read" ? fs.constants.O_RDONLY : fs.constants.O_RDWR | fs.constants.O_CREAT;
    return nodeFile(await opened(path, flags));
  },
  stat: (path) =>
    stat(path).then(
      // A fraction of a millisecond is no time of ours.
      ({ size, mtimeMs }) => ({ size, changedAt: Math.floor(mtimeMs) }),
      absentAs(null),
    ),
  list: async (dir) => {
    const found = await readdir(dir, { withFileTypes: true }).catch(absentAs([]));
    return found.map((item) => ({ name: item.name, isDirectory: item.isDirectory() }));
  },
  makeDir: async (path) => {
    const topmost = await mkdir(path, { recursive: true, mode: DIR_MODE });
    if (topmost === undefined) return;
    const stop = dirname(dirname(resolve(topmost)));
    for (let parent = dirname(resolve(path)); parent !== stop; parent = dirname(parent))
      await syncDir(parent);
  },
  syncDir,
  rename,
  remove: (path) => unlink(path).catch(absentAs(undefined)),
  removeDir: (path) =>
    rmdir(path).catch((error: NodeJS.ErrnoException) => {
      if (!IN_USE_CODES.includes(error.code ?? "")) throw error;
    }),
});

const IN_USE_CODES = ["ENOENT", "ENOTDIR", "ENOTEMPTY", "EEXIST"];

const syncDir = async (path: string): Promise<void> => {
  const handle = await openHandle(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const absentAs =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return value;
    throw error;
  };

type Settle = (error: Error | null) => void;

const called = (call: (settle: Settle) => void): Promise<void> =>
  new Promise((done, fail) => call((error) => (error === null ? done() : fail(error))));

const opened = (path: string, flags: number): Promise<number> =>
  new Promise((done, fail) =>
    fs.open(path, flags, FILE_MODE, (error, fd) => (error === null ? done(fd) : fail(error))),
  );

/**
 * Calls with descriptors cost half of what handles do, and the journal makes many. The system gives a
 * closed one's number to the next file, so none is used again.
 */
const nodeFile = (fd: number): DiskFile => {
  let isOpen = true;
  const openFd = (): number => {
    if (isOpen) return fd;
    throw new Error("the file is closed");
  };
  return {
    read: async (at, length) => {
      const bytes = Buffer.allocUnsafe(length);
      let filled = 0;
      for (;;) {
        const count = await readOnce(openFd(), bytes, filled, at + filled);
        filled += count;
        if (count === 0 || filled === length) return bytes.subarray(0, filled);
      }
    },
    size: () =>
      new Promise((done, fail) =>
        fs.fstat(openFd(), (error, found) => (error === null ? done(found.size) : fail(error))),
      ),
    write: async (bytes, at) => {
      let written = 0;
      while (written < bytes.length) written += await writeOnce(openFd(), bytes, written, at + written);
    },
    truncate: (length) => called((settle) => fs.ftruncate(openFd(), length, settle)),
    sync: () => called((settle) => fs.fdatasync(openFd(), settle)),
    // Reads no disk, and costs a tenth of what a turn in the pool does.
    isLinked: () => fs.fstatSync(openFd()).nlink > 0,
    close: () => {
      const last = openFd();
      isOpen = false;
      return called((settle) => fs.close(last, settle));
    },
  };
};

const readOnce = (fd: number, into: Buffer, from: number, at: number): Promise<number> =>
  new Promise((done, fail) =>
    fs.read(fd, into, from, into.length - from, at, (error, count) =>
      error === null ? done(count) : fail(error),
    ),
  );

const writeOnce = (fd: number, bytes: Uint8Array, from: number, at: number): Promise<number> =>
  new Promise((done, fail) =>
    fs.write(fd, bytes, from, bytes.length - from, at, (error, count) =>
      error === null ? done(count) : fail(error),
    ),
  );

/** All of a file, or null where there is none. */
export const readWhole = async (disk: Disk, path: string): Promise<Buffer | null> => {
  if ((await disk.stat(path)) === null) return null;
  return withFile(disk, path, "read", async (file) => file.read(0, await file.size()));
};

/** Opens a file for one piece of work; an error of the system names it. */
export const withFile = async <T>(
  disk: Disk,
  path: string,
  mode: "read" | "write",
  work: (file: DiskFile) => Promise<T>,
): Promise<T> => {
  const file = await disk.open(path, mode);
  try {
    return await work(file);
  } catch (error) {
    throw withPath(error as NodeJS.ErrnoException, path);
  } finally {
    await file.close();
  }
};

const withPath = (error: NodeJS.ErrnoException, path: string): Error => {
  if (error.code !== undefined) error.path ??= path;
  return error;
};

/** Ends the name of a file that is not in its place yet, and is nothing if it never comes there. */
export const NEW = ".new";

/** Writes a whole file, piece by piece, and gives its length when it is on disk. */
export const writeWhole = (
  disk: Disk,
  path: string,
  parts: Iterable<string | Buffer> | AsyncIterable<string | Buffer>,
): Promise<number> =>
  withFile(disk, path, "write", async (file) => {
    let length = 0;
    await file.truncate(0);
    for await (const part of parts) {
      const bytes = Buffer.from(part);
      await file.write(bytes, length);
      length += bytes.length;
    }
    await file.sync();
    return length;
  });

/** Puts a whole file in the place of another, so that after any crash one or the other is there. */
export const replaceFile = async (
  disk: Disk,
  dir: string,
  name: string,
  parts: Iterable<string | Buffer>,
): Promise<number> => {
  const path = `${dir}/${name}`;
  const length = await writeWhole(disk, `${path}${NEW}`, parts);
  await disk.rename(`${path}${NEW}`, path);
  await disk.syncDir(dir);
  return length;
};

/** Removes what a crash left of files that never came to their places. */
export const removeNew = async (disk: Disk, dir: string): Promise<void> => {
  const names = (await disk.list(dir)).filter(({ name }) => name.endsWith(NEW));
  for (const { name } of names) await disk.remove(`${dir}/${name}`);
  if (names.length > 0) await disk.syncDir(dir);
};

/** Runs the work over all items, at most `width` at a time; rejects with the first failure, after all have ended. */
export const eachOf = async <T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const rest = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      await work(next.value).catch((error: unknown) => void failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  if (failures.length > 0) throw failures[0];
};
