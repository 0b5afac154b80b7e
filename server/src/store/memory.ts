/** Logs in memory (D8): the same operations as on disk, gone with the process. */
import { type Epoch, type ErrorBody, type LogRecord, refusal, type SessionId } from "@espalier/shared";
import { createCatalogue, emptyCatalogueEntry } from "./catalogue.js";
import { eraseAmong, isErase, withErasures } from "./erasing.js";
import { headAfter, headOf, inheritedCheck, startOf, withoutShare } from "./heads.js";
import type { ChangeOutcome, LogHeader, LogStore } from "./log-store.js";

const DONE = Promise.resolve();
const OK: ChangeOutcome = { type: "ok" };
const CONFLICT = { type: "conflict" } as const;

const isDeleted = (id: SessionId): ErrorBody => refusal("deleted", `unable to use ${id}; it was deleted`);

type MemoryLog = { header: LogHeader; records: LogRecord[] };

export const createMemoryStore = ({ newEpoch }: { newEpoch: () => Epoch }): LogStore => {
  const epoch = newEpoch();
  const logs = new Map<SessionId, MemoryLog>();
  const deleted = new Set<SessionId>();
  /** Those that are being put in place. */
  const coming = new Set<SessionId>();
  const catalogue = createCatalogue();
  let closed = false;

  const refusedNow = (id: SessionId): { type: "refused"; error: ErrorBody } | null => {
    if (closed)
      return { type: "refused", error: refusal("unavailable", "unable to use the store; it is closed") };
    return deleted.has(id) ? { type: "refused", error: isDeleted(id) } : null;
  };

  const add = (id: SessionId, header: LogHeader, records: LogRecord[]): void => {
    logs.set(id, { header, records });
    catalogue.put(emptyCatalogueEntry(id, header));
    catalogue.apply(id, records);
  };

  return {
    epoch,
    load: async (id) => {
      if (deleted.has(id)) return { type: "refused", error: isDeleted(id) };
      const log = logs.get(id);
      if (log === undefined) return { type: "absent" };
      const { header, records } = log;
      return { type: "ok", log: { header, epoch, head: headOf(header, records), records: records.slice() } };
    },
    append: async (id, expectedHead, records, header) => {
      const refused = refusedNow(id);
      if (refused !== null) return refused;
      const log = logs.get(id);
      const begun = log?.header ?? header ?? { createdAt: records[0]?.time ?? 0 };
      const head = log === undefined ? startOf(begun) : headOf(begun, log.records);
      if (head !== expectedHead || coming.has(id)) return CONFLICT;
      headAfter(expectedHead, records);
      if (records.length === 0) return { type: "ok", durable: DONE };
      if (log === undefined) add(id, begun, [...records]);
      else {
        for (const record of records) log.records.push(record);
        catalogue.apply(id, records);
      }
      return { type: "ok", durable: DONE };
    },
    install: async (id, header, records) => {
      const refused = refusedNow(id);
      if (refused !== null) return refused;
      if (logs.has(id) || coming.has(id)) return CONFLICT;
      coming.add(id);
      try {
        const taken: LogRecord[] = [];
        let head = startOf(header);
        for await (const record of records) {
          head = headAfter(head, [record]);
          taken.push(record);
        }
        if (closed) return refusedNow(id) ?? CONFLICT;
        add(id, header, taken);
        return OK;
      } finally {
        coming.delete(id);
      }
    },
    makeWhole: async (id, inherited) => {
      const refused = refusedNow(id);
      if (refused !== null) return refused;
      const log = logs.get(id);
      if (log?.header.origin?.isShared !== true) return CONFLICT;
      const entries = [...eraseAmong(inheritedCheck(log.header, inherited), log.records.filter(isErase))];
      add(id, withoutShare(log.header), [...entries, ...log.records]);
      return OK;
    },
    erase: async (id, expectedHead, record) => {
      const refused = refusedNow(id);
      if (refused !== null) return refused;
      const log = logs.get(id);
      if (log === undefined || headOf(log.header, log.records) !== expectedHead) return CONFLICT;
      headAfter(expectedHead, [record]);
      log.records = [...withErasures([...log.records, record])];
      catalogue.apply(id, [record]);
      return { type: "ok", durable: DONE };
    },
    remove: async (id) => {
      const refused = deleted.has(id) ? null : refusedNow(id);
      if (refused !== null) return refused;
      if (!logs.has(id)) return CONFLICT;
      deleted.add(id);
      logs.delete(id);
      catalogue.remove(id);
      return OK;
    },
    synced: () => DONE,
    list: async (ask) => catalogue.list(ask),
    summary: async (id) => catalogue.summary(id),
    sharing: async (id) => catalogue.sharing(id),
    unfinished: async () => catalogue.unfinished(),
    close: async () => {
      closed = true;
    },
  };
};
