/** One line on a terminal that says how far an import has come; nothing anywhere else. */
import type { Runtime } from "@espalier/shared";
import { escapeLine } from "./escape.js";
import type { Output } from "./output.js";
import { cutTo } from "./width.js";
import { countOf } from "./wording.js";

export type Progress = {
  /** A file that will be read, or one beside it. */
  expect(name: string, bytes: number): void;
  read(bytes: number): void;
  /** One more session was read. */
  taken(): void;
  /** Makes room for another line. */
  clear(): void;
};

const EVERY_MS = 100;
/** A terminal that does not know its width says 0. */
const MIN_COLUMNS = 40;
const CLEAR = "\r\x1b[2K";

export const createProgress = (err: Output, runtime: Pick<Runtime, "now">): Progress => {
  let name = "";
  let total = 0;
  let done = 0;
  let sessions = 0;
  let isShown = false;
  let drawnAt = Number.NEGATIVE_INFINITY;

  const draw = (): void => {
    const now = runtime.now();
    if (now - drawnAt < EVERY_MS) return;
    drawnAt = now;
    isShown = true;
    // What is read twice is counted twice, and no more than all of it.
    const bytes = `${megabytes(Math.min(done, total))} of ${megabytes(total)} MB`;
    const line = `${bytes}, ${countOf(sessions, "session")}  ${escapeLine(name)}`;
    err.write(CLEAR + cutTo(line, Math.max(err.columns, MIN_COLUMNS) - 1));
  };

  return err.isTerminal
    ? {
        expect: (file, bytes) => {
          name = file;
          total += bytes;
        },
        read: (bytes) => {
          done += bytes;
          draw();
        },
        taken: () => {
          sessions += 1;
          draw();
        },
        clear: () => {
          if (isShown) err.write(CLEAR);
          isShown = false;
        },
      }
    : SILENT;
};

export const SILENT: Progress = { expect: () => {}, read: () => {}, taken: () => {}, clear: () => {} };

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
