/** [D1–D3] The contract of stores, kept by files; and what those files look like. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { idToName, nameToId } from "../../../server/src/store/file/names.js";
import { storeContract } from "../../kit/store-contract.js";
import { createFolder, type Folder } from "./folder.js";
import { countEpochs, message, put, recordsOf, sessionId } from "./records.js";

for (const [name, options] of [
  ["[D1] the store in files", {}],
  [
    "[D1] the store in files, with small segments that are written behind at once",
    { segmentBytes: 400, writeBehindMs: 1 },
  ],
] as const) {
  storeContract(name, async () => {
    const folder = createFolder();
    return {
      open: () => folder.open(options),
      reopen: async (store) => {
        await store.close();
        return folder.open(options);
      },
      dispose: folder.dispose,
    };
  });
}

describe("a session's file", () => {
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(() => folder.dispose());

  test("[F7] comes with the first write, with a header and then a record a line", async () => {
    const store = await folder.open({
      newEpoch: countEpochs(),
    });
    await store.append(sessionId("s1"), 0, [message(1), message(2, "\u2028")], { createdAt: 5 });
    await store.load(sessionId("never-written"));
    await store.close();
    expect(folder.read("s1.jsonl").split("\n")).toEqual([
      '{"kind":"session","version":1,"id":"s1","createdAt":5,"epoch":"epoch1"}',
      JSON.stringify(message(1)),
      JSON.stringify(message(2, "\u2028")),
      "",
    ]);
    expect(folder.exists("never-written.jsonl")).toBe(false);
  });

  test("[F5] of a sidechain lies under its session's folder", async () => {
    const store = await folder.open();
    await put(store, "s1/scout", 0, message(1));
    await store.close();
    expect(folder.read("s1/subagents/agent-scout.jsonl")).toContain('"id":"s1/scout"');
  });

  test("is its owner's alone to read", async () => {
    const store = await folder.open();
    await put(store, "s1", 0, message(1));
    await store.close();
    expect(statSync(join(folder.dir, "s1.jsonl")).mode & 0o777).toBe(0o600);
  });

  test.skipIf(!hasJq())("[L6] is read by jq, whatever its text", async () => {
    const store = await folder.open();
    const texts = ["a\nb", "\u2028", "\u0000", "👩‍👩‍👧"];
    await put(store, "s1", 0, ...texts.map((text, index) => message(index + 1, text)));
    await store.close();
    const filter = 'select(.kind == "entry") | .parts[0].text';
    const printed = execFileSync("jq", ["-c", filter, join(folder.dir, "s1.jsonl")], { encoding: "utf8" });
    expect(
      printed
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(texts);
  });

  test("[L8] has a name that no other id has, whatever the case", () => {
    const ids = ["abc", "Abc", "aBc", "ABC", "ABCDEFGHi", "a_B-c", "A".repeat(64), "z".repeat(64)];
    const names = ids.map(idToName);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(ids.length);
    expect(names.map(nameToId)).toEqual(ids);
    expect(names.slice(0, 3)).toEqual(["abc", "Abc~1", "aBc~2"]);
    expect(Math.max(...names.map((name) => `agent-${name}.jsonl`.length))).toBeLessThanOrEqual(255);
    for (const strange of ["Abc", "abc~1", "Abc~2", "abc~", "~1", "", ".espalier", "a/b", "Abc~10"]) {
      expect(nameToId(strange)).toBeNull();
    }
  });

  test("[L8] is never made for an id that could lead elsewhere", async () => {
    const store = await folder.open();
    for (const id of ["../x", "a/b/c", "", "a\n", ".espalier"]) {
      await expect(store.append(sessionId(id), 0, [message(1)])).rejects.toMatchObject({
        code: "invalid_id",
      });
      await expect(store.load(sessionId(id))).rejects.toMatchObject({ code: "invalid_id" });
    }
  });

  test("records that do not rise are a fault of the program, and nothing is written", async () => {
    const store = await folder.open();
    await expect(store.append(sessionId("s1"), 0, [message(2), message(2)])).rejects.toMatchObject({
      code: "internal",
    });
    expect(await store.load(sessionId("s1"))).toEqual({ type: "absent" });
    await put(store, "s1", 0, message(1));
    expect(await recordsOf(store, "s1")).toEqual([message(1)]);
  });
});

function hasJq(): boolean {
  try {
    execFileSync("jq", ["--version"]);
    return true;
  } catch {
    return false;
  }
}
