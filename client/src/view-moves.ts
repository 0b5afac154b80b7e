/** How a reader moves a view: to exactly an entry (V5), or to an alternative and on to its tip (V2, V6). */
import type { EntryId, LineAsk } from "@espalier/shared";
import type { Write } from "./pending.js";
import { pendingWriteOf, type ViewCore } from "./view-core.js";

export type ViewMoves = {
  /** `isHeld`: whether or not it has children that are known (V4). */
  branch(id: EntryId | null, isHeld?: boolean): void;
  select(id: EntryId): void;
  step(id: EntryId, by: 1 | -1): void;
  follow(): void;
  /** From an entry down to the tip: what was selected there before, else the newest. */
  descend(from: EntryId | null): void;
  /** Moves to an entry that is loaded; what is above and beside it comes later where it is not (V9). */
  show(id: EntryId | null, isHeld?: boolean): void;
  /** Loads a line of up to `limit` entries, by default as many as the view begins with. */
  load(ask: ViewLineAsk, arrive: (leafId: EntryId | null) => void): void;
};

type ViewLineAsk = Omit<LineAsk, "limit"> & { readonly limit?: number };

/** Ids that are named in one request for a line. */
export const MAX_CANDIDATES = 100;
const ALTERNATIVES_LOADED = 32;
/** Past this a walk goes on from what its requests brought no more. */
const MAX_TRIED = 1000;

export const createViewMoves = (core: ViewCore): ViewMoves => {
  const { host, overlay, selections, limit } = core;
  const { replica } = host;

  const load: ViewMoves["load"] = (ask, arrive) =>
    core.during(host.loadLine({ limit, ...ask }), (answer) => {
      if ("code" in answer) core.fail(answer);
      else arrive(ask.walk === "stay" ? answer.leafId : grownFrom(answer.leafId));
    });

  /** What came at the tip after the answer, and before it was taken (V4). */
  const grownFrom = (leafId: EntryId | null): EntryId | null => {
    let at = leafId;
    for (;;) {
      const first = replica.siblings.at(at, 0);
      if (first === undefined || replica.tree.get(first) === undefined) return at;
      at = first;
    }
  };

  const show: ViewMoves["show"] = (id, isHeld) => {
    core.setLeaf(id, isHeld);
    const top = core.line.top?.entry;
    // It came live, and its parent was not loaded then.
    if (top === undefined || replica.siblings.count(top.parentId) !== undefined) return;
    load({ candidates: [id], walk: "stay" }, () => core.setLeaf(core.leafId, core.isHeld));
  };

  const branch = (id: EntryId | null, isHeld = false): void => {
    const write = id === null ? undefined : pendingWriteOf(host, id);
    core.act();
    if (write !== undefined) showWrite(write);
    else {
      overlay.clear();
      moveExactly(id, (at) => show(at, isHeld || core.hasChildren(at)));
    }
    core.flush();
  };

  /** A pending write is shown below the entry that it hangs on, with those that it goes after. */
  const showWrite = (write: Write): void => {
    overlay.showOnly(write);
    moveExactly(write.anchorId, (at) => show(at));
  };

  const moveExactly = (id: EntryId | null, arrive: (id: EntryId | null) => void): void => {
    if (id === null || replica.tree.get(id) !== undefined) arrive(id);
    else load({ candidates: [id], walk: "stay" }, arrive);
  };

  /** `tried` are the ids that were named in requests on the way: none leads here twice. */
  const descend = (from: EntryId | null, tried: ReadonlySet<EntryId> = new Set()): void => {
    let at = from;
    for (;;) {
      if (!core.hasChildren(at)) return show(at);
      const next = selectedFrom(at) ?? newestChildOf(at);
      if (next === undefined || replica.tree.get(next) === undefined) return loadBelow(at, tried);
      at = next;
    }
  };

  /** A state may come from anywhere: what came before an entry is not below it, and would be a circle. */
  const selectedFrom = (id: EntryId | null): EntryId | undefined => {
    const selected = selections.get(id);
    return selected !== undefined && seqOf(selected, Number.POSITIVE_INFINITY) > seqOf(id, 0)
      ? selected
      : undefined;
  };

  /** What was before a reset is not below the place before the first entry either (F8). */
  const seqOf = (id: EntryId | null, unloaded: number): number =>
    id === null ? replica.tree.resetSeq : (replica.tree.get(id)?.entry.seq ?? unloaded);

  const loadBelow = (id: EntryId | null, triedBefore: ReadonlySet<EntryId>): void => {
    const below = selectedBelow(id);
    const tried = new Set([...triedBefore, ...below]);
    load({ candidates: [...below, id], walk: "newest" }, (leafId) => {
      const left = tried.size < MAX_TRIED ? leftAt(leafId, id, tried) : undefined;
      if (left === undefined) show(leafId);
      else descend(left, tried);
    });
  };

  /** The highest entry of a line, at or below `from`, where something else was selected than what follows it. */
  const leftAt = (
    leafId: EntryId | null,
    from: EntryId | null,
    tried: ReadonlySet<EntryId>,
  ): EntryId | undefined => {
    const passed = new Set<EntryId>();
    let highest: EntryId | undefined;
    let node = leafId === null ? undefined : replica.tree.get(leafId);
    while (node !== undefined) {
      const { id } = node.entry;
      const selected = selectedFrom(id);
      if (selected !== undefined && !passed.has(selected) && !tried.has(selected)) highest = id;
      if (id === from) break;
      passed.add(id);
      node = node.parent ?? undefined;
    }
    return highest;
  };

  const newestChildOf = (id: EntryId | null): EntryId | undefined => {
    const count = replica.siblings.count(id);
    return count === undefined ? undefined : replica.siblings.at(id, count - 1);
  };

  /** What was selected below an entry, the deepest first: the server takes the first that it knows. */
  const selectedBelow = (id: EntryId | null): EntryId[] => {
    const below = new Set<EntryId>();
    for (let next = selectedFrom(id); next !== undefined && !below.has(next); next = selections.get(next))
      below.add(next);
    return [...below].slice(-MAX_CANDIDATES).reverse();
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
    const { index: from, total } = replica.siblings.info(entry);
    const index = from + by;
    if (index < 0 || index >= total) return;
    const known = replica.siblings.at(parentId, index);
    if (known !== undefined) return select(known);
    core.act();
    const first = Math.max(0, index - ALTERNATIVES_LOADED / 2);
    core.during(host.loadAlternatives(parentId, first, ALTERNATIVES_LOADED), (refused) => {
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
    descend: (from) => descend(from),
    show,
    load,
    follow: () => {
      core.act();
      overlay.clear();
      descend(core.leafId);
      core.flush();
    },
  };
};
