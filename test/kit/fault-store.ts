/** A store that fails on command, around one that does not. */
import type { AppendOutcome, LoadOutcome, LogStore } from "@espalier/server";
import { type Epoch, type ErrorBody, refusal, type SessionId } from "@espalier/shared";

/** `landed`: it was written all the same; `lost`: it was not. */
export type AppendFault = "conflict" | "refused" | "landed" | "lost" | "throws";

export type FaultStore = LogStore & {
  /** What happens to the next appends, one each. */
  readonly faults: AppendFault[];
  /** Appends that were asked for. */
  readonly appends: number;
  readonly loads: number;
  /** What loads are refused with, while it is set. */
  loadError: ErrorBody | null;
  /** While it is set nothing is on disk before `sync`. */
  isSyncHeld: boolean;
  sync(): void;
  /** Fails what waits for the disk; what is loaded after that is of a new epoch. */
  failSync(): void;
  /** While it is set, loads wait for `goOn`. */
  isLoadHeld: boolean;
  goOn(): void;
};

type Waiting = { readonly id: SessionId; readonly done: Promise<void>; settle(error?: Error): void };

const UNKNOWN = refusal("unavailable", "unable to tell whether it was written");

export const createFaultStore = (inner: LogStore): FaultStore => {
  const faults: AppendFault[] = [];
  let syncs: Waiting[] = [];
  let loadsHeld: (() => void)[] = [];
  let epoch = inner.epoch;
  let appends = 0;
  let loads = 0;

  const waitForSync = (id: SessionId): Promise<void> => {
    let settle: Waiting["settle"] = () => {};
    const done = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    syncs.push({ id, done, settle });
    return done;
  };

  const settleSyncs = (error?: Error): void => {
    const held = syncs;
    syncs = [];
    for (const { settle } of held) settle(error);
  };

  const store: FaultStore = {
    faults,
    loadError: null,
    isSyncHeld: false,
    isLoadHeld: false,
    get epoch() {
      return epoch;
    },
    get appends() {
      return appends;
    },
    get loads() {
      return loads;
    },
    load: async (id): Promise<LoadOutcome> => {
      loads += 1;
      if (store.isLoadHeld) await new Promise<void>((resolve) => loadsHeld.push(resolve));
      if (store.loadError !== null) return { type: "refused", error: store.loadError };
      const outcome = await inner.load(id);
      return outcome.type === "ok" ? { type: "ok", log: { ...outcome.log, epoch } } : outcome;
    },
    append: async (id, expectedHead, records, header): Promise<AppendOutcome> => {
      appends += 1;
      const fault = faults.shift();
      if (fault === "throws") throw new Error("the store is broken");
      if (fault === "conflict") return { type: "conflict" };
      if (fault === "refused")
        return { type: "refused", error: refusal("unavailable", "unable to write; the disk is full") };
      if (fault === "lost") return { type: "unknown", error: UNKNOWN };
      const outcome = await inner.append(id, expectedHead, records, header);
      if (fault === "landed" && outcome.type === "ok") return { type: "unknown", error: UNKNOWN };
      if (outcome.type !== "ok" || !store.isSyncHeld) return outcome;
      return { type: "ok", durable: waitForSync(id) };
    },
    synced: (id) => syncs.findLast((waiting) => waiting.id === id)?.done ?? Promise.resolve(),
    install: (id, header, records) => inner.install(id, header, records),
    makeWhole: (id, inherited) => inner.makeWhole(id, inherited),
    erase: async (id, expectedHead, record): Promise<AppendOutcome> => {
      const outcome = await inner.erase(id, expectedHead, record);
      return outcome.type === "ok" && store.isSyncHeld ? { type: "ok", durable: waitForSync(id) } : outcome;
    },
    remove: (id) => inner.remove(id),
    list: (ask) => inner.list(ask),
    summary: (id) => inner.summary(id),
    sharing: (id) => inner.sharing(id),
    unfinished: () => inner.unfinished(),
    close: () => inner.close(),
    sync: () => settleSyncs(),
    failSync: () => {
      epoch = `${epoch}x` as Epoch;
      settleSyncs(new Error("the disk is broken"));
    },
    goOn: () => {
      const held = loadsHeld;
      loadsHeld = [];
      for (const go of held) go();
    },
  };
  return store;
};
