import {
  createRegisters,
  createRuns,
  isRunEnded,
  RUN_STEPS,
  type RunId,
  type RunStatus,
} from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { register, run } from "./records.js";

describe("[G1] registers", () => {
  test("the last seq wins, in whatever order they come", () => {
    const registers = createRegisters();
    expect(registers.apply(register("title", 5, "new"))).toBe(true);
    expect(registers.apply(register("title", 3, "old"))).toBe(false);
    expect(registers.apply(register("title", 5, "new"))).toBe(false);
    expect(registers.get("title")).toBe("new");
  });

  test("null clears, and what was cleared stays cleared", () => {
    const registers = createRegisters();
    registers.apply(register("title", 1, "a"));
    registers.apply(register("title", 4, null));
    registers.apply(register("title", 2, "b"));
    expect(registers.get("title")).toBeNull();
    expect(registers.all()).toEqual([]);
    expect(registers.record("title")).toMatchObject({ seq: 4, value: null });
  });

  test("one that was never set is null", () => {
    expect(createRegisters().get("__proto__")).toBeNull();
    expect(createRegisters().record("title")).toBeUndefined();
  });

  test("[S8] a record is frozen", () => {
    const registers = createRegisters();
    registers.apply(register("title", 1, "a"));
    expect(Object.isFrozen(registers.record("title"))).toBe(true);
  });
});

const TERMINAL: RunStatus[] = ["done", "failed", "cancelled", "interrupted"];

describe("runs", () => {
  test("[R5] nothing follows a terminal status, and something every other", () => {
    const ended = (Object.keys(RUN_STEPS) as RunStatus[]).filter(isRunEnded);
    expect(ended.sort()).toEqual(TERMINAL.sort());
  });

  test("every run can end", () => {
    for (const status of Object.keys(RUN_STEPS) as RunStatus[]) {
      const reached = new Set<RunStatus>([status]);
      for (const each of reached) for (const next of RUN_STEPS[each]) reached.add(next);
      expect([...reached].some(isRunEnded)).toBe(true);
    }
  });

  test("a run keeps the seq of its first record and takes the rev of its last", () => {
    const runs = createRuns();
    runs.apply(run("r", 3, "requested"));
    expect(runs.apply(run("r", 5, "active"))).toMatchObject({ seq: 3, rev: 5, status: "active" });
  });

  test("a record that is known already changes nothing", () => {
    const runs = createRuns();
    runs.apply(run("r", 3, "requested"));
    const active = runs.apply(run("r", 5, "active"));
    expect(runs.apply(run("r", 3, "requested"))).toBe(active);
    expect(runs.apply(run("r", 5, "active"))).toBe(active);
  });

  test("open ones are those that have not ended, oldest first", () => {
    const runs = createRuns();
    runs.apply(run("a", 1, "requested"));
    runs.apply(run("b", 2, "requested"));
    runs.apply(run("c", 3, "requested"));
    runs.apply(run("a", 4, "active"));
    runs.apply(run("b", 5, "cancelled"));
    expect([...runs.open()].map(({ id }) => id)).toEqual(["a", "c"]);
    expect([...runs.all()]).toHaveLength(3);
    expect(runs.get("b" as RunId)?.status).toBe("cancelled");
  });

  test("[S8] a held run does not change under its holder", () => {
    const runs = createRuns();
    const held = runs.apply(run("a", 1, "requested"));
    runs.apply(run("a", 2, "active"));
    expect(held.status).toBe("requested");
    expect(Object.isFrozen(held)).toBe(true);
  });
});
