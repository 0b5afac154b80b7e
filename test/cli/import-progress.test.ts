/** The line that says how far an import has come. */
import { expect, test } from "vitest";
import { createProgress } from "../../server/src/cli/import-progress.js";
import type { Output } from "../../server/src/cli/output.js";

const createScreen = (isTerminal: boolean) => {
  const written: string[] = [];
  const output: Output = {
    isTerminal,
    isColoured: false,
    columns: 60,
    isClosed: false,
    fault: null,
    write: (text) => void written.push(text),
    drained: async () => {},
    onClosed: () => {},
  };
  return { output, written };
};

const CLEAR = "\r\x1b[2K";

test("[cli] it is redrawn in place, not more often than it can be read, and makes room for others", () => {
  const { output, written } = createScreen(true);
  let now = 0;
  const progress = createProgress(output, { now: () => now });
  progress.expect("conversations.json", 300_000_000);
  progress.read(1_000_000);
  now = 50;
  progress.read(1_000_000);
  now = 100;
  progress.taken();
  progress.clear();
  progress.clear();
  expect(written).toEqual([
    `${CLEAR}1.0 of 300.0 MB, 0 sessions  conversations.json`,
    `${CLEAR}2.0 of 300.0 MB, 1 session  conversations.json`,
    CLEAR,
  ]);
});

test("[cli] what is read twice is never more than all of it, and a long name is cut", () => {
  const { output, written } = createScreen(true);
  const progress = createProgress(output, { now: () => 0 });
  progress.expect("n".repeat(100), 1_000_000);
  progress.read(2_000_000);
  expect(written[0]).toMatch(/1\.0 of 1\.0 MB, 0 sessions {2}n+…$/);
  expect(written[0]).toHaveLength(CLEAR.length + 59);
});

test("[cli] where nobody looks there is none", () => {
  const { output, written } = createScreen(false);
  const progress = createProgress(output, { now: () => 0 });
  progress.expect("x", 1);
  progress.read(1);
  progress.taken();
  progress.clear();
  expect(written).toEqual([]);
});
