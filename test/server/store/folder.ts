/** Real folders for the file store's tests, and ways to do to them what a crash or a person may do. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "../../../server/src/runtime.js";
import { createFileStore, type FileStoreOptions } from "../../../server/src/store/file/file-store.js";
import type { LogStore } from "../../../server/src/store/log-store.js";
import { countEpochs } from "./records.js";

export type Folder = {
  readonly dir: string;
  /** Opens a store here; all of them are closed, and the folder removed, by `dispose`. */
  open(options?: Partial<FileStoreOptions>): Promise<LogStore>;
  /** The folder as it is at this moment: what a process that died now would leave. */
  copy(): Folder;
  /** The content of a file, by its path within. */
  read(path: string): string;
  exists(path: string): boolean;
  add(path: string, text: string): void;
  remove(path: string): void;
  /** The journal's segments, oldest first. */
  segments(): string[];
  dispose(): Promise<void>;
};

const newEpoch = countEpochs();
/** Nothing is written behind by itself within a test, unless it asks for that. */
const NEVER_MS = 3_600_000;

export const createFolder = (dir = mkdtempSync(join(tmpdir(), "espalier-test-"))): Folder => {
  const stores: LogStore[] = [];
  const copies: Folder[] = [];
  return {
    dir,
    open: async (options) => {
      const store = await createFileStore({
        dir,
        newEpoch,
        runtime: createRuntime(),
        bootId: "boot1",
        writeBehindMs: NEVER_MS,
        ...options,
      });
      stores.push(store);
      return store;
    },
    copy: () => {
      const to = mkdtempSync(join(tmpdir(), "espalier-test-"));
      cpSync(dir, to, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
      const copy = createFolder(to);
      copies.push(copy);
      return copy;
    },
    read: (path) => readFileSync(join(dir, path), "utf8"),
    exists: (path) => existsSync(join(dir, path)),
    add: (path, text) => appendFileSync(join(dir, path), text),
    remove: (path) => rmSync(join(dir, path), { recursive: true }),
    segments: () =>
      readdirSync(join(dir, ".espalier"))
        .filter((name) => name.startsWith("journal-"))
        .sort()
        .map((name) => `.espalier/${name}`),
    dispose: async () => {
      for (const store of stores) await store.close();
      for (const copy of copies) await copy.dispose();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};
