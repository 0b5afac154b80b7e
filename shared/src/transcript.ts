/**
 * What people see of a line: `transcript(path)`. An entry's audience decides (C1), and nothing else does: a
 * compaction changes what the model reads, never what readers see (C2).
 */
import type { Entry, MessageEntry } from "./record.js";

/** A custom entry is for readers, a message for both, unless it says otherwise (C1). */
const audienceOf = (entry: Entry): string | undefined => {
  switch (entry.type) {
    case "message":
    case "erased":
      return entry.audience ?? "both";
    case "custom":
      return entry.audience ?? "reader";
    default:
      return undefined;
  }
};

/** Whether the model may read it. Changes of model and option, erased entries and unknown types never (C1). */
export const isForModel = (entry: Entry): boolean => {
  if (entry.type === "branch-summary") return true;
  if (entry.type !== "message" && entry.type !== "custom") return false;
  const audience = audienceOf(entry);
  return audience === "both" || audience === "model";
};

/**
 * The entries of a path that readers see, in its order: all but what is for the model alone. Compactions
 * stand where the summary was made, as a mark; erased entries and those of an unknown type keep their place.
 *
 * ```ts
 * for (const entry of transcript(pathTo(leaf).map((node) => node.entry))) draw(entry.id, entry);
 * ```
 */
export const transcript = (path: readonly Entry[]): readonly Entry[] =>
  path.filter((entry) => audienceOf(entry) !== "model");

/** The last message that readers see on a path, or null where there is none. */
export const lastMessage = (path: readonly Entry[]): MessageEntry | null => {
  for (let index = path.length - 1; index >= 0; index--) {
    const entry = path[index] as Entry;
    if (entry.type === "message" && audienceOf(entry) !== "model") return entry;
  }
  return null;
};
