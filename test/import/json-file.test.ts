/** JSON files of any size are read in pieces; damage is told, after what is whole before it. */
import { describe, expect, test } from "vitest";
import { MAX_VALUE_BYTES, openJson } from "../../server/src/import/json-file.js";
import { memoryFile } from "./kit.js";

const read = async (content: string | Uint8Array, pieceBytes = 3) => {
  const reports: string[] = [];
  const items: unknown[] = [];
  try {
    const json = await openJson(memoryFile("x.json", content, pieceBytes), (line) => reports.push(line));
    if (json.kind === "value") return { value: json.value, reports };
    for await (const item of json.items) items.push(item);
    return { items, reports };
  } catch (error) {
    return { items, reports, error: (error as Error).message };
  }
};

describe("[import] a JSON file", () => {
  test.each([1, 2, 3, 4, 7, 1000])("in pieces of %i bytes is what it is whole", async (pieceBytes) => {
    const items = [{ a: ["é", "茶", "😀", "\u2028", '\\"\n'] }, [], null, -1.5e3, { __proto__: null, b: {} }];
    const text = JSON.stringify(items);
    expect(await read(text, pieceBytes)).toEqual({ items: JSON.parse(text), reports: [] });
    expect(await read(`\uFEFF\n ${text} \n`, pieceBytes)).toEqual({ items: JSON.parse(text), reports: [] });
  });

  test("a key named __proto__ is a key like others", async () => {
    const { items } = await read('[{"__proto__":{"a":1}}]');
    expect(Object.keys(items?.[0] as object)).toEqual(["__proto__"]);
  });

  test.each([
    ["cut off", '[{"a":1},{"b":2},{"c', 2],
    ["cut off between two", '[{"a":1},', 1],
    ["with something behind it", '[{"a":1}] x', 1],
    ["spoilt in the middle", '[{"a":1},{"b":01},{"c":2}]', 1],
    ["with a raw line break in a text", '[{"a":1},"b\n"]', 1],
  ])("%s: what is whole before is given, then it fails", async (_, text, count) => {
    const { items, error } = await read(text);
    expect(items).toHaveLength(count);
    expect(error).toMatch(/^unable to import all of x\.json; it is not JSON, or cut off: .+, was read$/s);
  });

  test.each([
    ["", "it is empty"],
    [" \n ", "it is empty"],
    ["nonsense", "it is not JSON"],
    ['{"a":', "it is not JSON"],
  ])("%j is refused", async (text, reason) =>
    expect((await read(text)).error).toContain(`unable to import x.json; ${reason}`),
  );

  test("bytes that are no UTF-8 become U+FFFD, and are told once", async () => {
    const bytes = Buffer.concat([
      Buffer.from('["a'),
      Buffer.from([0xff]),
      Buffer.from('","b'),
      Buffer.from([0xe2, 0x82]),
      Buffer.from('"]'),
    ]);
    for (const pieceBytes of [1, 2, 100])
      expect(await read(bytes, pieceBytes)).toEqual({
        items: ["a\uFFFD", "b\uFFFD"],
        reports: ["x.json: bytes that are not UTF-8; replaced by U+FFFD"],
      });
  });

  test("[T5] 200,000 levels are no deeper than one", async () => {
    const { items } = await read(`[${"[".repeat(200_000)}${"]".repeat(200_000)}]`, 100_000);
    let depth = 0;
    for (let at: unknown = items?.[0]; Array.isArray(at); at = at[0]) depth += 1;
    expect(depth).toBe(200_000);
  });

  test("one value that would not fit in memory is refused before it is read; a list of that size is not", async () => {
    const file = { ...memoryFile("x.json", '{"a":1}'), size: MAX_VALUE_BYTES + 1 };
    await expect(openJson(file, () => {})).rejects.toThrow("it is one value of more than 512 MiB");
    const list = { ...memoryFile("x.json", "[]"), size: MAX_VALUE_BYTES + 1 };
    expect((await openJson(list, () => {})).kind).toBe("list");
  });
});
