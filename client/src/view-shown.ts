/** What is read of a view: the same objects until they change (S8). */
import { type EntryId, lastMessage, type TreeNode, toolState, transcript } from "@espalier/shared";
import { shownLeafId, type ViewCore } from "./view-core.js";
import type { View, ViewEntry, ViewSnapshot } from "./view-types.js";

export type ViewShown = Pick<
  View,
  "get" | "at" | "getMessages" | "transcript" | "lastMessage" | "toolState"
> & {
  snapshot(): ViewSnapshot;
  /** It is shown no more. */
  forget(id: EntryId): void;
};

export const createViewShown = (core: ViewCore): ViewShown => {
  const { line, overlay, host } = core;
  const shownById = new Map<EntryId, ViewEntry>();
  let snapshot: ViewSnapshot | null = null;
  let snapshotVersion = -1;

  const confirmed = ({ entry }: TreeNode): ViewEntry => {
    const held = shownById.get(entry.id);
    if (held !== undefined && held.entry === entry) return held;
    const made: ViewEntry = Object.freeze({ id: entry.id, entry, state: "confirmed", error: null });
    shownById.set(entry.id, made);
    return made;
  };

  const makeSnapshot = (): ViewSnapshot => {
    const confirmedIds = line.ids();
    const pending = overlay.entries;
    let ids: readonly EntryId[] | undefined;
    return Object.freeze({
      get ids() {
        ids ??= pending.length === 0 ? confirmedIds() : confirmedIds().concat(pending.map(({ id }) => id));
        return ids;
      },
      length: line.length + pending.length,
      leafId: shownLeafId(core),
      isHeld: core.isHeld,
      hasOlder: core.hasOlder(),
      isLoading: core.isLoading,
      error: core.error,
    });
  };

  const get = (id: EntryId): ViewEntry | undefined => {
    const node = line.has(id) ? host.replica.tree.get(id) : undefined;
    return node === undefined ? overlay.entries.find((pending) => pending.id === id) : confirmed(node);
  };

  const all = (): readonly ViewEntry[] => [...line.nodes.map(confirmed), ...overlay.entries];

  return {
    forget: (id) => void shownById.delete(id),
    snapshot: () => {
      if (snapshot === null || snapshotVersion !== core.version) {
        snapshotVersion = core.version;
        snapshot = makeSnapshot();
      }
      return snapshot;
    },
    at: (index) => {
      const node = line.nodes[index];
      return node === undefined ? overlay.entries[index - line.length] : confirmed(node);
    },
    get,
    getMessages: all,
    transcript: () => {
      const shown = all();
      const told = new Set(transcript(shown.map(({ entry }) => entry)));
      return shown.filter(({ entry }) => told.has(entry));
    },
    lastMessage: () => {
      const pending = lastMessage(overlay.entries.map(({ entry }) => entry));
      if (pending !== null) return get(pending.id);
      for (let index = line.length - 1; index >= 0; index -= 1) {
        const node = line.nodes[index] as TreeNode;
        if (lastMessage([node.entry]) !== null) return confirmed(node);
      }
      return undefined;
    },
    toolState: (entryId, callId) => {
      const from = line.nodes.findLastIndex(({ entry }) => entry.id === entryId);
      const path = [
        ...(from < 0 ? [] : line.nodes.slice(from).map(({ entry }) => entry)),
        ...overlay.entries.map(({ entry }) => entry),
      ];
      return toolState(path, entryId, callId);
    },
  };
};
