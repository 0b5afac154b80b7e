/**
 * A disk in memory that can be stopped at any of its operations, and asked what is left then.
 *
 * When the process dies, all that it wrote is left; of a write under way, some first part. When the power
 * goes, only what was synced is sure: of each later write to a file any part may be there or not,
 * and so may each change of a folder that was not synced. That is more than real file systems lose.
 */
import type { Disk, DiskFile } from "../../../server/src/store/file/disk.js";

/** From 0 to below 1. */
export type Random = () => number;

/** A seeded generator, so that a failure can be had again. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

type Change = { readonly at: number; readonly bytes: Buffer } | { readonly length: number };
type FileNode = { current: Buffer; synced: Buffer; pending: Change[] };
type NameChange = { readonly path: string; readonly node: FileNode | null };

export type SimDisk = Disk & {
  /** The operations that were begun. */
  readonly operations: number;
  /** Stops at the operation with this number: it and all later ones never end. */
  stopAt(operation: number): void;
  stop(): void;
  /** Resolves when it has stopped. */
  readonly stopped: Promise<void>;
  /** The disk that is found afterwards. */
  left(by: "death" | "power cut", random: Random): SimDisk;
  /** The paths of all files. */
  paths(): string[];
  /** The paths of the files that hold some text. */
  pathsWith(text: string): string[];
  textOf(path: string): string;
};

export const createSimDisk = (random: Random, names = new Map<string, FileNode>()): SimDisk => {
  const syncedNames = new Map(names);
  let pendingNames: NameChange[] = [];
  let operations = 0;
  let last = Number.POSITIVE_INFINITY;
  let isStopped = false;
  let tellStopped = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    tellStopped = resolve;
  });

  const stop = (): void => {
    isStopped = true;
    tellStopped();
  };

  /** Before an operation: it takes some time, and may be the last. */
  const begin = async (atStop?: () => void): Promise<void> => {
    operations += 1;
    if (!isStopped && operations >= last) {
      atStop?.();
      stop();
    }
    if (isStopped) await new Promise(() => {});
  };
  const end = async (): Promise<void> => {
    if (random() < 0.3) await new Promise((resolve) => setImmediate(resolve));
    if (isStopped) await new Promise(() => {});
  };

  const setName = (path: string, node: FileNode | null): void => {
    if (node === null) names.delete(path);
    else names.set(path, node);
    pendingNames.push({ path, node });
  };

  const fileOf = (node: FileNode): DiskFile => {
    const change = (changed: Change): void => {
      node.current = applied(node.current, changed);
      node.pending.push(changed);
    };
    return {
      read: async (at, length) => {
        await begin();
        return Buffer.from(node.current.subarray(at, at + length));
      },
      size: async () => node.current.length,
      write: async (bytes, at) => {
        const copy = Buffer.from(bytes);
        await begin(() => change({ at, bytes: copy.subarray(0, Math.floor(random() * (copy.length + 1))) }));
        change({ at, bytes: copy });
        await end();
      },
      truncate: async (length) => {
        await begin();
        change({ length });
        await end();
      },
      sync: async () => {
        await begin();
        const { current } = node;
        const covered = new Set(node.pending);
        await end();
        // Of two syncs at once, the one that began first may end last.
        if (node.pending.some((pending) => covered.has(pending))) node.synced = current;
        node.pending = node.pending.filter((pending) => !covered.has(pending));
        await end();
      },
      isLinked: () => [...names.values()].includes(node),
      close: async () => {},
    };
  };

  return {
    get operations() {
      return operations;
    },
    stopAt: (operation) => {
      last = operation;
    },
    stop,
    stopped,
    paths: () => [...names.keys()],
    textOf: (path: string) => String(names.get(path)?.current),
    pathsWith: (text) => [...names].filter(([, node]) => node.current.includes(text)).map(([path]) => path),
    open: async (path, mode) => {
      await begin();
      const held = names.get(path);
      if (held !== undefined) return fileOf(held);
      if (mode === "read") throw Object.assign(new Error(`no ${path}`), { code: "ENOENT" });
      const node: FileNode = { current: Buffer.alloc(0), synced: Buffer.alloc(0), pending: [] };
      setName(path, node);
      return fileOf(node);
    },
    stat: async (path) => {
      await begin();
      const node = names.get(path);
      if (node !== undefined) return { size: node.current.length, changedAt: 0 };
      // A folder is there while something is in it, or was and may be again.
      const known = [...names.keys(), ...pendingNames.map((change) => change.path)];
      return known.some((name) => name.startsWith(`${path}/`)) ? { size: 0, changedAt: 0 } : null;
    },
    list: async (dir) => {
      await begin();
      const found = new Map<string, boolean>();
      for (const path of names.keys()) {
        if (!path.startsWith(`${dir}/`)) continue;
        const [name, ...rest] = path.slice(dir.length + 1).split("/");
        found.set(name as string, rest.length > 0);
      }
      return [...found].map(([name, isDirectory]) => ({ name, isDirectory }));
    },
    makeDir: async () => begin(),
    syncDir: async (dir) => {
      await begin();
      const isHere = ({ path }: NameChange): boolean => path.slice(0, path.lastIndexOf("/")) === dir;
      for (const { path, node } of pendingNames.filter(isHere)) {
        if (node === null) syncedNames.delete(path);
        else syncedNames.set(path, node);
      }
      pendingNames = pendingNames.filter((change) => !isHere(change));
      await end();
    },
    rename: async (from, to) => {
      await begin();
      const node = names.get(from);
      if (node === undefined) throw new Error(`no ${from}`);
      setName(from, null);
      setName(to, node);
      await end();
    },
    remove: async (path) => {
      await begin();
      if (names.has(path)) setName(path, null);
      await end();
    },
    removeDir: async () => begin(),
    left: (by, chance) => {
      const left = new Map<string, FileNode>();
      if (by === "death") {
        // What was written stays, and is no more synced than it was.
        for (const [path, { current, synced, pending }] of names) {
          left.set(path, { current, synced, pending: pending.slice() });
        }
        return createSimDisk(chance, left);
      }
      const found = new Map(syncedNames);
      for (const { path, node } of pendingNames) {
        if (chance() < 0.5) continue;
        if (node === null) found.delete(path);
        else found.set(path, node);
      }
      for (const [path, node] of found) {
        const bytes = afterPowerCut(node, chance);
        left.set(path, { current: bytes, synced: bytes, pending: [] });
      }
      return createSimDisk(chance, left);
    },
  };
};

const applied = (bytes: Buffer, change: Change): Buffer => {
  if ("length" in change) {
    const cut = Buffer.alloc(change.length);
    bytes.copy(cut);
    return cut;
  }
  const grown = Buffer.alloc(Math.max(bytes.length, change.at + change.bytes.length));
  bytes.copy(grown);
  change.bytes.copy(grown, change.at);
  return grown;
};

const SECTOR_BYTES = 32;

/** Each write that was not synced is there as a whole, up to some byte, in some of its sectors, or not. */
const afterPowerCut = (node: FileNode, random: Random): Buffer => {
  let bytes = node.synced;
  for (const change of node.pending) {
    const chance = random();
    if ("length" in change) {
      if (chance < 0.5) bytes = applied(bytes, change);
    } else if (chance < 0.4) bytes = applied(bytes, change);
    else if (chance < 0.6) {
      const part = change.bytes.subarray(0, Math.floor(random() * change.bytes.length));
      bytes = applied(bytes, { at: change.at, bytes: part });
    } else if (chance < 0.8) {
      for (let from = 0; from < change.bytes.length; from += SECTOR_BYTES) {
        if (random() < 0.5) continue;
        const sector = change.bytes.subarray(from, from + SECTOR_BYTES);
        bytes = applied(bytes, { at: change.at + from, bytes: sector });
      }
    }
  }
  return bytes;
};
