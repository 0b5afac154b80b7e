/**
 * The files that an import was asked for: those that are named, and of a folder all that are JSON, with
 * the folders in it. What belongs to another file comes after it, so that it can be told that it was read.
 * What is passed over is reported.
 */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { countOf } from "./wording.js";

export type NamedFile = {
  readonly path: string;
  /** It was asked for itself; else it was found in a folder. */
  readonly isNamed: boolean;
};

export async function* filesOf(
  paths: readonly string[],
  report: (line: string) => void,
): AsyncGenerator<NamedFile> {
  for (const path of paths)
    if (await isFolder(path)) yield* filesIn(path, report);
    else yield { path, isNamed: true };
}

async function* filesIn(top: string, report: (line: string) => void): AsyncGenerator<NamedFile> {
  const pending = [top];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const items = await itemsOf(folder, report);
    const files = items.filter((item) => item.isFile());
    const ofInterest = files.filter(({ name }) => /\.jsonl?$/i.test(name));
    for (const { name } of ofInterest) yield { path: join(folder, name), isNamed: false };
    const others = files.length - ofInterest.length;
    if (others > 0) report(`${folder}: ${countOf(others, "file")} passed over, no JSON by name`);
    // A folder with a dot is a program's own: the store's journal, a repository.
    const folders = items
      .filter((item) => item.isDirectory() && !item.name.startsWith("."))
      .map(({ name }) => join(folder, name));
    pending.push(...folders.reverse());
  }
}

const itemsOf = async (folder: string, report: (line: string) => void): Promise<Dirent[]> => {
  try {
    return (await readdir(folder, { withFileTypes: true })).sort(byName);
  } catch (error) {
    report(
      `${folder}: it cannot be read: ${error instanceof Error ? error.message : String(error)}; skipped`,
    );
    return [];
  }
};

type Named = { readonly name: string };

/** A manifest before the files that it names. */
const byName = (a: Named, b: Named): number =>
  Number(isManifest(b)) - Number(isManifest(a)) || (a.name < b.name ? -1 : 1);
const isManifest = ({ name }: Named): boolean => name === "export_manifest.json";

const isFolder = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Whatever is wrong with it is told when it is opened.
    return false;
  }
};
