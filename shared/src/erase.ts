/**
 * What is left of an entry whose content was erased (L2): its id, parent and place, who wrote it and when,
 * and what its neighbours need to be understood. Nothing of what it said, and nothing that was said of it.
 */
import type { Entry, Erase } from "./record.js";

export const eraseEntry = (entry: Entry, erase: Pick<Erase, "seq" | "time" | "author">): Entry => {
  const { id, parentId, seq, time, author, writer, status, size, runId, usage } = entry;
  return {
    kind: "entry",
    id,
    parentId,
    seq,
    rev: erase.seq,
    time,
    author,
    ...(writer === undefined ? {} : { writer }),
    status: status === "streaming" ? "aborted" : status,
    size,
    ...(runId === undefined ? {} : { runId }),
    ...(usage === undefined ? {} : { usage }),
    type: "erased",
    ...("role" in entry && entry.role !== undefined ? { role: entry.role } : {}),
    ...("audience" in entry && entry.audience !== undefined ? { audience: entry.audience } : {}),
    erasedAt: erase.time,
    erasedBy: erase.author,
  };
};
