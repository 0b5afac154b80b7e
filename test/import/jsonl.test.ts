/** Lines of a JSONL file, however they were cut, and any record again by its place. */
import { describe, expect, test } from "vitest";
import { createRecordReader, type Place, scanJsonl } from "../../server/src/import/jsonl.js";
import { memoryFile } from "./kit.js";

const isRecord = (value: unknown): boolean => typeof value === "object" && value !== null && "id" in value;

const scan = async (content: string | Uint8Array, pieceBytes = 7) => {
  const file = memoryFile("f.jsonl", content, pieceBytes);
  const reports: string[] = [];
  const values: unknown[] = [];
  const places: Place[] = [];
  await scanJsonl(
    file,
    isRecord,
    (line) => reports.push(line),
    (value, place) => {
      values.push(value);
      places.push(place);
    },
  );
  const read = createRecordReader(file, isRecord);
  for (const [index, place] of places.toReversed().entries())
    expect(await read(place)).toEqual(values.at(-1 - index));
  return { values, lines: places.map(({ line }) => line), reports };
};

describe("[import] lines", () => {
  test("end at a line feed only", async () => {
    const values = [{ id: "a\u2028b\u2029c" }, { id: "\u0085\u000b" }];
    const text = values.map((value) => JSON.stringify(value)).join("\r\n");
    expect(text).toContain("\u2028");
    expect(await scan(text)).toEqual({ values, lines: [1, 2], reports: [] });
  });

  test("that are blank are counted and say nothing", async () => {
    expect(await scan('\n{"id":1}\n  \n\r\n{"id":2}\n\n')).toEqual({
      values: [{ id: 1 }, { id: 2 }],
      lines: [2, 5],
      reports: [],
    });
  });

  test.each([1, 2, 3, 5, 64, 4096])("cut into pieces of %i bytes are whole again", async (pieceBytes) => {
    const values = Array.from({ length: 40 }, (_, index) => ({ id: index, text: "é😀\u2028".repeat(index) }));
    const text = `\uFEFF${values.map((value) => JSON.stringify(value)).join("\n")}\n`;
    expect((await scan(text, pieceBytes)).values).toEqual(values);
  });

  test("with several records give them all", async () => {
    const { values, reports } = await scan('{"id":"}{"} {"id":"\\""}{"id":3}\n');
    expect(values).toEqual([{ id: "}{" }, { id: '"' }, { id: 3 }]);
    expect(reports).toEqual(["line 1: two records on one line"]);
  });

  test.each([
    ['{"id":1,"text":"cut he{"id":2,"inner":{"id":3}}', [{ id: 2, inner: { id: 3 } }]],
    ['{"id":1,"list":[{"a":"b{"id":2}', [{ id: 2 }]],
    ['{"id":1}{"id":2,"te{"id":3}', [{ id: 1 }, { id: 3 }]],
    ['{"id":1}{"id":2,"te', [{ id: 1 }]],
  ])("with a cut-off record give the whole ones: %s", async (line, values) => {
    expect(await scan(`${line}\n`)).toEqual({
      values,
      lines: values.map(() => 1),
      reports: ["line 1: a cut-off record and a whole one on one line; the whole one is kept"],
    });
  });

  test("that cannot be read are reported; what is inside of one is no record", async () => {
    const { values, reports } = await scan(
      '{"id":1,"block":{"type":"text"}\nhello\n\0\0\0\n{"id":2}\n{"id":3,"te',
    );
    expect(values).toEqual([{ id: 2 }]);
    expect(reports).toEqual([
      "line 1: not JSON; skipped",
      "line 2: not JSON; skipped",
      "line 3: not JSON; skipped",
      "line 5: torn last line; skipped",
    ]);
  });

  test("with bytes that are not UTF-8 are mended and reported", async () => {
    const bytes = Uint8Array.from([...Buffer.from('{"id":"a'), 0xff, ...Buffer.from('b"}{"id":2}\n')]);
    const { values, reports } = await scan(bytes);
    expect(values).toEqual([{ id: "a\uFFFDb" }, { id: 2 }]);
    expect(reports[0]).toBe("line 1: bytes that are not UTF-8; replaced by U+FFFD");
  });

  test("that are nested without end are not looked through for ever", async () => {
    const { values, reports } = await scan(`${'{"a":'.repeat(200_000)}\n{"id":1}\n`, 65536);
    expect(values).toEqual([{ id: 1 }]);
    expect(reports).toEqual(["line 1: not JSON; skipped"]);
  });

  test("larger than what is read at once come back by their place", async () => {
    const values = [{ id: "x".repeat(700_000) }, { id: "y" }, { id: "z".repeat(300_000) }];
    expect((await scan(values.map((value) => JSON.stringify(value)).join("\n"), 65536)).values).toEqual(
      values,
    );
  });
});

test("[import] of many lines that are none, the first twenty are told, and how many more", async () => {
  const { values, reports } = await scan(`${"nonsense\n".repeat(300)}{"id":1}\n`);
  expect(values).toEqual([{ id: 1 }]);
  expect(reports).toHaveLength(21);
  expect(reports.at(-1)).toBe("and 280 more lines: not JSON; skipped");
});
