/**
 * A file of JSON lines in the control folder that is only ever added to, one line a write, each synced
 * before the next. So only its last line can be torn; that one was never acknowledged, and is cut off when
 * the file is read. A bad line before it is damage.
 */
import { EspalierError } from "@espalier/shared";
import { type Disk, readWhole, withFile } from "./disk.js";

export type LineFile<T> = {
  /** What was added before, in order. Call it once, before all else. */
  read(): Promise<T[]>;
  /** Resolves when it is on disk; rejects where it could not be put there. */
  add(item: T): Promise<void>;
  /** Forgets all lines. */
  clear(): Promise<void>;
};

/** `toItem` gives null for a line that is none. */
export const createLineFile = <T>(
  disk: Disk,
  control: string,
  name: string,
  toItem: (value: unknown) => T | null,
): LineFile<T> => {
  const path = `${control}/${name}`;
  let length = 0;
  let hasName = false;
  let failure: Error | null = null;
  let work: Promise<void> = Promise.resolve();

  const inTurn = (job: () => Promise<void>): Promise<void> => {
    const done = work.then(job);
    work = done.catch(() => {});
    return done;
  };

  /** After a sync: a line that is believed now must be there at the next start too. */
  const read = async (): Promise<T[]> => {
    if ((await disk.stat(path)) === null) return [];
    await withFile(disk, path, "write", (file) => file.sync());
    await disk.syncDir(control);
    hasName = true;
    const bytes = (await readWhole(disk, path)) ?? Buffer.alloc(0);
    const items: T[] = [];
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, length)) {
      const item = parse(bytes.toString("utf8", length, end), toItem);
      if (item === null && bytes.includes(NEWLINE, end + 1)) throw damaged(path, items.length + 1);
      if (item === null) break;
      items.push(item);
      length = end + 1;
    }
    if (length < bytes.length) await cut();
    return items;
  };

  const cut = (): Promise<void> =>
    withFile(disk, path, "write", async (file) => {
      await file.truncate(length);
      await file.sync();
    });

  /** What was not written as a whole is overwritten, or cut, before anything else is added. */
  const addNow = async (item: T): Promise<void> => {
    if (failure !== null) throw failure;
    const bytes = Buffer.from(`${JSON.stringify(item)}\n`);
    await withFile(disk, path, "write", async (file) => {
      if ((await file.size()) > length) await file.truncate(length);
      await file.write(bytes, length);
      await safe(file.sync());
    });
    if (!hasName) await safe(disk.syncDir(control));
    hasName = true;
    length += bytes.length;
  };

  /** A failed sync cannot be believed later. */
  const safe = (sync: Promise<void>): Promise<void> =>
    sync.catch((error: Error) => {
      failure = error;
      throw error;
    });

  return {
    read,
    add: (item) => inTurn(() => addNow(item)),
    clear: () =>
      inTurn(async () => {
        if (length === 0) return;
        length = 0;
        await cut();
      }),
  };
};

const NEWLINE = 0x0a;

const parse = <T>(text: string, toItem: (value: unknown) => T | null): T | null => {
  try {
    return toItem(JSON.parse(text));
  } catch {
    return null;
  }
};

const damaged = (path: string, line: number): EspalierError =>
  new EspalierError("damaged", `unable to open ${path}; its line ${line} is not as written`);
