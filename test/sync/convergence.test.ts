/**
 * Any order of events ends well: several clients write, edit, stream, mark, fork, erase, begin anew, move
 * about, lose their connections and acknowledgements, are reloaded, give up and try again what was refused,
 * and the server restarts, with its log whole or in a new epoch. When the network is whole again, every
 * client shows what the log folds to: each entry and each token once, in one order (T1, J3, L4).
 */
import type { EntryId, View } from "@espalier/client";
import {
  createRegisters,
  type Entry,
  isRunEnded,
  newestChild,
  type PrincipalId,
  pathTo,
  type Tree,
  type TreeNode,
  tipOf,
} from "@espalier/shared";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createEpochStore } from "../client/epoch-store.js";
import { createWorld, textOf } from "../kit/world.js";
import { CLIENTS, opArbitrary } from "./ops.js";
import { Run } from "./run.js";

const checkShown = (tree: Tree, view: View): void => {
  const shown = view.getMessages();
  for (const [index, { id, entry, state, error }] of shown.entries()) {
    if (state !== "confirmed") {
      // Only what was refused may still hang at the end.
      expect([state, error?.code ?? null]).not.toEqual(["pending", null]);
      continue;
    }
    const node = tree.get(id);
    expect(entry).toEqual(node?.entry);
    if (index > 0) expect(entry.parentId).toBe(shown[index - 1]?.id);
    // A root from before a reset is no alternative to anything (F8).
    const isOfEarlier = entry.parentId === null && entry.seq < tree.resetSeq;
    const siblings = isOfEarlier ? [] : tree.children(entry.parentId);
    const { index: position, total } = view.branchInfo(id);
    expect({ id, position, total }).toEqual({
      id,
      position: isOfEarlier ? 0 : siblings.findIndex((sibling) => sibling.entry.id === id),
      total: isOfEarlier ? 1 : siblings.length,
    });
  }
};

const checkEverything = async (run: Run): Promise<void> => {
  const { world, actors } = run;
  const records = await world.records("s");
  const tree = await world.fold("s");
  // One order: seqs rise, and no id is twice an entry.
  records.forEach((record, index) => {
    if (index > 0) expect(record.seq).toBeGreaterThan((records[index - 1] as { seq: number }).seq);
  });
  const ids = records.filter(({ kind }) => kind === "entry").map((record) => (record as Entry).id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { entry } of tree.nodes()) expect(entry.status).not.toBe("streaming");
  for (const [id, text] of run.written) {
    const isThere = tree.get(id as EntryId);
    if (!run.unsure.has(id)) expect(run.settled.get(id)).toBe(isThere !== undefined);
    if (isThere !== undefined && !isErased(isThere)) expect(textOf(isThere.entry)).toBe(text);
  }
  for (const [id, { writer, text, isLost }] of run.streamed) {
    const node = tree.get(id as EntryId);
    if (node !== undefined && isErased(node)) continue;
    if (!isLost && writer.error === null) expect(node === undefined ? null : textOf(node.entry)).toBe(text);
    // An aborted one keeps a prefix: nothing is doubled or out of order.
    else if (node !== undefined)
      expect(text.startsWith(textOf(node.entry)) || textOf(node.entry).startsWith(text)).toBe(true);
  }
  for (const { session, views } of actors) {
    for (const run of session.runs()) expect(isRunEnded(run.status)).toBe(false);
    expect(session.snapshot.writes.filter(({ state }) => state === "pending")).toEqual([]);
    for (const view of views) checkShown(tree, view);
    // Every line of the tree can be read through a view, whole.
    const reader = session.createView();
    for (const root of rootsOf(tree)) {
      for (const leaf of leavesOf(root)) {
        reader.branch(leaf.entry.id);
        const loaded = reader.loadUntil(() => false);
        await world.settle();
        await loaded;
        checkShown(tree, reader);
        expect(reader.getMessages().at(-1)?.id).toBe(leaf.entry.id);
        expect(reader.snapshot.hasOlder).toBe(false);
      }
    }
    reader.close();
  }
  const registers = createRegisters();
  for (const record of records) if (record.kind === "register") registers.apply(record);
  for (const { session } of actors) {
    for (const { key } of records.filter((record) => record.kind === "register"))
      expect([key, session.register(key)]).toEqual([key, registers.get(key)]);
  }
  for (const fork of run.forks) await checkFork(run, tree, fork);
};

/** The line that was taken over, entry by entry. */
const checkFork = async ({ world, actors }: Run, tree: Tree, { forked, isCopy }: Run["forks"][number]) => {
  const session = (actors[0] as Run["actors"][number]).client.session(forked.session);
  const { view } = session;
  await world.settle();
  const loaded = view.loadUntil(() => false);
  await world.settle();
  await loaded;
  const leaf = forked.entry === null ? undefined : tree.get(forked.entry);
  const path = leaf === undefined ? [] : pathTo(leaf).map(({ entry }) => entry);
  expect(session.snapshot.status).toBe("live");
  expect(view.snapshot.length).toBe(path.length);
  // An erasure has a seq of its own in each log that holds the entry.
  if (!isCopy)
    expect(view.getMessages().map(({ entry }) => ({ ...entry, rev: 0 }))).toEqual(
      path.map((entry) => ({ ...entry, rev: 0 })),
    );
  session.close();
};

const isErased = ({ entry }: TreeNode): boolean => entry.type === "erased";

/** Those from before a reset too. */
const rootsOf = (tree: Tree): TreeNode[] => [...tree.nodes()].filter(({ entry }) => entry.parentId === null);

const leavesOf = (root: TreeNode): TreeNode[] => {
  const leaves: TreeNode[] = [];
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.children.length === 0) leaves.push(tipOf(node, newestChild));
    pending.push(...node.children);
  }
  return leaves;
};

/** One of them may erase. */
const authenticate = ({ token = "nobody" }: { token: string | undefined }) => ({
  id: token as PrincipalId,
  ...(token === CLIENTS[0] ? { admin: true } : {}),
});

const NUM_RUNS = Number(process.env.CONVERGENCE_RUNS ?? 200);

test("[T1] [J3] [L4] every replica equals the fold of the log, whatever happened", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 1_000_000 }),
      fc.array(opArbitrary, { minLength: 5, maxLength: 80, size: "max" }),
      async (seed, ops) => {
        const store = createEpochStore();
        const run = new Run(await createWorld({ seed, store, authenticate }), store);
        await run.world.settle();
        for (const op of ops) await run.apply(op);
        await run.heal();
        await checkEverything(run);
        for (const { client: connected } of run.actors) connected.close();
      },
    ),
    {
      numRuns: NUM_RUNS,
      ...(process.env.CONVERGENCE_SEED === undefined ? {} : { seed: Number(process.env.CONVERGENCE_SEED) }),
    },
  );
}, 600_000);
