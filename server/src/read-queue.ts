/**
 * What one connection asks to read: a few at a time, and only while the reader takes the answers, since a
 * small question can have a large one (J7). Pure.
 */
import { createQueue } from "./queue.js";

export type ReadQueue = {
  /** About how many bytes the questions take that wait. */
  readonly bytes: number;
  /** `read` calls `done` once, when its answer was given. */
  push(read: (done: () => void) => void, bytes: number): void;
  /** The reader has taken something. */
  resume(): void;
};

/** A session that is slow to load holds up none of the others. */
const AT_ONCE = 8;

export const createReadQueue = (hasRoom: () => boolean): ReadQueue => {
  const waiting = createQueue<{ read: (done: () => void) => void; bytes: number }>();
  let bytes = 0;
  let reading = 0;
  let isResuming = false;

  const done = (): void => {
    reading -= 1;
    resume();
  };

  const resume = (): void => {
    if (isResuming) return;
    isResuming = true;
    while (reading < AT_ONCE && hasRoom()) {
      const next = waiting.shift();
      if (next === undefined) break;
      bytes -= next.bytes;
      reading += 1;
      next.read(done);
    }
    isResuming = false;
  };

  return {
    get bytes() {
      return bytes;
    },
    push: (read, more) => {
      waiting.push({ read, bytes: more });
      bytes += more;
      resume();
    },
    resume,
  };
};
