/** [D5, D6, S7] Files that cannot be trusted: damaged, newer, cut, or a catalogue that is behind. */
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LogStore } from "../../../server/src/store/log-store.js";
import { createFolder, type Folder } from "./folder.js";
import { append, headOf, message, put, recordsOf, sessionId, title } from "./records.js";

let folder: Folder;
beforeEach(() => {
  folder = createFolder();
});
afterEach(() => folder.dispose());

const CATALOGUE = ".espalier/catalogue.jsonl";

/** Two closed sessions, `good` and `bad`, of three messages each. */
const fill = async (): Promise<void> => {
  const store = await folder.open();
  for (const id of ["good", "bad"]) await put(store, id, 0, message(1), message(2), message(3));
  await store.close();
};

const rewrite = (path: string, change: (lines: string[]) => void): void => {
  const lines = folder.read(path).split("\n");
  change(lines);
  writeFileSync(join(folder.dir, path), lines.join("\n"));
};

const onLine =
  (index: number, change: (line: string) => string) =>
  (lines: string[]): void => {
    lines[index] = change(lines[index] as string);
  };

const refusalOf = async (store: LogStore, id: string) => {
  const loaded = await store.load(sessionId(id));
  return loaded.type === "refused" ? loaded.error : loaded.type;
};

describe("[D5] damage in a session's file", () => {
  const damages: [string, (lines: string[]) => void, number][] = [
    ["a line that is no JSON", onLine(2, (line) => line.replace('"id"', "id'")), 3],
    ["an empty line", (lines) => void lines.splice(1, 0, ""), 2],
    ["a line that is no record", onLine(3, () => "[1]"), 4],
    ["a line twice", (lines) => void lines.splice(2, 0, lines[1]!), 3],
    ["lines out of order", (lines) => void lines.splice(1, 2, lines[2]!, lines[1]!), 3],
    ["no header", (lines) => void lines.shift(), 1],
    ["the header of another", onLine(0, (line) => line.replace('"bad"', '"good"')), 1],
    ["no epoch in the header", onLine(0, (line) => line.replace("epoch", "age")), 1],
    ["an origin that is none", onLine(0, (line) => line.replace('"epoch"', '"origin":7,"epoch"')), 1],
  ];
  for (const [name, damage, line] of damages) {
    test(`[D5] ${name} is refused with its line, and other sessions open`, async () => {
      await fill();
      rewrite("bad.jsonl", damage);
      folder.remove(CATALOGUE);
      const damaged = folder.read("bad.jsonl");
      const store = await folder.open();
      const error = { code: "damaged", message: expect.stringContaining(`line ${line} of `) };
      expect(await refusalOf(store, "bad")).toEqual(error);
      expect(await store.append(sessionId("bad"), 3, [message(4)])).toEqual({ type: "refused", error });
      expect((await store.summary(sessionId("bad")))?.error).toEqual(error);
      expect(await recordsOf(store, "good")).toHaveLength(3);
      await store.close();
      expect(folder.read("bad.jsonl")).toBe(damaged);
    });
  }

  test("[D5] bytes that are not UTF-8 are refused with their line", async () => {
    await fill();
    const bytes = Buffer.from(folder.read("bad.jsonl"));
    bytes[bytes.indexOf("message 2")] = 0xff;
    writeFileSync(join(folder.dir, "bad.jsonl"), bytes);
    expect(await refusalOf(await folder.open(), "bad")).toMatchObject({
      code: "damaged",
      message: expect.stringContaining("line 3 of "),
    });
  });

  test("[D5] damage that leaves the length as it was is found when the session is loaded", async () => {
    await fill();
    rewrite(
      "bad.jsonl",
      onLine(2, (line) => line.replace("{", "[")),
    );
    const store = await folder.open();
    expect(await refusalOf(store, "bad")).toMatchObject({ message: expect.stringContaining("line 3 of ") });
    expect((await store.summary(sessionId("bad")))?.error?.code).toBe("damaged");
    await store.close();
    expect(await refusalOf(await folder.open(), "bad")).toMatchObject({ code: "damaged" });
  });

  test("[D5] in a file that grew, the line is counted from the file's start", async () => {
    await fill();
    folder.add("bad.jsonl", `${JSON.stringify(message(4))}\n{"kind":"entry"}\n`);
    expect(await refusalOf(await folder.open(), "bad")).toMatchObject({
      message: expect.stringContaining("line 6 of "),
    });
  });

  test("[D5] a file that was cut at a line's end, or is gone, is found out", async () => {
    await fill();
    const lines = folder.read("bad.jsonl").split("\n");
    truncateSync(join(folder.dir, "bad.jsonl"), Buffer.byteLength(`${lines.slice(0, 3).join("\n")}\n`));
    folder.remove("good.jsonl");
    const store = await folder.open();
    for (const id of ["bad", "good"]) expect(await refusalOf(store, id)).toMatchObject({ code: "damaged" });
    await store.close();
    expect(await refusalOf(await folder.open(), "bad")).toMatchObject({ code: "damaged" });
  });

  test("[D5] nothing is written behind a gap", async () => {
    const store = await folder.open();
    await put(store, "bad", 0, message(1));
    await put(store, "good", 0, message(1));
    await store.close();
    const again = await folder.open();
    await put(again, "bad", 1, message(2));
    const crashed = folder.copy();
    truncateSync(join(crashed.dir, "bad.jsonl"), 100);
    crashed.remove(CATALOGUE);
    const after = await crashed.open();
    expect(await refusalOf(after, "bad")).toMatchObject({ code: "damaged" });
    expect(await recordsOf(after, "good")).toHaveLength(1);
    expect(statSync(join(crashed.dir, "bad.jsonl")).size).toBe(100);
  });
});

describe("[D6] versions", () => {
  test("[D6] a session of a newer version is refused, and left untouched", async () => {
    await fill();
    rewrite("bad.jsonl", (lines) => {
      lines[0] = lines[0]!.replace('"version":1', '"version":2');
      lines.push("{ something else");
    });
    const newer = folder.read("bad.jsonl");
    const store = await folder.open({ bootId: "another" });
    expect(await refusalOf(store, "bad")).toMatchObject({ code: "newer_version" });
    expect(await recordsOf(store, "good")).toHaveLength(3);
    await store.close();
    expect(folder.read("bad.jsonl")).toBe(newer);
  });
});

describe("[S7] the catalogue", () => {
  const summaries = async (store: LogStore) => (await store.list({ limit: 100 })).sessions;

  const fillMore = async (store: LogStore): Promise<void> => {
    await put(store, "open", 0, message(1, "", { status: "streaming" }), title(2, "Open"));
    await put(store, "a/sub", 0, message(4));
    await put(
      store,
      "ended",
      0,
      message(1, "", { status: "streaming" }),
      append(2, "e1", "", { status: "complete" }),
    );
  };

  test("[S7] is rebuilt where it is gone or is not one", async () => {
    const store = await folder.open();
    await fillMore(store);
    const expected = await summaries(store);
    await store.close();
    for (const content of [
      null,
      "",
      "{}\n",
      "\u0000\u0000",
      '{"kind":"catalogue","version":1}\n{"id":"open","len',
    ]) {
      folder.remove(CATALOGUE);
      if (content !== null) folder.add(CATALOGUE, content);
      const again = await folder.open();
      expect(await summaries(again)).toEqual(expected);
      expect(await again.unfinished()).toEqual(["open"]);
      await again.close();
    }
  });

  test("[S7] that is behind is brought up from the logs", async () => {
    const first = await folder.open();
    await fillMore(first);
    await first.close();
    const old = folder.read(CATALOGUE);
    const second = await folder.open();
    await put(second, "open", 2, append(3, "e1", "", { status: "complete" }), message(4), title(5, "Closed"));
    await put(second, "new", 0, message(1, "", { status: "streaming" }));
    const expected = await summaries(second);
    await second.close();
    writeFileSync(join(folder.dir, CATALOGUE), old);
    const third = await folder.open();
    expect(await summaries(third)).toEqual(expected);
    expect(await third.unfinished()).toEqual(["new"]);
    await put(third, "open", 5, message(6));
    expect(await headOf(third, "open")).toBe(6);
  });

  test("[S7] is right after the death of a process that had noted it on the way", async () => {
    const store = await folder.open({ segmentBytes: 600, writeBehindMs: 1 });
    await fillMore(store);
    for (let head = 0; head < 30; head += 1) {
      await put(store, `s${head % 3}`, Math.floor(head / 3), message(Math.floor(head / 3) + 1));
    }
    const after = await folder.copy().open();
    expect(await summaries(after)).toEqual(await summaries(store));
    expect(await after.unfinished()).toEqual(["open"]);
  });

  test("[S7] opens without reading the files that it knows", async () => {
    await fill();
    const unreadable = folder.read("bad.jsonl").replace(/./g, "x");
    writeFileSync(join(folder.dir, "bad.jsonl"), unreadable);
    const store = await folder.open();
    expect((await store.summary(sessionId("bad")))?.entries).toBe(3);
  });

  test("[S7] yields to the log where they differ", async () => {
    await fill();
    rewrite(CATALOGUE, (lines) => {
      for (const [index, line] of lines.entries()) lines[index] = line.replace('"head":3', '"head":9');
    });
    const store = await folder.open();
    expect(await headOf(store, "good")).toBe(3);
    await put(store, "good", 3, message(4));
    expect(await headOf(store, "good")).toBe(4);
  });
});
