import {
  type Append,
  createTree,
  type Delta,
  deltasFault,
  type Entry,
  foldDeltas,
  type LogRecord,
  mergeAppends,
  mergeDeltas,
  mergeRecords,
  type Part,
  sizeOfDeltas,
  takeDeltas,
  trimAppend,
  trimDeltas,
} from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cuts, endOf, randomLog } from "./random-log.js";
import { append, message, streaming, unknownRecord } from "./records.js";

const foldOf = (...records: readonly LogRecord[]): Entry[] => {
  const tree = createTree();
  for (const record of records) {
    const applied = tree.apply(record);
    expect(applied.type).not.toBe("missing");
  }
  return [...tree.nodes()].map(({ entry }) => entry);
};

/** What merging may change is left out: an entry's rev is that of the last record folded. */
const meaningOf = (entries: readonly Entry[]) => entries.map(({ rev: _, ...entry }) => entry);

const push = (part: Part): Delta => ({ push: part });
const TEXT: Part = { type: "text", text: "" };

describe("[S2] sizes", () => {
  test("a text delta counts its UTF-16 code units, a push or a set one", () => {
    expect(sizeOfDeltas([{ text: "aé😀" }, { text: "b", part: 2 }])).toBe(5);
    expect(sizeOfDeltas([push({ type: "text", text: "long" }), { set: { text: "longer" }, part: 0 }])).toBe(
      2,
    );
    expect(sizeOfDeltas([])).toBe(0);
  });

  test("the size of an entry is what appends folded, not what it was published with", () => {
    const [entry] = foldOf(
      streaming("a", null, 1, [{ type: "text", text: "hello" }]),
      append("a", 2, 0, ["😀"]),
    );
    expect(entry).toMatchObject({ size: 2, parts: [{ type: "text", text: "hello😀" }] });
  });

  test("sizes add up when appends are merged", () => {
    fc.assert(
      fc.property(randomLog, (log) => {
        const appends = log.filter((record) => record.kind === "append");
        const total = (list: readonly Append[]) =>
          list.reduce((sum, { deltas }) => sum + sizeOfDeltas(deltas), 0);
        expect(total(mergeRecords<LogRecord>(appends).filter((record) => record.kind === "append"))).toBe(
          total(appends),
        );
      }),
    );
  });
});

describe("where a text delta goes", () => {
  const fold = (parts: Part[], ...deltas: Delta[]) => foldDeltas(parts, deltas);

  test("to the last part, or to the one that is named", () => {
    const parts: Part[] = [TEXT, { type: "thinking", text: "" }];
    expect(fold(parts, { text: "t" }, { text: "x", part: 0 })).toEqual([
      { type: "text", text: "x" },
      { type: "thinking", text: "t" },
    ]);
  });

  test("on an entry with no part it starts one", () => {
    expect(fold([], { text: "a" }, { text: "b" })).toEqual([{ type: "text", text: "ab" }]);
  });

  test("it extends a tool call's input", () => {
    const call: Part = { type: "tool-call", callId: "c", name: "n", input: "{", state: "input" };
    expect(fold([call], { text: "}" })).toEqual([{ ...call, input: "{}" }]);
  });

  test("set changes fields of one part", () => {
    const call: Part = { type: "tool-call", callId: "c", name: "n", input: "", state: "input" };
    expect(fold([call, TEXT], { set: { state: "done", output: 1 }, part: 0 })).toEqual([
      { ...call, state: "done", output: 1 },
      TEXT,
    ]);
  });
});

describe("what does not fit is refused", () => {
  const file: Part = { type: "file", mediaType: "image/png", url: "u" };
  const call: Part = { type: "tool-call", callId: "c", name: "n", input: "", state: "input" };

  test.each<[string, Part[], Delta[], string | null]>([
    ["text on nothing", [], [{ text: "a" }], null],
    ["text in a named part of nothing", [], [{ text: "a", part: 0 }], "part 0 does not exist"],
    ["text in a file", [file], [{ text: "a" }], "a file part takes no text"],
    ["text in an earlier file", [file, TEXT], [{ text: "a", part: 0 }], "a file part takes no text"],
    ["text in a file just pushed", [], [push(file), { text: "a" }], "a file part takes no text"],
    ["the same by name", [], [push(file), push(TEXT), { text: "a", part: 0 }], "a file part takes no text"],
    ["text in a part just started", [], [{ text: "a" }, { text: "b", part: 0 }], null],
    ["a part beyond the end", [TEXT], [{ text: "a", part: 1 }], "part 1 does not exist"],
    ["set beyond the end", [], [{ set: { text: "a" }, part: 0 }], "part 0 does not exist"],
    ["set in a part just pushed", [], [push(TEXT), { set: { text: "a" }, part: 0 }], null],
    [
      "set to another kind of value",
      [TEXT],
      [{ set: { text: 5 } as never, part: 0 }],
      "part 0 would be no text part",
    ],
    [
      "set of a field there is none of",
      [TEXT],
      [{ set: { x: 1 } as never, part: 0 }],
      "part 0 would be no text part",
    ],
    ["set of the type", [TEXT], [{ set: { type: "thinking" }, part: 0 }], "part 0 cannot change its type"],
    ["set of a tool's state", [call], [{ set: { state: "done", output: null }, part: 0 }], null],
  ])("%s", (_, parts, deltas, fault) => expect(deltasFault(parts, deltas)).toBe(fault));

  test("[L5] a part of a newer version can be set", () => {
    const part = { type: "hologram", beams: 1 } as unknown as Part;
    expect(deltasFault([part], [{ set: { beams: 2 } as never, part: 0 }])).toBeNull();
  });
});

describe("[S3] [S4] trimming", () => {
  const deltas: Delta[] = [{ text: "ab" }, push(TEXT), { text: "cd", part: 1 }];

  test.each([
    [0, deltas],
    [1, [{ text: "b" }, push(TEXT), { text: "cd", part: 1 }]],
    [2, [push(TEXT), { text: "cd", part: 1 }]],
    [3, [{ text: "cd", part: 1 }]],
    [4, [{ text: "d", part: 1 }]],
    [5, []],
    [9, []],
  ])("after the first %i units", (skip, rest) => expect(trimDeltas(deltas, skip)).toEqual(rest));

  test("what is taken and what is left are the whole", () => {
    for (let size = 0; size <= 5; size++) {
      expect(mergeDeltas(takeDeltas(deltas, size), trimDeltas(deltas, size))).toEqual(deltas);
    }
  });

  test("an append that lies below the size wholly keeps its place and brings nothing", () => {
    expect(trimAppend(append("a", 5, 1, ["bc"]), 9)).toMatchObject({ at: 3, deltas: [] });
  });

  test("the fold of overlapping appends is the fold of the whole", () => {
    const overlaps = fc.array(fc.record({ record: fc.nat(), back: fc.nat({ max: 9 }) }), { maxLength: 8 });
    fc.assert(
      fc.property(randomLog, overlaps, (log, list) => {
        const again = [...log];
        let seq = Math.max(0, ...log.map((record) => record.seq));
        for (const { record, back } of list) {
          const earlier = withEarlier(log, record, back, ++seq);
          if (earlier !== null) again.push(earlier);
        }
        expect(meaningOf(foldOf(...again))).toEqual(meaningOf(foldOf(...log)));
      }),
    );
  });
});

/** An append sent again, together with up to `back` of those to its entry that came before it. */
const withEarlier = (log: readonly LogRecord[], index: number, back: number, seq: number): Append | null => {
  const appends = log.filter((record) => record.kind === "append");
  const last = appends[index % Math.max(1, appends.length)];
  if (last === undefined) return null;
  const line = appends.slice(0, appends.indexOf(last) + 1).filter(({ id }) => id === last.id);
  const merged = line.slice(-back - 1).reduce(mergeAppends);
  return { ...merged, seq: seq as Append["seq"] };
};

describe("[S6] merging", () => {
  test("the final text is the same whatever was merged, in frames cut anywhere", () => {
    fc.assert(
      fc.property(randomLog, fc.array(fc.nat(), { maxLength: 6 }), (log, places) => {
        const frames = cuts(log, places).map((frame) => mergeRecords<LogRecord>(frame));
        expect(meaningOf(foldOf(...frames.flat()))).toEqual(meaningOf(foldOf(...log)));
      }),
    );
  });

  test("merged twice is merged once", () => {
    fc.assert(
      fc.property(randomLog, (log) => {
        const once = mergeRecords<LogRecord>(log);
        expect(mergeRecords<LogRecord>(once)).toEqual(once);
      }),
    );
  });

  test("seqs still rise, and the last of each entry is the same", () => {
    fc.assert(
      fc.property(randomLog, (log) => {
        const seqs = mergeRecords<LogRecord>(log).map(({ seq }) => seq);
        expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
        expect(seqs.at(-1)).toBe(log.at(-1)?.seq);
        expect(foldOf(...mergeRecords<LogRecord>(log)).map(({ rev }) => rev)).toEqual(
          foldOf(...log).map(({ rev }) => rev),
        );
      }),
    );
  });

  test("a reader that has part of it already folds the rest alone", () => {
    fc.assert(
      fc.property(randomLog, fc.nat(), (log, cut) => {
        const had = log.slice(0, cut % (log.length + 1));
        expect(meaningOf(foldOf(...had, ...mergeRecords<LogRecord>(log)))).toEqual(meaningOf(foldOf(...log)));
      }),
    );
  });

  test("appends that do not meet stay apart", () => {
    const list = [append("a", 2, 0, ["ab"]), append("a", 3, 5, ["c"])];
    expect(mergeRecords(list)).toEqual(list);
  });

  test("what lies between keeps its order; status and usage are the last ones", () => {
    const usage = { input: 1, output: 2 };
    const other = message("o", null, 3);
    const merged = mergeRecords<LogRecord>([
      append("a", 2, 0, ["a"], { usage }),
      other,
      append("b", 4, 0, ["x"]),
      append("a", 5, 1, ["b"], { status: "complete" }),
    ]);
    expect(merged).toEqual([
      other,
      append("b", 4, 0, ["x"]),
      append("a", 5, 0, ["ab"], { status: "complete", usage }),
    ]);
  });

  test("texts for different parts stay apart", () => {
    expect(
      mergeDeltas([{ text: "a" }, { text: "b", part: 0 }], [{ text: "c", part: 0 }, { text: "d" }]),
    ).toEqual([{ text: "a" }, { text: "bc", part: 0 }, { text: "d" }]);
  });

  test("merging changes no record that is handed in", () => {
    const first = Object.freeze(append("a", 2, 0, ["a"]));
    const second = Object.freeze(append("a", 3, 1, ["b"]));
    for (const each of [first, second]) Object.freeze(each.deltas).forEach(Object.freeze);
    expect(endOf(mergeAppends(first, second))).toBe(2);
    expect(first.deltas).toEqual([{ text: "a" }]);
  });

  test("[L5] records of kinds that are not known pass through", () => {
    const list = [unknownRecord({ kind: "reaction", seq: 1 }), append("a", 2, 0, ["a"])];
    expect(mergeRecords<LogRecord>(list)).toEqual(list);
  });
});

describe("[S1] a message is final with its status", () => {
  test("appends carry status and usage; usage replaces", () => {
    const [entry] = foldOf(
      streaming("a", null, 1),
      append("a", 2, 0, ["x"], { usage: { input: 1, output: 1 } }),
      append("a", 3, 1, [], { usage: { input: 1, output: 9 }, status: "aborted" }),
    );
    expect(entry).toMatchObject({ status: "aborted", usage: { input: 1, output: 9 } });
  });
});

test("[T6] an append of thousands of deltas copies the parts of its entry once", () => {
  const parts = Array.from(
    { length: 10_000 },
    (_, index): Part => ({ type: "data", name: `p${index}`, data: null }),
  );
  const deltas = Array.from(
    { length: 20_000 },
    (_, index): Delta =>
      index % 2 === 0
        ? { set: { data: index }, part: index % 10_000 }
        : { push: { type: "data", name: "n", data: 1 } },
  );
  let copies = 0;
  const counted = new Proxy(parts, {
    get: (target, key, receiver) => {
      if (key === "slice" || key === Symbol.iterator || key === "with") copies += 1;
      return Reflect.get(target, key, receiver);
    },
  });
  expect(deltasFault(counted, deltas)).toBeNull();
  expect(copies).toBe(1);
  expect(foldDeltas(counted, deltas)).toHaveLength(20_000);
  expect(copies).toBe(2);
});
