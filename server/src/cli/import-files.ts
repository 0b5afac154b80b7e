/**
 * The files that an import was asked for: those that are named, and of a folder all that are JSON, with
 * the folders in it, also behind links, each folder once. What belongs to another file comes after it, so
 * that it can be told that it was read. What is passed over is reported, but for what no program's talks
 * are in.
 */
import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "./disk-source.js";
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

type Report = (line: string) => void;

async function* filesIn(top: string, report: Report): AsyncGenerator<NamedFile> {
  const pending = [top];
  const seen = new Set<string>();
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const items = await itemsOf(folder, seen, report);
    const files = items.filter(({ kind }) => kind === "file");
    const ofInterest = files.filter(({ name }) => /\.jsonl?$/i.test(name));
    for (const { name } of ofInterest) yield { path: join(folder, name), isNamed: false };
    const others = files.length - ofInterest.length;
    if (others > 0) report(`${folder}: ${countOf(others, "file")} passed over, no JSON by name`);
    const folders: string[] = [];
    for (const { name, kind } of items) {
      const path = join(folder, name);
      if (kind === "other") report(`${path}: passed over, it is no regular file`);
      if (kind !== "folder" || SILENT.has(name)) continue;
      // A folder with a dot is a program's own.
      if (name.startsWith(".")) report(`${path}: passed over, its name begins with a dot`);
      else folders.push(path);
    }
    pending.push(...folders.reverse());
  }
}

/** The store's own folder, and what is in many folders and is never meant. */
const SILENT: ReadonlySet<string> = new Set([".espalier", ".git", "node_modules"]);

type Item = { readonly name: string; readonly kind: "file" | "folder" | "other" };

/** In order; none where the folder was read already, under another name, or cannot be read. */
const itemsOf = async (folder: string, seen: Set<string>, report: Report): Promise<Item[]> => {
  try {
    const real = await realpath(folder);
    if (seen.has(real)) {
      report(`${folder}: passed over, it is ${real}, which was read already`);
      return [];
    }
    seen.add(real);
    const found = (await readdir(folder, { withFileTypes: true })).sort(byName);
    const items: Item[] = [];
    for (const each of found) {
      const kind = await kindOf(each, join(folder, each.name), report);
      if (kind !== null) items.push({ name: each.name, kind });
    }
    return items;
  } catch (error) {
    report(`${folder}: it cannot be read: ${reasonOf(error)}; skipped`);
    return [];
  }
};

/** Of what a link leads to; null where it leads nowhere, which is reported. */
const kindOf = async (
  item: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">,
  path: string,
  report: Report,
): Promise<Item["kind"] | null> => {
  try {
    const found = item.isSymbolicLink() ? await stat(path) : item;
    return found.isFile() ? "file" : found.isDirectory() ? "folder" : "other";
  } catch (error) {
    report(`${path}: passed over, the link leads nowhere: ${reasonOf(error)}`);
    return null;
  }
};

type Named = { readonly name: string };

/** A manifest before the files that it names, and an agent's file after those that may be its session's. */
const byName = (a: Named, b: Named): number => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);
const rankOf = ({ name }: Named): number =>
  name === "export_manifest.json" ? 0 : /^agent-.*\.(?:jsonl|meta\.json)$/i.test(name) ? 2 : 1;

const isFolder = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Whatever is wrong with it is told when it is opened.
    return false;
  }
};
