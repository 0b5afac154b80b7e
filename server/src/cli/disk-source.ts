/** A file on disk and what lies beside it, for an importer to read; nothing outside its folder is given. */
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Source, SourceFile } from "../import/foreign.js";
import { unableToImport } from "../import/unable.js";

/** Told of every file that is opened, and of every piece that is read. */
type ReadListener = { opened(name: string, bytes: number): void; read(bytes: number): void };

const NOBODY: ReadListener = { opened: () => {}, read: () => {} };
const PIECE_BYTES = 256 * 1024;

/** Null where there is nothing of that name. Rejects where it is no regular file, or cannot be looked at. */
export const openDiskSource = async (path: string, listener = NOBODY): Promise<Source | null> => {
  const folder = dirname(path);
  const file = await openFile(path, basename(path), listener);
  if (file === "other") throw unableToImport(path, "it is not a regular file");
  if (file === null) return null;
  return {
    file,
    beside: async (name) => {
      const found = isWithin(name) ? await openFile(join(folder, name), name, listener) : null;
      return found === "other" ? null : found;
    },
    list: async (name) => (isWithin(name) ? namesIn(join(folder, name)) : []),
  };
};

/** The names in a folder, sorted; empty where there is no such folder. */
const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isAbsent(error)) return [];
    throw unableToImport(folder, `it cannot be read: ${reasonOf(error)}`, error);
  }
};

const openFile = async (
  path: string,
  name: string,
  listener: ReadListener,
): Promise<SourceFile | "other" | null> => {
  const size = await sizeOf(path);
  if (size === null || size === "other") return size;
  listener.opened(name, size);
  return { name, path, size, read: (from, to) => readPieces(path, listener, from, to) };
};

/** Null where there is nothing of that name. */
const sizeOf = async (path: string): Promise<number | "other" | null> => {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : "other";
  } catch (error) {
    if (isAbsent(error)) return null;
    throw unableToImport(path, `it cannot be read: ${reasonOf(error)}`, error);
  }
};

async function* readPieces(
  path: string,
  listener: ReadListener,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  if (to <= from) return;
  // The stream's own end is inclusive.
  const end = to - 1;
  const pieces = createReadStream(path, { start: from, end, highWaterMark: PIECE_BYTES });
  let fault: unknown = null;
  pieces.once("error", (error) => {
    fault = error;
  });
  try {
    for await (const piece of pieces) {
      listener.read((piece as Uint8Array).length);
      yield piece as Uint8Array;
    }
  } catch (error) {
    // What whoever reads throws is not the file's fault.
    if (fault === null) throw error;
    throw unableToImport(path, `it cannot be read: ${reasonOf(fault)}`, fault);
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isWithin = (name: string): boolean => !/^[/\\]|[\\:\0]/.test(name) && !name.split("/").includes("..");

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
