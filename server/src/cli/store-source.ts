/**
 * The sessions of a directory that no server has. They are read as a server would load them, shared entries
 * included (F2); forks and deletions are those of the server, on the same store.
 */
import { type ErrorBody, RESET, type Runtime, refusal, type SessionId } from "@espalier/shared";
import { type Conversation, foldConversation, leafOf, titleOf } from "../export/conversation.js";
import { lineSection } from "../export/outline.js";
import { createForest } from "../forest.js";
import { createHub } from "../hub.js";
import { createLoader, type LoadedLog } from "../shared-log.js";
import type { LogStore } from "../store/log-store.js";
import { errorOf } from "./failure.js";
import { namesIn } from "./names.js";
import type { Source } from "./source.js";

const PAGE = 1000;
const GRACE_MS = 30_000;

export const storeSource = (store: LogStore, runtime: Runtime): Source => {
  // Nothing is open here yet, and nobody waits for a turn.
  const load = createLoader(
    store,
    async () => null,
    async () => {},
  );
  const hub = createHub({ store, runtime, graceMs: GRACE_MS });
  const forest = createForest({ hub, store, runtime });

  const conversation = async (id: SessionId): Promise<Conversation> => {
    const outcome = await load(id);
    if (outcome.type === "refused") throw errorOf(outcome.error);
    if (outcome.type === "absent")
      throw errorOf(refusal("not_found", `unable to open ${id}; there is no such session`));
    return foldConversation({ id, ...logOf(outcome.log) });
  };

  return {
    isServer: false,
    pages: async function* (ask) {
      let after: SessionId | undefined;
      for (let more = true; more; ) {
        const page = await store.list({ ...ask, limit: PAGE, after });
        yield page.sessions;
        after = page.sessions.at(-1)?.id;
        more = page.more;
      }
    },
    conversation,
    tree: async (id) => {
      const read = await conversation(id);
      return {
        tree: read.tree,
        title: titleOf(read),
        names: namesIn(read.registers.all()),
        hasReset: (read.registers.get(RESET) ?? null) !== null,
      };
    },
    line: async (id, leaf) => {
      const read = await conversation(id);
      const end = leafOf(read, leaf);
      const items = end === null ? [] : lineSection(read.tree, end).items;
      return {
        title: titleOf(read),
        items: items.map(({ node, index, alternatives }) => ({
          entry: node.entry,
          place: index + 1,
          alternatives: alternatives.length,
        })),
      };
    },
    leaf: async (id) => leafOf(await conversation(id), undefined)?.entry.id ?? null,
    fork: async (ask) => {
      const forked = await forest.fork(ask);
      if ("code" in forked) throw errorOf(forked);
      return forked;
    },
    remove: async (id) => refuse(await forest.delete(id)),
    close: async () => {
      await hub.settled();
      hub.close();
      await store.close();
    },
  };
};

const refuse = (error: ErrorBody | null): void => {
  if (error !== null) throw errorOf(error);
};

/** What came to a shared entry after the fork is of the other session's log: it is told as if it had been so (F2). */
const logOf = ({
  header,
  shared,
  records,
}: LoadedLog): Pick<Parameters<typeof foldConversation>[0], "header" | "records"> => {
  const { inherited = 0 } = header;
  const above = shared.map((entry) => (entry.rev <= inherited ? entry : { ...entry, rev: entry.seq }));
  return { header, records: above.length === 0 ? records : [...above, ...records] };
};
