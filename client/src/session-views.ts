/** The views of one session, beside each other: each is told what concerns it, a token only those that show it (V11). */
import type { EntryId, LineAsk } from "@espalier/shared";
import type { WriteChange } from "./pending.js";
import type { ReplicaChange } from "./replica.js";
import { createView, type ViewControl, type ViewSession } from "./view.js";
import type { ViewOptions } from "./view-types.js";

export type SessionViews = {
  /** What a view tells of itself. */
  readonly watching: Pick<ViewSession, "watch" | "unwatch" | "remove">;
  add(host: ViewSession, options: ViewOptions): ViewControl;
  /** Puts changes into all views before any of their listeners hears of one. */
  apply(changes: readonly ReplicaChange[]): void;
  /** The lines to ask for in a join (J2), and what takes its answer's leaves. */
  lines(): { asks: LineAsk[]; restart(leaves: readonly { leaf: EntryId | null }[]): void };
  /** The session is joined. */
  start(): void;
  writeChanged(change: WriteChange): void;
  branchesKnown(parentIds: Iterable<EntryId | null>): void;
  close(): void;
};

/** Lines that one join may ask for; further views ask for theirs after it. */
const JOIN_LINES = 64;

export const createSessionViews = (): SessionViews => {
  const views = new Set<ViewControl>();
  /** The views that show a streaming entry. */
  const watchersByEntry = new Map<EntryId, Set<ViewControl>>();

  const watching: SessionViews["watching"] = {
    watch: (entryId, view) => {
      const watchers = watchersByEntry.get(entryId) ?? new Set();
      watchers.add(view);
      watchersByEntry.set(entryId, watchers);
    },
    unwatch: (entryId, view) => {
      const watchers = watchersByEntry.get(entryId);
      if (watchers?.delete(view) === true && watchers.size === 0) watchersByEntry.delete(entryId);
    },
    remove: (view) => void views.delete(view),
  };

  const flushWhere = (isConcerned: (view: ViewControl) => boolean): void => {
    const concerned = [...views].filter(isConcerned);
    for (const view of concerned) view.flush();
  };

  return {
    watching,
    add: (host, options) => {
      const view = createView(host, options);
      views.add(view);
      return view;
    },
    apply: (changes) => {
      const touched = new Set<ViewControl>();
      for (const change of changes) {
        const concerned = change.type === "grown" ? watchersByEntry.get(change.node.entry.id) : views;
        for (const view of concerned ?? []) {
          view.applied(change);
          touched.add(view);
        }
        if ("node" in change && change.node.entry.status !== "streaming")
          watchersByEntry.delete(change.node.entry.id);
      }
      for (const view of touched) view.flush();
    },
    lines: () => {
      const asked = [...views];
      return {
        asks: asked.slice(0, JOIN_LINES).map((view) => view.ask()),
        restart: (leaves) => {
          watchersByEntry.clear();
          asked.forEach((view, index) => {
            if (views.has(view)) view.restart(leaves[index]?.leaf);
          });
          for (const view of asked) view.flush();
        },
      };
    },
    start: () => {
      for (const view of [...views]) view.start();
    },
    writeChanged: (change) => flushWhere((view) => view.writeChanged(change)),
    branchesKnown: (parentIds) => flushWhere((view) => view.branchesKnown(parentIds)),
    close: () => {
      for (const { view } of [...views]) view.close();
    },
  };
};
