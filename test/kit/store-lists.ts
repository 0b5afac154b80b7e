/** What every store knows of its sessions without their logs: summaries, lists, who shares with whom. */
import { expect, test } from "vitest";
import { detailOf } from "../../server/src/origin-fault.js";
import {
  append,
  erase,
  erased,
  message,
  put,
  register,
  sessionId,
  shared,
  title,
} from "../server/store/records.js";
import type { StoreHarness } from "./store-contract.js";

export const listTests = (at: StoreHarness): void => {
  const idsOf = async (ask: Parameters<typeof at.store.list>[0]): Promise<string[]> =>
    (await at.store.list(ask)).sessions.map(({ id }) => id);
  const summaryOf = (id: string) => at.store.summary(sessionId(id));

  test("[F7] a header is taken with the first append, and stays", async () => {
    const header = { createdAt: 5, origin: { session: null, entry: null } } as const;
    await at.store.append(sessionId("s1"), 0, [message(1)], header);
    await at.store.append(sessionId("s1"), 1, [message(2)], { createdAt: 9 });
    await at.reopen();
    expect(await at.store.load(sessionId("s1"))).toMatchObject({ log: { header } });
    expect(await summaryOf("s1")).toMatchObject({ ...header, changedAt: message(2).time, entries: 2 });
  });

  test("[F8] an archived session is in no list that does not ask for it", async () => {
    for (const id of ["a", "b", "c"]) await put(at.store, id, 0, message(1));
    await put(at.store, "b", 1, register(2, "archived", true));
    await put(at.store, "c", 1, register(3, "archived", "yes"), register(4, "archived", false));
    await at.reopen();
    expect(await idsOf({ limit: 9 })).toEqual(["c", "a"]);
    expect(await idsOf({ limit: 9, archived: true })).toEqual(["c", "b", "a"]);
    expect((await summaryOf("b"))?.isArchived).toBe(true);
    expect(await summaryOf("c")).not.toHaveProperty("isArchived");
    expect(await idsOf({ limit: 9, after: sessionId("b") })).toEqual(["a"]);
    await put(at.store, "b", 2, register(5, "archived", null));
    expect(await idsOf({ limit: 9 })).toEqual(["b", "c", "a"]);
  });

  test("[F4] a list may leave sessions out, and its pages are full all the same", async () => {
    for (const [index, id] of ["a", "b", "c", "d", "a/x", "a/y"].entries())
      await put(at.store, id, 0, message(index + 1));
    const asked: string[] = [];
    const isListed = (id: string): boolean => {
      asked.push(id);
      return id !== "c" && id !== "a/y";
    };
    expect(await at.store.list({ limit: 2, isListed })).toMatchObject({
      sessions: [{ id: "d" }, { id: "b" }],
      more: true,
    });
    expect(asked.sort()).toEqual(["a", "b", "c", "d"]);
    const after = sessionId("b");
    expect(await at.store.list({ limit: 2, after, isListed })).toMatchObject({
      sessions: [{ id: "a" }],
      more: false,
    });
    expect(await idsOf({ limit: 9, of: sessionId("a"), isListed })).toEqual(["a/x"]);
  });

  test("[F8] a reset takes nothing from the count: what came before it is still there", async () => {
    await put(at.store, "s1", 0, message(1), message(2), register(3, "reset", "r1"), message(4));
    await at.reopen();
    expect((await summaryOf("s1"))?.entries).toBe(3);
  });

  test("[F5] sidechains are listed with their session, and counted there", async () => {
    const origin = { session: sessionId("s1"), entry: null, callId: "c1" };
    await put(at.store, "s1", 0, message(1));
    await put(at.store, "s10", 0, message(1));
    for (const [index, id] of ["s1/a", "s1/b", "s10/a"].entries())
      await at.store.append(sessionId(id), 0, [message(index + 2)], { createdAt: 1, origin });
    await at.reopen();
    expect(await idsOf({ limit: 9 })).toEqual(["s1", "s10"]);
    expect(await idsOf({ limit: 9, of: sessionId("s1") })).toEqual(["s1/b", "s1/a"]);
    expect((await summaryOf("s1"))?.sidechains).toBe(2);
    expect((await summaryOf("s1/a"))?.origin).toEqual(origin);
    expect(await summaryOf("s1/a")).not.toHaveProperty("sidechains");
    await at.store.remove(sessionId("s1/b"));
    expect((await summaryOf("s1"))?.sidechains).toBe(1);
  });

  test("[F2] what is inherited is not counted as a session's own", async () => {
    const header = { createdAt: 1, inherited: 2 };
    await at.store.install(sessionId("copy"), header, [message(1), message(2), message(3)]);
    await at.reopen();
    expect((await summaryOf("copy"))?.entries).toBe(1);
  });

  test("[F4] a session knows who shares with it: its children, and not theirs", async () => {
    await put(at.store, "parent", 0, message(1), message(2));
    await at.store.install(sessionId("child"), shared("parent", 2), []);
    await at.store.install(sessionId("grandchild"), shared("child", 2), []);
    await at.store.install(
      sessionId("copy"),
      { createdAt: 1, origin: { session: sessionId("parent"), entry: null } },
      [],
    );
    await at.reopen();
    expect(await at.store.sharing(sessionId("parent"))).toEqual(["child"]);
    expect(await at.store.sharing(sessionId("child"))).toEqual(["grandchild"]);
    expect(await at.store.sharing(sessionId("copy"))).toEqual([]);
  });

  test("[F4] a child by sharing of a parent that is not there is listed as damaged, and so are its children", async () => {
    await at.store.install(sessionId("child"), shared("parent", 2), []);
    await at.store.install(sessionId("grandchild"), shared("child", 2), []);
    const { sessions } = await at.store.list({ limit: 9 });
    expect(sessions.map(({ error }) => error?.code)).toEqual(["damaged", "damaged"]);
    const error = (await summaryOf("grandchild"))?.error;
    expect(error?.message).not.toContain("parent");
    expect(error === undefined ? null : detailOf(error)).toContain("parent");
    await put(at.store, "parent", 0, message(1));
    expect(await summaryOf("grandchild")).not.toHaveProperty("error");
  });

  test("[S7] what was erased while it streamed is not unfinished", async () => {
    await put(
      at.store,
      "s1",
      0,
      message(1, "", { status: "streaming" }),
      append(2, "e1", "x"),
      title(3, "T"),
    );
    await erased(at.store, "s1", 3, erase(4, "e1"));
    expect(await at.store.unfinished()).toEqual([]);
    await at.reopen();
    expect(await at.store.unfinished()).toEqual([]);
  });
};
