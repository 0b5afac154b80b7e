/** What is read of a line without showing it: what the model would be sent (C2), settings, tools, usage. */
import {
  context,
  contextEntries,
  type Entry,
  type EntryId,
  type ErrorBody,
  newestChild,
  pathTo,
  settings,
  type TreeNode,
  tipOf,
  toolState,
} from "@espalier/shared";
import type { Replica } from "./replica.js";
import { errorOf } from "./requests.js";
import type { Session } from "./session-types.js";
import type { Sync } from "./sync.js";

export type SessionReads = Pick<Session, "context" | "settings" | "toolState" | "usage"> & {
  /** The entries that a leaf's context and settings are made of, the oldest first. */
  contextEntries(leafId: EntryId): Promise<readonly Entry[] | ErrorBody>;
};

const PAGE_ENTRIES = 1000;

export const createSessionReads = (replica: Replica, sync: Pick<Sync, "askUntilAnswered">): SessionReads => {
  /** The path to an entry, where it is loaded up to its root. */
  const wholePath = (leafId: EntryId): readonly Entry[] | null => {
    const leaf = replica.tree.get(leafId);
    const path = leaf === undefined ? [] : pathTo(leaf);
    return path[0]?.entry.parentId === null ? path.map(({ entry }) => entry) : null;
  };

  const askForEntries = async (leafId: EntryId): Promise<readonly Entry[] | ErrorBody> => {
    let entries: readonly Entry[] = [];
    for (;;) {
      const before = entries[0] === undefined ? {} : { before: entries[0].id };
      const reply = await sync.askUntilAnswered({
        type: "context",
        leaf: leafId,
        limit: PAGE_ENTRIES,
        ...before,
      });
      if (reply.type !== "context") return errorOf(reply) as ErrorBody;
      entries = [...reply.entries, ...entries];
      if (!reply.more || reply.entries.length === 0) return entries;
    }
  };

  const entriesOf: SessionReads["contextEntries"] = async (leafId) => {
    const path = wholePath(leafId);
    return path === null ? askForEntries(leafId) : contextEntries(path);
  };

  /** From an entry down to a leaf; undefined where the leaf is not loaded, or not below it. */
  const pathBetween = (entryId: EntryId, leaf: TreeNode | undefined): readonly Entry[] | undefined => {
    const path: Entry[] = [];
    for (let at = leaf ?? null; at !== null; at = at.parent) {
      path.push(at.entry);
      if (at.entry.id === entryId) return path.reverse();
    }
    return undefined;
  };

  return {
    contextEntries: entriesOf,
    context: async (leafId, options = {}) => {
      const entries = await entriesOf(leafId);
      return isError(entries) ? entries : context(entries, options);
    },
    settings: async (leafId) => {
      const entries = await entriesOf(leafId);
      return isError(entries) ? entries : settings(entries);
    },
    toolState: (entryId, callId, leafId) => {
      const node = replica.tree.get(entryId);
      if (node === undefined) return null;
      const leaf = leafId === undefined ? tipOf(node, newestChild) : replica.tree.get(leafId);
      const path = pathBetween(entryId, leaf);
      return path === undefined ? null : toolState(path, entryId, callId);
    },
    usage: async (of) => {
      const reply = await sync.askUntilAnswered({ type: "usage", ...of });
      return reply.type === "usage" ? reply.usage : (errorOf(reply) as ErrorBody);
    },
  };
};

export const isError = <T extends object>(value: T | ErrorBody): value is ErrorBody => "code" in value;
