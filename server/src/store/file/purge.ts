/**
 * Makes sure that the journal holds nothing of what was put into it so far: its segment is closed and
 * another begun, everything is made safe in the sessions' files, and the segments are removed. Each of
 * these steps is one that is made anyway when a segment is full (DISK.md), so any of them may be torn.
 * Those that ask before it begins share one.
 */
import type { Journal } from "./journal.js";
import type { WriteBehind } from "./write-behind.js";

export type Purge = () => Promise<void>;

export const createPurge = (
  journal: Pick<Journal, "rotate">,
  writeBehind: Pick<WriteBehind, "retireAll" | "isBehind">,
): Purge => {
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  const run = async (): Promise<void> => {
    if (writeBehind.isBehind) await writeBehind.retireAll();
    await journal.rotate();
    await writeBehind.retireAll();
  };

  return () => {
    waiting ??= running
      .catch(() => {})
      .then(() => {
        waiting = null;
        running = run();
        return running;
      });
    return waiting;
  };
};
