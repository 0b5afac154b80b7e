/** Widening what a view shows towards the first entry (V8). */
import type { Entry, EntryId } from "@espalier/shared";
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

  const tell = (): void => {
    core.touch();
    core.flush();
  };

  const loadMore = async (count: number): Promise<number> => {
    if (line.top === undefined) await core.whenLoaded();
    const before = line.length;
    const held = line.extend(count);
    if (held > 0) tell();
    if (held < count && core.hasOlder()) {
      await fetchMore(count - held);
      if (core.isClosed) return 0;
      tell();
    }
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
