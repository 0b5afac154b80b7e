/** The tree of an imported conversation, and the order in which its entries get their seq. */
import { describe, expect, test } from "vitest";
import { type Collected, conversation, entriesOf, importJson, node, soleSession } from "./kit.js";
import { shapeOf } from "./shape.js";

describe("the tree", () => {
  test("[T4] a ring is cut at its last member in the file, whatever hangs from it", async () => {
    const nodes = [node("x", "b"), node("a", "c"), node("b", "a"), node("c", "b"), node("s", "s")];
    const session = soleSession(await importJson(conversation(nodes)));
    const { roots, reports, activeLine } = shapeOf(session);
    expect(roots).toEqual(["c", "s"]);
    expect(reports).toEqual([
      "message s: s is its own parent; becomes a root",
      "message c: c closes a cycle; becomes a root",
    ]);
    expect(activeLine).toEqual(["s"]);
    expect(session.summary.branchPoints).toEqual([{ parent: null, children: ["c", "s"] }]);
  });

  test("[T5] 200,000 deep, children first", { timeout: 120_000 }, async () => {
    const chain = Array.from({ length: 200_000 }, (_, at) => node(`n${at}`, at === 0 ? null : `n${at - 1}`));
    const session = soleSession(await importJson(conversation(chain.reverse(), { current_node: "n199999" })));
    expect(session.summary.activeLine).toHaveLength(200_000);
    expect(session.records.at(-2)).toMatchObject({ id: "n199999", parentId: "n199998" });
  });

  test("[T5] 50,000 alternatives", { timeout: 120_000 }, async () => {
    const wide = Array.from({ length: 50_000 }, (_, at) => node(`w${at}`, "a"));
    const children = wide.map(({ id }) => id).reverse();
    const session = soleSession(
      await importJson(conversation([node("a", null, { more: { children } }), ...wide])),
    );
    expect(session.summary.branchPoints).toEqual([{ parent: "a", children }]);
  });

  test("[T5] a long chain of nodes that say nothing", async () => {
    const empty = Array.from({ length: 100_000 }, (_, at) => ({
      id: `n${at}`,
      parent: at === 0 ? null : `n${at - 1}`,
      message: null,
    }));
    const nodes = [...empty, node("a", "n99999"), node("b", "n5")];
    const { roots } = shapeOf(soleSession(await importJson(conversation(nodes, { current_node: "n99999" }))));
    expect(roots.toSorted()).toEqual(["a", "b"]);
  });

  test("a node without a parent field hangs from the one that lists it", async () => {
    const { parent: _, ...lost } = node("b", null);
    const nodes = [node("a", null, { more: { children: ["b"] } }), lost];
    const { activeLine, reports } = shapeOf(soleSession(await importJson(conversation(nodes))));
    expect(activeLine).toEqual(["a", "b"]);
    expect(reports).toEqual([]);
  });
});

describe("the order of seq", () => {
  const seqs = (session: Collected) => entriesOf(session).map(({ id }) => id);
  const three = [
    node("a", null),
    node("r1", "a"),
    node("r2", "a"),
    node("r3", "a"),
    node("t", "r2", { time: 1 }),
  ];

  test("[V2] ends with the active leaf where alternatives allow it", async () => {
    const session = soleSession(await importJson(conversation(three, { current_node: "t" })));
    expect(seqs(session)).toEqual(["a", "r1", "r2", "r3", "t"]);
  });

  test("[T2] keeps the alternatives in order where the active one is not the last; a register tells it", async () => {
    const session = soleSession(await importJson(conversation(three, { current_node: "r1" })));
    expect(seqs(session)).toEqual(["a", "r1", "r2", "t", "r3"]);
    expect(session.records.at(-1)).toMatchObject({ kind: "register", key: "view:active", value: "r1" });
  });

  test("is by time within what the tree allows", async () => {
    const nodes = [
      node("a", null, { time: 1 }),
      node("b", "a", { time: 5 }),
      node("c", "a", { time: 3 }),
      node("d", "c", { time: 4 }),
    ];
    expect(seqs(soleSession(await importJson(conversation(nodes))))).toEqual(["a", "c", "d", "b"]);
  });
});
