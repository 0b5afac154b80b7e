/** Logs in memory (D8): the same operations as on disk, gone with the process. */
import { type Epoch, type LogRecord, refusal, type SessionId } from "@espalier/shared";
import { createCatalogue } from "./catalogue.js";
import type { LogStore } from "./log-store.js";

const DONE = Promise.resolve();

export const createMemoryStore = ({ newEpoch }: { newEpoch: () => Epoch }): LogStore => {
  const epoch = newEpoch();
  const logs = new Map<SessionId, LogRecord[]>();
  const catalogue = createCatalogue();
  const headOf = (log: readonly LogRecord[] | undefined): number => log?.at(-1)?.seq ?? 0;
  let closed = false;

  return {
    epoch,
    load: async (id) => {
      const log = logs.get(id);
      return log === undefined
        ? { type: "absent" }
        : { type: "ok", log: { epoch, head: headOf(log), records: log.slice() } };
    },
    append: async (id, expectedHead, records) => {
      if (closed)
        return { type: "refused", error: refusal("unavailable", "unable to write; the store is closed") };
      const log = logs.get(id);
      if (headOf(log) !== expectedHead) return { type: "conflict" };
      if (log === undefined) logs.set(id, [...records]);
      else for (const record of records) log.push(record);
      catalogue.apply(id, records);
      return { type: "ok", durable: DONE };
    },
    synced: () => DONE,
    list: async (page) => catalogue.list(page),
    summary: async (id) => catalogue.summary(id),
    unfinished: async () => catalogue.unfinished(),
    close: async () => {
      closed = true;
    },
  };
};
