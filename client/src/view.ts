/**
 * A view: a leaf, what was selected, a window of one line, and listeners (V1–V12). It belongs to one
 * client; nothing that it does is seen elsewhere except what it writes.
 *
 * It shows the confirmed line up to its leaf, then its own pending writes (O1). This file says how
 * records change it and puts its rooms together; whatever changes it ends in `flush`, which tells the
 * listeners once.
 */
import { type EntryId, isId, type LineAsk, RESET, type Run, type TreeNode } from "@espalier/shared";
import type { Placer, Write, WriteChange } from "./pending.js";
import type { ReplicaChange } from "./replica.js";
import { createViewCore, type ViewHost } from "./view-core.js";
import { createViewLeaf } from "./view-leaf.js";
import { createViewMoves, MAX_CANDIDATES } from "./view-moves.js";
import { createViewNewest } from "./view-newest.js";
import { MAX_ENTRIES } from "./view-options.js";
import { createViewPrompts } from "./view-prompts.js";
import { createViewShown } from "./view-shown.js";
import { exportState } from "./view-state.js";
import type { View, ViewOptions } from "./view-types.js";
import { createViewWindow } from "./view-window.js";
import { createViewWrites } from "./view-writes.js";

/** What the session tells a view. */
export type ViewControl = Placer & {
  readonly view: View;
  /** The line to ask for in a join (J2). */
  ask(): LineAsk;
  /** The session is joined: a view that has no line yet takes one. */
  start(): void;
  /** A join gave a fresh window with this leaf; undefined where this view's line was not asked for. */
  restart(leafId: EntryId | null | undefined): void;
  applied(change: ReplicaChange): void;
  /** Children of these are known that were not; true where that bears on what is shown. */
  branchesKnown(parentIds: Iterable<EntryId | null>): boolean;
  /** A write was acknowledged, refused or taken away; true where the view showed it. */
  writeChanged(change: WriteChange): boolean;
  /** Shows writes that an earlier page left in the storage. */
  adopt(writes: readonly Write[]): void;
  flush(): void;
};

export type ViewSession = ViewHost & {
  /** Begins or ends telling a view of each append to a streaming entry (V11). */
  watch(id: EntryId, view: ViewControl): void;
  unwatch(id: EntryId, view: ViewControl): void;
  remove(view: ViewControl): void;
};

export const createView = (host: ViewSession, options: ViewOptions): ViewControl => {
  const { replica, queue } = host;
  const core = createViewCore(host, options, {
    watch: (id) => host.watch(id, control),
    unwatch: (id) => {
      forget(id);
      host.unwatch(id, control);
    },
  });
  const { line, overlay, events } = core;
  const placer: Placer = { placeOf: (write, index) => overlay.placeOf(write, index, core.leafId) };
  const moves = createViewMoves(core);
  const newest = createViewNewest(core, moves);
  const window = createViewWindow(core);
  const writes = createViewWrites(core, moves, placer);
  const { snapshot, forget, ...shown } = createViewShown(core);

  const isOfLine = (run: Run): boolean =>
    core.awaitedRuns.has(run.id) ||
    (run.inputId !== null && line.has(run.inputId)) ||
    line.leaf?.entry.runId === run.id;

  /** V3, V4: what was written here moves the view, what grows at its tip is shown, nothing else is. */
  const added = (node: TreeNode): void => {
    const { id, parentId, runId } = node.entry;
    const own = queue.ofEntry(id);
    const isOwn = own !== undefined && overlay.has(own.id);
    if (isOwn) overlay.renew();
    const isAwaited = runId !== undefined && core.awaitedRuns.delete(runId);
    // On a branch that is not loaded it is shown at once, what is above and beside it when that comes.
    if (isOwn || isAwaited) moves.show(id);
    else if (options.follow === "newest") newest.added(node);
    else if (isGrowing() && parentId === core.leafId) core.growTo(id);
    const sibling = line.childOf(parentId);
    if (sibling !== undefined && sibling !== node) events.branchesChanged(sibling.entry.id);
  };

  const isGrowing = (): boolean =>
    core.isReady && !core.isHeld && !overlay.isAnchored && line.leaf?.entry.id === (core.leafId ?? undefined);

  const entryChanged = ({ entry: { id } }: TreeNode): void => {
    if (line.has(id)) events.entryChanged(id);
  };

  const runChanged = ({ id }: Extract<ReplicaChange, { type: "run" }>): void => {
    const run = replica.runs.get(id);
    if (run !== undefined && isOfLine(run)) events.runChanged(id);
  };

  /** Where the view was when a join asked for its line. */
  let asked: { leafId: EntryId | null; walk: LineAsk["walk"] } | null = null;

  /** As many as are shown, or as it began with. */
  const lengthWanted = (): number => Math.max(core.limit, line.length);

  const lineAsk = (): LineAsk => {
    const limit = Math.min(MAX_ENTRIES, lengthWanted());
    const pending = overlay.entries.map(({ id }) => id).filter(isId);
    const candidates: (EntryId | null)[] = pending.slice(-MAX_CANDIDATES).reverse();
    if (!core.isPlaced) return { candidates, walk: "oldest", limit };
    const ancestors = line.nodes.slice(-MAX_CANDIDATES).map(({ entry }) => entry.id);
    const confirmed = ancestors.length === 0 ? [core.leafId] : ancestors.reverse();
    // What was written here stands at the leaf, where the line would go on to what it is an alternative to.
    const walk = core.isHeld || overlay.isAnchored ? "stay" : "oldest";
    return { candidates: [...candidates, ...confirmed], walk, limit };
  };

  /** Takes the line on which the view is; unless it is on its way to another one already. */
  const takeLine = (ask = lineAsk(), length = lengthWanted()): void => {
    const [first] = ask.candidates;
    if (core.isMoving) return;
    if (ask.walk === "stay" && first != null && replica.tree.get(first) !== undefined)
      core.setLeaf(first, core.isHeld, length);
    else moves.load(ask, (leafId) => core.setLeaf(leafId, core.isHeld, length));
  };

  const start = (): void => {
    if (core.isReady) return;
    core.ready();
    core.learnReset();
    takeLine();
    core.flush();
  };

  const restart = (leafId: EntryId | null | undefined): void => {
    const isElsewhere = core.isPlaced && asked?.leafId !== core.leafId;
    const length = lengthWanted();
    const ask = lineAsk();
    core.ready();
    line.clear();
    overlay.renew();
    events.restarted();
    if (core.learnReset()) return takeLine(lineAsk(), length);
    if (leafId === undefined) {
      if (core.isPlaced) core.setLeaf(core.leafId, core.isHeld, length);
      return takeLine(ask, length);
    }
    core.setLeaf(isElsewhere ? core.leafId : leafId, core.isHeld, length);
    const { limit } = ask;
    if (core.isHeld || overlay.isAnchored) {
      if (line.leaf === undefined && core.leafId !== null) takeLine({ ...lineAsk(), limit }, length);
    } else if (isElsewhere || (asked?.walk === "stay" && core.hasChildren(core.leafId)))
      takeLine({ ...lineAsk(), limit }, length);
  };

  const control: ViewControl = {
    ...placer,
    view: {
      get snapshot() {
        return snapshot();
      },
      subscribe: events.subscribe,
      subscribeEntry: events.subscribeEntry,
      ...shown,
      branchInfo: (id) => {
        const node = replica.tree.get(id);
        return node === undefined ? ALONE : replica.siblings.info(node.entry);
      },
      branch: (id) => moves.branch(id),
      select: moves.select,
      step: moves.step,
      follow: moves.follow,
      ...window,
      ...writes,
      ...createViewPrompts(core, moves),
      ...createViewLeaf(core, moves),
      runs: () => [...replica.runs.open()].filter(isOfLine),
      state: () => exportState(core),
      close: () => {
        core.close();
        host.remove(control);
      },
    },
    ask: () => {
      const ask = lineAsk();
      asked = { leafId: core.leafId, walk: ask.walk };
      return ask;
    },
    start,
    restart,
    applied: (change) => {
      if (change.type === "added") added(change.node);
      else if (change.type === "run") runChanged(change);
      else if (change.type !== "register") entryChanged(change.node);
      else if (change.key === RESET) core.learnReset();
    },
    branchesKnown: (parentIds) => {
      let isConcerned = false;
      for (const parentId of parentIds) {
        const child = line.childOf(parentId);
        if (child === undefined) continue;
        events.branchesChanged(child.entry.id);
        isConcerned = true;
      }
      return isConcerned;
    },
    writeChanged: ({ id, before, after }) => {
      if (!overlay.has(id)) return false;
      if (after === undefined) overlay.detach(id);
      const shownItems = (after ?? before)?.items.filter(({ draft }) => !replica.tree.get(draft.id)) ?? [];
      if (shownItems.length === 0) return false;
      if (before === undefined && after !== undefined) overlay.added(after);
      else overlay.renew();
      core.touch();
      return true;
    },
    adopt: (adopted) => {
      const last = adopted.findLast(({ items }) => items.length > 0);
      if (last === undefined) return;
      overlay.showOnly(last);
      core.touch();
    },
    flush: core.flush,
  };
  return control;
};

const ALONE = Object.freeze({ index: 0, total: 1, previousId: undefined, nextId: undefined });
