import { context, contextEntries, settings } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  chain,
  compaction,
  ids,
  modelChange,
  note,
  optionChange,
  reply,
  system,
  user,
} from "./context-records.js";

describe("[C2] the entries that a context is made of", () => {
  const path = chain(
    modelChange("m0", "old"),
    system("s"),
    modelChange("m", "new", { effort: "low" }),
    optionChange("o1", "effort", "high"),
    optionChange("o2", "effort", "higher"),
    user("a"),
    reply("b"),
    reply("c"),
    note("n"),
    reply("d"),
    compaction("K", "d", "d", { keptIds: ["a"] as never }),
    note("r"),
    user("e"),
  );

  test("are those that it or the settings read, in the order of the path", () => {
    expect(ids(contextEntries(path))).toEqual(["s", "m", "o2", "a", "d", "K", "e"]);
  });

  test("the last summarised one is among them where it says where the window begins", () => {
    const cut = chain(user("a"), reply("b"), reply("c"), compaction("K", null, "b"), reply("d"));
    expect(ids(contextEntries(cut))).toEqual(["b", "c", "K", "d"]);
    expect(context(contextEntries(cut))).toEqual(context(cut));
  });

  test("[C7] give the same context and settings as the whole path", () => {
    expect(context(contextEntries(path))).toEqual(context(path));
    expect(settings(contextEntries(path))).toEqual(settings(path));
  });
});
