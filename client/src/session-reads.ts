/** What is read of a line without showing it: what the model would be sent (C2), settings, tools, usage. */
import {
  type ContextMessage,
  type ContextOptions,
  type ContextReader,
  context,
  createContextReader,
  type Entry,
  type EntryId,
  type Epoch,
  type ErrorBody,
  newestChild,
  settings,
  type Tree,
  type TreeNode,
  tipOf,
  toolState,
} from "@espalier/shared";
import type { Replica } from "./replica.js";
import { errorOf } from "./requests.js";
import type { Session } from "./session-types.js";
import type { Sync } from "./sync.js";

export type SessionReads = Pick<Session, "context" | "settings" | "toolState" | "usage"> & {
  /** The entries that a leaf's context and settings are made of, the oldest first. */
  contextEntries(leafId: EntryId): Promise<readonly Entry[] | ErrorBody>;
  /** What the model reads where `below` follows the leaf, or nothing for null. */
  contextWith(
    leafId: EntryId | null,
    below: readonly Entry[],
    options: ContextOptions,
  ): Promise<readonly ContextMessage[] | ErrorBody>;
};

const PAGE_ENTRIES = 1000;

/** What a page was read of. After a fresh window it is not known what was erased before it. */
type AsOf = { readonly epoch: Epoch | undefined; readonly tree: Tree; readonly erasures: number };

const isSame = (left: AsOf, right: AsOf): boolean =>
  left.epoch === right.epoch && left.tree === right.tree && left.erasures === right.erasures;

export const createSessionReads = (replica: Replica, sync: Pick<Sync, "askUntilAnswered">): SessionReads => {
  let held: { readonly tree: Tree; readonly reader: ContextReader } | null = null;
  const getReader = (): ContextReader => {
    const { tree } = replica;
    if (held?.tree !== tree) held = { tree, reader: createContextReader(tree) };
    return held.reader;
  };

  /** Where its line is loaded up to its root. */
  const wholeLeaf = (leafId: EntryId): TreeNode | null => {
    const leaf = replica.tree.get(leafId);
    return leaf !== undefined && replica.tree.topOf(leaf).entry.parentId === null ? leaf : null;
  };

  /** Pages are put together of one log alone, and begin again where an entry was erased between two of them. */
  const askForEntries = async (leafId: EntryId): Promise<readonly Entry[] | ErrorBody> => {
    let entries: readonly Entry[] = [];
    let asOf: AsOf | null = null;
    for (;;) {
      const before: { before?: EntryId } = entries[0] === undefined ? {} : { before: entries[0].id };
      const reply = await sync.askUntilAnswered({
        type: "context",
        leaf: leafId,
        limit: PAGE_ENTRIES,
        ...before,
      });
      const { tree, erasures } = replica;
      const now: AsOf = { tree, erasures, epoch: "epoch" in reply ? reply.epoch : asOf?.epoch };
      if (asOf !== null && !isSame(asOf, now)) {
        entries = [];
        asOf = null;
        continue;
      }
      if (reply.type !== "context") return errorOf(reply) as ErrorBody;
      asOf = now;
      entries = [...reply.entries, ...entries];
      if (!reply.more || reply.entries.length === 0) return entries;
    }
  };

  const entriesOf: SessionReads["contextEntries"] = async (leafId) => {
    const leaf = wholeLeaf(leafId);
    return leaf === null ? askForEntries(leafId) : getReader().entries(leaf);
  };

  const contextWith: SessionReads["contextWith"] = async (leafId, below, options) => {
    const leaf = leafId === null ? null : wholeLeaf(leafId);
    if (leaf !== null && below.length === 0 && options.edit === undefined) return getReader().at(leaf);
    const entries = leafId === null ? [] : await entriesOf(leafId);
    return isError(entries) ? entries : context([...entries, ...below], options);
  };

  /** From an entry down to a leaf; undefined where the leaf is not loaded, or not below it. */
  const pathBetween = (entryId: EntryId, leaf: TreeNode | undefined): readonly Entry[] | undefined => {
    const path: Entry[] = [];
    for (let at = leaf ?? null; at !== null; at = at.parent) {
      path.push(at.entry);
      if (at.entry.id === entryId) return path.reverse();
    }
    return undefined;
  };

  return {
    contextEntries: entriesOf,
    contextWith,
    context: async (leafId, options = {}) => contextWith(leafId, [], options),
    settings: async (leafId) => {
      const entries = await entriesOf(leafId);
      return isError(entries) ? entries : settings(entries);
    },
    toolState: (entryId, callId, leafId) => {
      const node = replica.tree.get(entryId);
      if (node === undefined) return null;
      const leaf = leafId === undefined ? tipOf(node, newestChild) : replica.tree.get(leafId);
      const path = pathBetween(entryId, leaf);
      return path === undefined ? null : toolState(path, entryId, callId);
    },
    usage: async (of) => {
      const reply = await sync.askUntilAnswered({ type: "usage", ...of });
      return reply.type === "usage" ? reply.usage : (errorOf(reply) as ErrorBody);
    },
  };
};

export const isError = <T extends object>(value: T | ErrorBody): value is ErrorBody => "code" in value;
