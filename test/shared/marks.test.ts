/** What the values of marks mean, and what the next ones are. */
import {
  type Collapse,
  collapseAll,
  type EntryId,
  isCollapsed,
  type Json,
  pins,
  readCollapse,
  readReadMark,
  toggleCollapse,
} from "@espalier/shared";
import { describe, expect, test } from "vitest";

const id = (name: string): EntryId => name as EntryId;
const pinnedOf = (...keys: string[]) => ({ get: (key: string): Json => (keys.includes(key) ? true : null) });
const valueAfter = (...steps: ((collapse: Collapse) => Json)[]): Json =>
  steps.reduce<Json>((value, step) => step(readCollapse(value)), null);
const toggle = (name: string, kind: string) => (collapse: Collapse) =>
  toggleCollapse(collapse, id(name), kind);
const setAll = (kind: string, isNow: boolean) => (collapse: Collapse) => collapseAll(collapse, kind, isNow);
const collapsedIn = (value: Json, name: string, kind: string) =>
  isCollapsed(readCollapse(value), id(name), kind);

test("[G1] the pins of a path stand in its order; those that are elsewhere or nowhere are passed over", () => {
  const path = ["a", "b", "c"].map((name) => ({ id: id(name) }));
  expect(pins(path, pinnedOf("pin:c", "pin:nowhere", "pin:a"))).toEqual(["a", "c"]);
  expect(pins([], pinnedOf("pin:a"))).toEqual([]);
});

describe("[G1] what is collapsed", () => {
  test("a toggle changes one entry of one kind, and a second one leaves nothing behind", () => {
    const once = valueAfter(toggle("a", "thinking"));
    expect(collapsedIn(once, "a", "thinking")).toBe(true);
    expect(collapsedIn(once, "b", "thinking")).toBe(false);
    expect(collapsedIn(once, "a", "tool")).toBe(false);
    expect(valueAfter(toggle("a", "thinking"), toggle("a", "thinking"))).toBeNull();
  });

  test("a whole kind takes what was single with it, and single ones are told apart from it again", () => {
    const all = valueAfter(toggle("a", "thinking"), toggle("b", "tool"), setAll("thinking", true));
    expect(collapsedIn(all, "z", "thinking")).toBe(true);
    expect(all).toEqual({ all: { thinking: true }, some: { tool: { b: true } } });
    const one = valueAfter(setAll("thinking", true), toggle("a", "thinking"));
    expect([collapsedIn(one, "a", "thinking"), collapsedIn(one, "z", "thinking")]).toEqual([false, true]);
    expect(
      valueAfter(setAll("thinking", true), toggle("a", "thinking"), setAll("thinking", false)),
    ).toBeNull();
  });

  test("of each kind the 500 that were toggled last are kept, so that a register holds them", () => {
    const steps = Array.from({ length: 600 }, (_, index) => toggle(`entry${index}`, "thinking"));
    const value = valueAfter(...steps);
    expect(collapsedIn(value, "entry99", "thinking")).toBe(false);
    expect(collapsedIn(value, "entry100", "thinking")).toBe(true);
    expect(collapsedIn(value, "entry599", "thinking")).toBe(true);
    expect(JSON.stringify(value).length).toBeLessThan(64 * 1024);
  });

  test("kinds may be named like what every object has", () => {
    for (const kind of ["__proto__", "constructor", "toString"]) {
      expect(collapsedIn(null, "a", kind)).toBe(false);
      expect(collapsedIn(valueAfter(toggle("a", kind)), "a", kind)).toBe(true);
      expect(collapsedIn(valueAfter(setAll(kind, true)), "a", kind)).toBe(true);
    }
  });

  test("what is of another shape means nothing", () => {
    const strange: Json[] = [7, "x", [], { all: 1, some: [] }, { all: { k: "yes" }, some: { k: { a: 1 } } }];
    for (const value of strange) expect(collapsedIn(value, "a", "k")).toBe(false);
  });
});

test("[G1] a read marker of another shape is none", () => {
  expect(readReadMark({ leafId: "e1", seq: 4 })).toEqual({ leafId: "e1", seq: 4 });
  for (const value of [null, "e1", { leafId: "no id!", seq: 4 }, { leafId: "e1" }, []] as Json[])
    expect(readReadMark(value)).toBeNull();
});
