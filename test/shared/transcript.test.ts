import { lastMessage, settings, transcript } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import {
  chain,
  compaction,
  erased,
  ids,
  modelChange,
  note,
  optionChange,
  other,
  reply,
  text,
  user,
} from "./context-records.js";

const path = chain(
  user("u"),
  user("hidden", [text("x")], { audience: "model" }),
  reply("aside", [text("x")], { audience: "reader" }),
  modelChange("mc", "m"),
  optionChange("oc", "effort", 1),
  note("n"),
  note("n2", { audience: "model" }),
  other("branch-summary", "b", { fromId: "z", summary: "s" }),
  compaction("K", null, "b"),
  other("poll", "p"),
);

describe("[C1] [C2] the transcript", () => {
  test("[case-C5] is all but what is for the model alone, compactions as marks", () => {
    expect(ids(transcript(path))).toEqual(["u", "aside", "mc", "oc", "n", "b", "K", "p"]);
  });

  test("[L2] erased entries keep their place, unless they were for the model alone", () => {
    const [u, hidden] = chain(user("u"), user("hidden"));
    if (u === undefined || hidden === undefined) throw new Error("unable to build; no entries");
    expect(ids(transcript([erased(u, 9), erased(hidden, 10, { audience: "model" })]))).toEqual(["u"]);
  });

  test("its last message is that which readers see last", () => {
    expect(lastMessage(path)?.id).toBe("aside");
    expect(lastMessage(path.slice(0, 2))?.id).toBe("u");
    expect(lastMessage(path.slice(5))).toBeNull();
  });
});

describe("[C7] the settings", () => {
  test("are the model and the options in force at the leaf", () => {
    expect(
      settings(chain(modelChange("a", "m", { effort: "low" }), user("u"), optionChange("o", "top", [1]))),
    ).toEqual({ provider: "acme", modelId: "m", options: { effort: "low", top: [1] } });
  });

  test("a model-change resets the options to its own", () => {
    const changes = [optionChange("o", "effort", "high"), optionChange("p", "top", 1)];
    expect(settings(chain(...changes, modelChange("a", "m"))).options).toEqual({});
    expect(settings(chain(...changes, modelChange("a", "m", { top: 2 }))).options).toEqual({ top: 2 });
  });

  test("without any there is no model, and an option of any name is only a name", () => {
    expect(settings([])).toEqual({ provider: null, modelId: null, options: {} });
    const { options } = settings(chain(optionChange("o", "__proto__", { evil: true })));
    expect(Object.keys(options)).toEqual(["__proto__"]);
    expect("evil" in options).toBe(false);
  });

  test("[S8] are frozen", () => {
    const found = settings(path);
    expect([found, found.options].every(Object.isFrozen)).toBe(true);
  });
});
