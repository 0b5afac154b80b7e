/** How a reader moves a view: to exactly an entry (V5), or to an alternative and on to its tip (V2, V6). */
import type { EntryId, LineAsk } from "@espalier/shared";
import type { Write } from "./pending.js";
import { pendingWriteOf, type ViewCore } from "./view-core.js";

export type ViewMoves = {
  branch(id: EntryId | null): void;
  select(id: EntryId): void;
  step(id: EntryId, by: 1 | -1): void;
  follow(): void;
  /** From an entry down to the tip: what was selected there before, else the newest. */
  descend(from: EntryId | null): void;
  load(ask: Omit<LineAsk, "limit">, arrive: (leafId: EntryId | null) => void): void;
};

/** Ids that are named in one request for a line. */
export const MAX_CANDIDATES = 100;
const ALTERNATIVES_LOADED = 32;

export const createViewMoves = (core: ViewCore): ViewMoves => {
  const { host, overlay, selections, limit } = core;
  const { replica } = host;

  const load: ViewMoves["load"] = (ask, arrive) =>
    core.during(host.loadLine({ ...ask, limit }), (answer) => {
      if ("code" in answer) core.fail(answer);
      else arrive(answer.leafId);
    });

  const branch = (id: EntryId | null): void => {
    core.act();
    const write = id === null ? undefined : pendingWriteOf(host, id);
    if (write !== undefined) showWrite(write);
    else {
      overlay.clear();
      moveExactly(id, (at) => core.setLeaf(at, core.hasChildren(at)));
    }
    core.flush();
  };

  /** A pending write is shown below the entry that it hangs on, with those that it goes after. */
  const showWrite = (write: Write): void => {
    overlay.showOnly(write);
    moveExactly(write.anchorId, (at) => core.setLeaf(at));
  };

  const moveExactly = (id: EntryId | null, arrive: (id: EntryId | null) => void): void => {
    if (id === null || replica.tree.get(id) !== undefined) arrive(id);
    else load({ candidates: [id], walk: "stay" }, arrive);
  };

  const descend = (from: EntryId | null): void => {
    let at = from;
    for (;;) {
      if (!core.hasChildren(at)) return core.setLeaf(at);
      const next = selections.get(at) ?? newestChildOf(at);
      if (next === undefined || replica.tree.get(next) === undefined) {
        const candidates = [...selectedBelow(at), at];
        return load({ candidates, walk: "newest" }, (leafId) => core.setLeaf(leafId));
      }
      at = next;
    }
  };

  const newestChildOf = (id: EntryId | null): EntryId | undefined => {
    const count = replica.siblings.count(id);
    return count === undefined ? undefined : replica.siblings.at(id, count - 1);
  };

  /** What was selected below an entry, the deepest first. */
  const selectedBelow = (id: EntryId | null): EntryId[] => {
    const below: EntryId[] = [];
    for (let next = selections.get(id); next !== undefined; next = selections.get(next)) {
      below.push(next);
      if (below.length === MAX_CANDIDATES) break;
    }
    return below.reverse();
  };

  const select = (id: EntryId): void => {
    if (pendingWriteOf(host, id) !== undefined) return branch(id);
    core.act();
    overlay.clear();
    descend(id);
    core.flush();
  };

  const step = (id: EntryId, by: 1 | -1): void => {
    const entry = replica.tree.get(id)?.entry;
    if (entry === undefined) return;
    const { parentId } = entry;
    const index = replica.siblings.info(entry).index + by;
    const count = replica.siblings.count(parentId) ?? 0;
    if (index < 0 || index >= count) return;
    const known = replica.siblings.at(parentId, index);
    if (known !== undefined) return select(known);
    core.act();
    const from = Math.max(0, index - ALTERNATIVES_LOADED / 2);
    core.during(host.loadAlternatives(parentId, from, ALTERNATIVES_LOADED), (refused) => {
      const loaded = replica.siblings.at(parentId, index);
      if (loaded !== undefined) select(loaded);
      else core.fail(refused);
    });
    core.flush();
  };

  return {
    branch,
    select,
    step,
    descend,
    load,
    follow: () => {
      core.act();
      overlay.clear();
      descend(core.leafId);
      core.flush();
    },
  };
};
