/** What every store must do, whatever keeps its logs. A new store is one test file that calls this. */

import type { LogRecord } from "@espalier/shared";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AppendOutcome, LogStore } from "../../server/src/store/log-store.js";
import { append, headOf, message, put, recordsOf, run, sessionId, title } from "../server/store/records.js";
import { changeTests } from "./store-changes.js";
import { listTests } from "./store-lists.js";

const outcomeTypes = (outcomes: readonly AppendOutcome[]): string[] => outcomes.map(({ type }) => type);

export type StoreKit = {
  open(): Promise<LogStore>;
  /** Closes the store and opens what it left; absent where it leaves nothing. */
  reopen?(store: LogStore): Promise<LogStore>;
  dispose?(): Promise<void>;
};

export type StoreHarness = {
  readonly store: LogStore;
  /** Closes it and opens what it left, where that is possible. */
  reopen(): Promise<void>;
};

export const storeContract = (name: string, createKit: () => Promise<StoreKit>): void => {
  describe(name, () => {
    let kit: StoreKit;
    let store: LogStore;
    beforeEach(async () => {
      kit = await createKit();
      store = await kit.open();
    });
    afterEach(async () => {
      await store.close();
      await kit.dispose?.();
    });

    test("[F7] a session that was never written is absent", async () => {
      expect(await store.load(sessionId("s1"))).toEqual({ type: "absent" });
      expect(await store.summary(sessionId("s1"))).toBeNull();
    });

    test("[N1] records come back in the order in which they were appended", async () => {
      await put(store, "s1", 0, message(1), message(2));
      await put(store, "s1", 2, append(5, "e2", "more"), run(6, "r1", "requested"), title(7, "T"));
      expect(await store.load(sessionId("s1"))).toEqual({
        type: "ok",
        log: {
          header: { createdAt: message(1).time },
          epoch: store.epoch,
          head: 7,
          records: [
            message(1),
            message(2),
            append(5, "e2", "more"),
            run(6, "r1", "requested"),
            title(7, "T"),
          ],
        },
      });
    });

    test("[N1] an append to another head than the log has changes nothing", async () => {
      await put(store, "s1", 0, message(1));
      for (const head of [0, 2]) {
        expect(await store.append(sessionId("s1"), head, [message(3)])).toEqual({ type: "conflict" });
      }
      expect(await store.append(sessionId("absent"), 4, [message(5)])).toEqual({ type: "conflict" });
      expect(await recordsOf(store, "s1")).toEqual([message(1)]);
      expect(await store.load(sessionId("absent"))).toEqual({ type: "absent" });
    });

    test("[N1] of two appends to one head one is taken", async () => {
      const outcomes = await Promise.all([
        store.append(sessionId("s1"), 0, [message(1, "one")]),
        store.append(sessionId("s1"), 0, [message(1, "two")]),
      ]);
      expect(outcomeTypes(outcomes)).toEqual(["ok", "conflict"]);
      expect(await recordsOf(store, "s1")).toEqual([message(1, "one")]);
    });

    test("[N1] an append may follow one that is not on disk yet", async () => {
      const outcomes = await Promise.all(
        [0, 1, 2].map((head) => store.append(sessionId("s1"), head, [message(head + 1)])),
      );
      expect(outcomeTypes(outcomes)).toEqual(["ok", "ok", "ok"]);
      expect(await recordsOf(store, "s1")).toEqual([message(1), message(2), message(3)]);
      await store.synced(sessionId("s1"));
    });

    test("[D1] what was appended is loaded before it is on disk", async () => {
      for (let head = 0; head < 20; head += 1) {
        await store.append(sessionId("s1"), head, [message(head + 1)]);
        expect(await headOf(store, "s1")).toBe(head + 1);
      }
    });

    test("[L6] unusual text comes back exactly", async () => {
      const texts = [
        "a\nb\r\nc",
        "\u2028\u2029\u0085",
        "\u0000\u0001\u001f",
        "👩‍👩‍👧 é ﷽",
        '"\\',
        "",
        "\ufeff",
      ];
      await put(store, "s1", 0, ...texts.map((text, index) => message(index + 1, text)));
      store = (await kit.reopen?.(store)) ?? store;
      expect(await recordsOf(store, "s1")).toEqual(texts.map((text, index) => message(index + 1, text)));
    });

    test("[L5] kinds and fields of a newer version come back as they were", async () => {
      const unknown = {
        kind: "poll",
        seq: 1,
        time: 1,
        choices: ["a"],
        __proto__x: null,
      } as unknown as LogRecord;
      const extended = { ...message(2), mood: { "": [1, null] } } as LogRecord;
      await put(store, "s1", 0, unknown, extended);
      store = (await kit.reopen?.(store)) ?? store;
      expect(await recordsOf(store, "s1")).toEqual([unknown, extended]);
    });

    test("[D1] many writers in many sessions lose nothing and mix nothing", async () => {
      const ids = Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? `s${index}/a` : `s${index}`));
      await Promise.all(
        ids.map(async (id) => {
          for (let head = 0; head < 25; head += 1)
            await put(store, id, head, message(head + 1, `${id} ${head}`));
        }),
      );
      for (const id of ids) {
        const expected = Array.from({ length: 25 }, (_, head) => message(head + 1, `${id} ${head}`));
        expect(await recordsOf(store, id)).toEqual(expected);
      }
    });

    test("[L8] sessions whose ids differ in case, and sidechains, are apart", async () => {
      const ids = ["abc", "Abc", "ABC", "abc/Abc", "abc/abc", "Abc/abc"];
      for (const id of ids) await put(store, id, 0, message(1, id));
      store = (await kit.reopen?.(store)) ?? store;
      for (const id of ids) expect(await recordsOf(store, id)).toEqual([message(1, id)]);
    });

    test("[F4] sessions are listed by their last change, in pages", async () => {
      for (const [index, id] of ["a", "b", "c", "d"].entries()) await put(store, id, 0, message(index + 1));
      await put(store, "b", 2, message(9), title(10, "Bee"));
      store = (await kit.reopen?.(store)) ?? store;
      const first = await store.list({ limit: 3 });
      expect(first.sessions.map(({ id }) => id)).toEqual(["b", "d", "c"]);
      expect(first.more).toBe(true);
      const rest = await store.list({ limit: 3, after: sessionId("c") });
      expect(rest).toEqual({ sessions: [await store.summary(sessionId("a"))], more: false });
      expect(first.sessions[0]).toEqual({
        id: "b",
        title: "Bee",
        createdAt: message(2).time,
        changedAt: message(10).time,
        entries: 2,
        waiting: 0,
      });
    });

    test("[S7] sessions with a streaming entry or an open run are known without their logs", async () => {
      await put(store, "streams", 0, message(1, "", { status: "streaming" }));
      await put(store, "ended", 0, message(1, "", { status: "streaming" }));
      await put(store, "ended", 1, append(2, "e1", "x", { status: "complete" }));
      await put(store, "runs", 0, run(1, "r1", "requested"), run(2, "r1", "active"));
      await put(store, "done", 0, run(1, "r1", "active"), run(2, "r1", "done"));
      await put(store, "waits", 0, run(1, "r1", "requested"));
      store = (await kit.reopen?.(store)) ?? store;
      expect([...(await store.unfinished())].sort()).toEqual(["runs", "streams"]);
      expect((await store.summary(sessionId("waits")))?.waiting).toBe(1);
    });

    const harness: StoreHarness = {
      get store() {
        return store;
      },
      reopen: async () => {
        store = (await kit.reopen?.(store)) ?? store;
      },
    };
    listTests(harness);
    changeTests(harness);

    test("closing twice is harmless, and a closed store takes nothing", async () => {
      await put(store, "s1", 0, message(1));
      await Promise.all([store.close(), store.close()]);
      await store.close();
      const refused = await store.append(sessionId("s1"), 1, [message(2)]);
      expect(refused).toMatchObject({ type: "refused", error: { code: "unavailable" } });
    });
  });
};
