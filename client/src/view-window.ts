/** Widening what a view shows towards the first entry (V8). */
import type { Entry } from "@espalier/shared";
import type { ViewCore } from "./view-core.js";

export type ViewWindow = {
  loadOlder(count?: number): Promise<number>;
  loadUntil(test: (entry: Entry) => boolean): Promise<Entry | undefined>;
};

const PAGE_ENTRIES = 50;
const SEARCH_ENTRIES = 200;

export const createViewWindow = (core: ViewCore): ViewWindow => {
  const { host, line } = core;
  let older: Promise<number> | null = null;

  const loadMore = async (count: number): Promise<number> => {
    const before = line.length;
    const missing = count - line.extend(count);
    if (missing > 0 && core.hasOlder()) await fetchMore(missing);
    if (core.isClosed) return 0;
    core.touch();
    core.flush();
    return Math.max(0, line.length - before);
  };

  const fetchMore = async (count: number): Promise<void> => {
    const top = line.top?.entry.id;
    const { leafId } = core;
    if (top !== undefined) {
      const refused = await host.loadPage(top, count);
      if (refused !== null) core.fail(refused);
      // Elsewhere meanwhile: what came is held, and shown when it is asked for there.
      else if (line.top?.entry.id === top) line.extend(count);
    } else if (leafId !== null) {
      const answer = await host.loadLine({ candidates: [leafId], walk: "stay", limit: count });
      if ("code" in answer) core.fail(answer);
      else if (core.leafId === leafId && line.top === undefined) core.setLeaf(leafId, core.isHeld);
    }
  };

  const loadOlder = (count = PAGE_ENTRIES): Promise<number> => {
    older ??= loadMore(count).finally(() => {
      older = null;
    });
    return older;
  };

  return {
    loadOlder,
    loadUntil: async (test) => {
      let untested = line.length;
      while (!core.isClosed) {
        for (let index = untested - 1; index >= 0; index -= 1) {
          const entry = line.nodes[index]?.entry;
          if (entry !== undefined && test(entry)) return entry;
        }
        if (!core.hasOlder()) return undefined;
        untested = await loadOlder(SEARCH_ENTRIES);
        if (untested === 0) return undefined;
      }
      return undefined;
    },
  };
};
