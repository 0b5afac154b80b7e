/**
 * Damages JSONL sessions at random, and tells what an import of what is left must still hold. The same
 * seed gives the same damage.
 */
import type { LogRecord } from "@espalier/shared";
import type { Random } from "../kit/clock.js";

type Value = unknown;
type Holder = { [key: string]: Value };

const isHolder = (value: Value): value is Holder => typeof value === "object" && value !== null;

const nested = (depth: number): Value => {
  let value: Value = "deep inside, and never lost";
  for (let level = 0; level < depth; level++) value = { down: value };
  return value;
};

export const ODD_VALUES: readonly (() => Value)[] = [
  () => null,
  () => true,
  () => false,
  () => 5,
  () => -1.5,
  () => "",
  () => "another text where none belongs",
  () => "half a pair \ud800 of surrogates",
  () => "line\u2028separator\u0000nul",
  () => [],
  () => ["a list where none belongs"],
  () => ({}),
  () => ({ type: "text", text: "a block where none belongs" }),
  () => [
    { type: "tool_result", tool_use_id: "toolu_x", content: [{ type: "odd", at: "a result's odd block" }] },
  ],
  () => nested(80),
  () => JSON.parse(`{"__proto__":{"polluted":"a key of the prototype"}}`),
];

const POINTERS = ["parentUuid", "parentId", "logicalParentUuid", "targetId", "firstKeptEntryId", "fromId"];
const FLAGS = ["isSidechain", "isMeta", "isCompactSummary"];

const idsIn = (text: string): string[] =>
  [...text.matchAll(/"(?:uuid|id)":"([^"]+)"/g)].map((match) => match[1] as string);

/** A session's text with some damage done to it. */
export const mutate = (text: string, random: Random): string => {
  let lines = text.split("\n").filter((line) => line.trim() !== "");
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const at = () => Math.floor(random() * lines.length);
  const edit = (change: (record: Holder) => void): void => {
    const index = at();
    try {
      const record = JSON.parse(lines[index] as string) as Holder;
      if (!isHolder(record)) return;
      change(record);
      lines[index] = JSON.stringify(record);
    } catch {
      // A line that was damaged before stays as it is.
    }
  };
  const ids = idsIn(text);

  const damages: readonly (() => void)[] = [
    () => void lines.splice(at(), 1),
    () => void lines.splice(at(), 0, lines[at()] as string),
    () => {
      const [a, b] = [at(), at()];
      [lines[a], lines[b]] = [lines[b] as string, lines[a] as string];
    },
    () => edit((record) => editField(record, random, (holder, key) => delete holder[key])),
    () =>
      edit((record) =>
        editField(record, random, (holder, key) => {
          holder[key] = pick(ODD_VALUES)();
        }),
      ),
    () =>
      edit((record) => {
        record[pick(POINTERS)] = pick(ids);
      }),
    () =>
      edit((record) => {
        record[pick(FLAGS)] = random() < 0.7;
      }),
    () => {
      const index = at();
      const line = lines[index] as string;
      lines[index] = line.slice(0, Math.floor(random() * line.length));
    },
    () => {
      const index = at();
      const glued = (lines[index] ?? "") + (lines[index + 1] ?? "");
      lines.splice(index, 2, glued);
    },
    () =>
      void lines.splice(
        at(),
        0,
        pick(["5", `"a line that is a text alone"`, "[]", "{}", "  ", "\u0000\u0000"]),
      ),
    () => {
      lines = lines.toReversed();
    },
  ];
  const count = 1 + Math.floor(random() * 4);
  for (let done = 0; done < count && lines.length > 0; done++) pick(damages)();
  return lines.join("\n") + (random() < 0.5 ? "\n" : "");
};

/** A field somewhere inside a record, each level as likely as the others. */
const editField = (record: Holder, random: Random, change: (holder: Holder, key: string) => void): void => {
  let holder = record;
  for (;;) {
    const keys = Object.keys(holder);
    if (keys.length === 0) return;
    const key = keys[Math.floor(random() * keys.length)] as string;
    const inner = holder[key];
    if (!isHolder(inner) || Object.keys(inner).length === 0 || random() < 0.3) return change(holder, key);
    holder = inner;
  }
};

/** Shorter strings are types, names and roles, which may be told in our own words. */
const MIN_LENGTH = 12;
const TOLD_OTHERWISE = /^(\d{4}-\d\d-\d\dT[\d:.]+Z|[a-z]+(_[a-z]+)+)$/;

/** The strings that must be found again: those of whole lines, whose id was not used before. */
export const textsOf = (text: string): string[] => {
  const used = new Set<unknown>();
  return text.split("\n").flatMap((line) => {
    let record: Value;
    try {
      record = JSON.parse(line);
    } catch {
      for (const id of idsIn(line)) used.add(id);
      return [];
    }
    const { uuid, id = uuid } = isHolder(record) ? record : {};
    if (typeof id === "string" && id !== "" && used.has(id)) return [];
    used.add(id);
    return stringsOf(record).filter((each) => each.length >= MIN_LENGTH && !TOLD_OTHERWISE.test(each));
  });
};

/** All that records say, as one text; the input of calls, and what was nested too deep, is JSON in a string. */
export const blobOf = (records: readonly LogRecord[]): string => {
  const strings = stringsOf(records);
  const inner = strings.flatMap((each) => {
    try {
      return each.startsWith("{") || each.startsWith("[") || each.startsWith('"')
        ? stringsOf(JSON.parse(each))
        : [];
    } catch {
      return [];
    }
  });
  return [...strings, ...inner].join("\n");
};

export const stringsOf = (value: Value): string[] => {
  const found: string[] = [];
  const pending: Value[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") found.push(next.toWellFormed());
    else if (isHolder(next)) pending.push(...Object.values(next).filter((each) => each !== undefined));
  }
  return found;
};
