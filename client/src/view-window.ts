/** Widening what a view shows towards the first entry (V8). */
import type { Entry, EntryId } from "@espalier/shared";
import type { ViewCore } from "./view-core.js";
import { MAX_ENTRIES } from "./view-options.js";

export type ViewWindow = {
  loadOlder(count?: number): Promise<number>;
  loadUntil(test: (entry: Entry) => boolean): Promise<Entry | undefined>;
};

const PAGE_ENTRIES = 50;
const SEARCH_ENTRIES = 200;

export const createViewWindow = (core: ViewCore): ViewWindow => {
  const { host, line } = core;
  let older: Promise<number> | null = null;

  const tell = (): void => {
    core.touch();
    core.flush();
  };

  const loadMore = async (count: number): Promise<number> => {
    if (line.top === undefined) await core.whenLoaded();
    let shown = line.extend(count);
    if (shown > 0) tell();
    // A request for each thousand; one that brings nothing is the last.
    for (let left = count - shown; left > 0 && core.hasOlder() && !core.isClosed; left -= MAX_ENTRIES) {
      const came = await fetchMore(Math.min(MAX_ENTRIES, left));
      if (core.isClosed) return 0;
      tell();
      if (came === 0) break;
      shown += came;
    }
    return shown;
  };

  /** How many more are shown; none where the view is elsewhere meanwhile: what came is held for then. */
  const fetchMore = async (count: number): Promise<number> => {
    const top = line.top?.entry.id;
    const { leafId } = core;
    if (top !== undefined) {
      const refused = await host.loadPage(top, count);
      if (refused !== null) core.fail(refused);
      else if (line.top?.entry.id === top) return line.extend(count);
    } else if (leafId !== null) {
      const answer = await host.loadLine({ candidates: [leafId], walk: "stay", limit: count });
      if ("code" in answer) core.fail(answer);
      else if (core.leafId === leafId && line.top === undefined) {
        core.setLeaf(leafId, core.isHeld);
        return line.length;
      }
    }
    return 0;
  };

  const loadOlder = (count = PAGE_ENTRIES): Promise<number> => {
    const whole = Number.isNaN(count) ? PAGE_ENTRIES : Math.floor(count);
    if (whole < 1) return Promise.resolve(0);
    older ??= loadMore(whole).finally(() => {
      older = null;
    });
    return older;
  };

  return {
    loadOlder,
    loadUntil: async (test) => {
      // Above this one nothing was tested yet; elsewhere meanwhile, it begins anew.
      let testedId: EntryId | undefined;
      if (line.top === undefined) await core.whenLoaded();
      while (!core.isClosed) {
        const tested = line.nodes.findIndex(({ entry }) => entry.id === testedId);
        for (let index = (tested < 0 ? line.length : tested) - 1; index >= 0; index -= 1) {
          const entry = line.nodes[index]?.entry;
          if (entry !== undefined && test(entry)) return entry;
        }
        const topId = line.top?.entry.id;
        testedId = topId;
        if (!core.hasOlder()) return undefined;
        const loaded = await loadOlder(SEARCH_ENTRIES);
        if (loaded === 0 && line.top?.entry.id === topId) return undefined;
      }
      return undefined;
    },
  };
};
