/**
 * Puts a whole file in a session's place. It is written to a file of another name in the control folder,
 * piece by piece, and synced; only then it gets its name, and the folders are synced. A crash before that
 * leaves a file that the next start removes, one after it the whole session: nothing else can be torn.
 */
import type { SessionId } from "@espalier/shared";
import { type Disk, NEW, writeWhole } from "./disk.js";
import { CONTROL_DIR, sessionDirs, sessionPath } from "./names.js";
import { syncSessionDirs } from "./recovery.js";

/** A written file that waits for its place. */
export type Waiting = { readonly path: string; readonly length: number };

export type Places = {
  /** Rejects, leaving nothing, where it cannot be written. */
  write(pieces: AsyncIterable<string | Buffer>): Promise<Waiting>;
  /** Gives it the place of the session's file. */
  place(waiting: Waiting, id: SessionId): Promise<void>;
  drop(waiting: Pick<Waiting, "path">): Promise<void>;
};

/** Large enough to be written fast, and small enough to wait for. */
const PIECE_CHARS = 256 * 1024;

/** Lines gathered into pieces that are worth a write. */
export async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const line of lines) {
    piece += line;
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

export const createPlaces = (disk: Disk, dir: string): Places => {
  const control = `${dir}/${CONTROL_DIR}`;
  let count = 0;
  const drop = ({ path }: Pick<Waiting, "path">): Promise<void> => disk.remove(path).catch(() => {});
  return {
    drop,
    write: async (pieces) => {
      count += 1;
      const path = `${control}/session-${count}${NEW}`;
      try {
        return { path, length: await writeWhole(disk, path, pieces) };
      } catch (error) {
        await drop({ path });
        throw error;
      }
    },
    place: async ({ path }, id) => {
      const folders = sessionDirs(dir, id);
      if (folders.length > 1) await disk.makeDir(folders.at(-1) as string);
      await disk.rename(path, sessionPath(dir, id));
      // That it has lost its other name need not be safe: a start would remove that alone.
      await syncSessionDirs(disk, dir, new Set([id]));
    },
  };
};
