// One setup at a time, across processes: a file that names the process at work, and dies with it.

import { createHash } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./run.mjs";

const LOCK_POLL_MS = 100;
const POLLS_BEFORE_SAYING_SO = 10;
const LOCK_PATH = join(
  tmpdir(),
  `espalier-setup-${createHash("sha256").update(ROOT).digest("hex").slice(0, 16)}`,
);

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** The id of the process that holds the lock; not a number where it has just let go. */
function holder() {
  try {
    return Number(readFileSync(LOCK_PATH, "utf8"));
  } catch {
    return Number.NaN;
  }
}

/** Takes the lock, unless a running process holds it. */
function tryLock() {
  const draft = `${LOCK_PATH}-${process.pid}`;
  writeFileSync(draft, String(process.pid));
  try {
    linkSync(draft, LOCK_PATH); // at once, content and all; fails where the lock exists
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    const pid = holder();
    if (pid && !isRunning(pid)) rmSync(LOCK_PATH, { force: true });
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Waits until no other setup of this workspace runs. Two at once would install into the same folders.
 *
 * @returns a function that lets the next one in
 */
export async function lock() {
  const unlock = () => rmSync(LOCK_PATH, { force: true });
  for (let polls = 0; !tryLock(); polls += 1) {
    if (polls === POLLS_BEFORE_SAYING_SO) process.stderr.write("Waiting for another setup to end …\n");
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  process.once("exit", unlock);
  return () => {
    process.off("exit", unlock);
    unlock();
  };
}
