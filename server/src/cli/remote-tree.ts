/**
 * Reads a whole session, every branch of it, from a server by the public client: the newest line first,
 * then, from each branch point on it, the neighbours one by one, and so on from theirs. Each entry comes
 * once; one request a line, or more where it is long.
 */
import type { Client, Session, View } from "@espalier/client";
import { createTree, type Entry, type EntryId, RESET, type Tree } from "@espalier/shared";
import { CommandError, errorOf } from "./failure.js";
import { namesOf } from "./names.js";
import type { SessionTree } from "./source.js";

const PAGE = 1000;

/** A neighbour to go to: the alternative beside `from`. */
type Step = { readonly from: EntryId; readonly by: 1 | -1 };

/** @throws CommandError where there is no such session, or the connection is lost meanwhile */
export const readRemoteTree = async (client: Client, id: string): Promise<SessionTree> => {
  const session = client.session(id);
  try {
    const view = session.createView({ limit: PAGE });
    await untilLoaded(session, view);
    const tree = createTree();
    const steps: Step[] = [];
    await takeLine(view, tree, (entry) => steps.push(...stepsFrom(view, entry.id)));
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      const { by, from } = step;
      const before = tree.size;
      view.step(from, by);
      await untilLoaded(session, view);
      const parentId = tree.get(from)?.entry.parentId ?? null;
      await takeLine(view, tree, (entry) => {
        // The neighbour itself goes on in its own direction only: on the other side lies `from`.
        const next = stepsFrom(view, entry.id);
        steps.push(...(entry.parentId === parentId ? next.filter((each) => each.by === by) : next));
      });
      if (tree.size === before) throw lost(id);
    }
    return {
      tree,
      title: session.snapshot.title,
      names: namesOf(namedIn(session)),
      hasReset: session.register(RESET) !== null,
    };
  } finally {
    session.close();
  }
};

const namedIn = ({ marks }: Session): { id: EntryId; name: string }[] => [
  ...marks.branches.list().map(({ name, leafId }) => ({ id: leafId, name })),
  ...marks.labels.list().map(({ id, text }) => ({ id, name: text })),
];

const stepsFrom = (view: View, id: EntryId): Step[] => {
  const { index, total } = view.branchInfo(id);
  const steps: Step[] = [];
  if (index > 0) steps.push({ from: id, by: -1 });
  if (index < total - 1) steps.push({ from: id, by: 1 });
  return steps;
};

/** Takes the shown line from its end upwards, as far as it is not held yet. */
const takeLine = async (view: View, tree: Tree, taken: (entry: Entry) => void): Promise<void> => {
  let index = view.snapshot.length - 1;
  for (;;) {
    for (; index >= 0; index -= 1) {
      const entry = view.at(index)?.entry;
      if (entry === undefined || tree.get(entry.id) !== undefined) return;
      tree.apply(entry);
      taken(entry);
    }
    const { hasOlder, error } = view.snapshot;
    if (error !== null) throw errorOf(error);
    if (!hasOlder) return;
    const added = await view.loadOlder(PAGE);
    if (added === 0) throw errorOf(view.snapshot.error ?? LOST);
    index = added - 1;
  }
};

/** Resolves when the view shows its line. */
export const untilLoaded = (session: Session, view: View): Promise<void> =>
  new Promise((resolve, reject) => {
    const look = (): void => {
      const { status, error } = session.snapshot;
      if (status === "failed" && error !== null) return end(() => reject(errorOf(error)));
      if (status === "offline" && wasLive) return end(() => reject(lost(session.id)));
      if (status !== "live") return;
      wasLive = true;
      const { isLoading, error: fault } = view.snapshot;
      if (isLoading) return;
      end(() => (fault === null ? resolve() : reject(errorOf(fault))));
    };
    const end = (settle: () => void): void => {
      for (const undo of undos) undo();
      settle();
    };
    let wasLive = false;
    const undos = [session.subscribe(look), view.subscribe(look)];
    look();
  });

export const LOST = { code: "offline", message: "unable to read on; the connection was lost" } as const;

const lost = (id: string): CommandError =>
  new CommandError(`unable to read the whole of ${id}; the connection was lost`, "try again");
