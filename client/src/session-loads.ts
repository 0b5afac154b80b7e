/** What a session loads into its replica beside what it is sent: pages, lines and alternatives (V8, V9). */
import type { EntryId } from "@espalier/shared";
import type { Replica } from "./replica.js";
import type { Reply } from "./requests.js";
import type { ChannelMessage, Sync } from "./sync.js";

/** Two who ask for the same at the same time share one request (V8). */
export type Load = (message: ChannelMessage) => Promise<Reply>;

type LoadsOptions = {
  readonly replica: Replica;
  readonly sync: Sync;
  /** More is known of the children of these. */
  readonly onBranchesKnown: (parentIds: Iterable<EntryId | null>) => void;
};

export const createLoads = ({ replica, sync, onBranchesKnown }: LoadsOptions): Load => {
  const loading = new Map<string, Promise<Reply>>();

  /** What came is put in at once, before what was sent after it; then the views are told what it changed. */
  const take = (reply: Reply): void => {
    if (reply.type === "window") onBranchesKnown(replica.add(reply));
    else if (reply.type === "alternatives") onBranchesKnown(replica.siblings.give(reply));
  };

  const askForThisReplica = async (message: ChannelMessage): Promise<Reply> => {
    for (;;) {
      const takers: unknown[] = [];
      const reply = await sync.askUntilAnswered(message, (answer) => {
        // Until the answer to a join has come, this may be ahead of it: it would hide what comes.
        if (sync.status !== "live") return;
        // What is of another incarnation of the log is not mixed with this one (D2).
        if ("epoch" in answer && answer.epoch !== replica.cursor?.epoch) return sync.lost();
        take(answer);
        takers.push(replica.tree);
      });
      // Where a fresh window came after it, what it brought is gone again.
      if (reply.type === "refused" || takers.at(-1) === replica.tree) return reply;
    }
  };

  return (message) => {
    const key = JSON.stringify(message);
    const shared = loading.get(key) ?? askForThisReplica(message).finally(() => loading.delete(key));
    loading.set(key, shared);
    return shared;
  };
};
