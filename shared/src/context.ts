/**
 * What is sent to the model: a pure function of a path (C1–C8). It reads the entries, repairs the pairs of tool
 * calls and results in what it gives back, and stores nothing.
 */

import { cutAt, type Line, lineOf, neededOf, type Walk } from "./context-line.js";
import { type ContextMessage, type EditMessage, editedMessage, messageOf } from "./context-message.js";
import type { Entry } from "./record.js";
import { createToolPairs } from "./tool-pairs.js";

export type ContextOptions = {
  /**
   * Clears or shortens what one request sends (old results of tools, say), or leaves a message out with null
   * (C10). It is asked once for each message, before calls and results are paired, so that what it leaves out
   * makes no invalid pair. What it is given is frozen.
   */
  readonly edit?: EditMessage;
};

/**
 * The messages for the model, from a path whose last entry is the leaf. Where the path holds a compaction the
 * latest one wins: the system messages above its cut, its summary as a user message, the entries that it keeps
 * by id, those from its first kept one on, and all that came after what it summarised.
 *
 * Entries that say nothing are left out: empty replies, erased entries, unknown types, what is for readers
 * alone. A call without a result is followed by one that says "interrupted", and a result always stands right
 * behind the message of its call. The list and its messages are frozen.
 *
 * ```ts
 * const messages = context(path, { edit: (message) => (message.role === "tool" ? shortened(message) : message) });
 * ```
 */
export const context = (path: readonly Entry[], { edit }: ContextOptions = {}): readonly ContextMessage[] => {
  const pairs = createToolPairs();
  for (const place of readOf(lineOfPath(path), walkOf(path))) {
    const message = messageOf(path[place] as Entry);
    pairs.push(message === null || edit === undefined ? message : editedMessage(message, edit));
  }
  return pairs.messages();
};

/**
 * The entries of a path that `context` and `settings` depend on: both give the same for them as for the whole
 * path, so they are all that one who wants the context needs to be sent.
 */
export const contextEntries = (path: readonly Entry[]): readonly Entry[] =>
  neededOf(lineOfPath(path), walkOf(path)).map((place) => path[place] as Entry);

/** The items of a line in the order in which the model reads them, the summary's compaction among them. */
export const readOf = <T>({ cut, after }: Line<T>, walk: Walk<T>): readonly T[] => {
  if (cut === null) return after;
  const window = cut.window.filter((item) => walk.entryOf(item).type !== "compaction");
  return [...cut.systems, cut.compaction, ...cut.kept, ...window, ...after];
};

const walkOf = (path: readonly Entry[]): Walk<number> => ({
  entryOf: (place) => path[place] as Entry,
  above: (place) => (place === 0 ? null : place - 1),
});

const lineOfPath = (path: readonly Entry[]): Line<number> => {
  const walk = walkOf(path);
  return lineOf(path.length === 0 ? null : path.length - 1, walk, (compaction) => cutAt(compaction, walk));
};
