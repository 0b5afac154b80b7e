/** JSON exports with random damage. A failure prints its seed and the file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EspalierError } from "@espalier/shared";
import { describe, expect, test } from "vitest";
import { importChatGpt } from "../../server/src/import/chatgpt.js";
import { importLibreChat } from "../../server/src/import/librechat.js";
import { importOpenWebUi } from "../../server/src/import/openwebui.js";
import { type Random, seededRandom } from "../kit/clock.js";
import { expectLog, samplesOf } from "./expectation.js";
import { collect, collectWhole, FIXTURES, type Import, memorySource, options } from "./kit.js";
import { blobOf, ODD_VALUES, stringsOf } from "./mutations.js";

const SEEDS = 200;

describe.each<[string, Import]>([
  ["chatgpt", importChatGpt],
  ["librechat", importLibreChat],
  ["openwebui", importOpenWebUi],
])("[import] %s, damaged", (format, importer) => {
  const samples = samplesOf(format).map((file) => readFileSync(join(FIXTURES, format, file), "utf8"));
  const eachSeed = async (check: (text: string, random: Random) => Promise<void>): Promise<void> => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = seededRandom(seed);
      const text = samples[Math.floor(random() * samples.length)] as string;
      try {
        await check(text, random);
      } catch (error) {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      }
    }
  };

  test("a changed value gives a valid log, and what becomes a session loses no text", () =>
    eachSeed(async (text, random) => {
      const value = changed(JSON.parse(text), random);
      for (const item of Array.isArray(value) ? value : [value]) await expectKept(item, importer);
    }));

  test("changed bytes give valid logs, or an error that says so", () =>
    eachSeed(async (text, random) => {
      const importing = importer(
        memorySource({ "x.json": spoilt(text, random) }, 1 + (text.length % 997)),
        options(),
      );
      const { sessions, error } = await collectWhole(importing);
      for (const { records } of sessions) expectLog(records);
      if (error !== null) expect(error).toMatchObject({ name: "EspalierError", code: "invalid" });
    }));
});

const expectKept = async (item: unknown, importer: Import): Promise<void> => {
  const text = JSON.stringify(item);
  const result = await collect(importer(memorySource({ "x.json": text }, 1000), options())).catch(
    (error: unknown) => {
      if (error instanceof EspalierError && error.code === "invalid") return null;
      throw error;
    },
  );
  const session = result?.sessions[0];
  if (result === null || session === undefined) return;
  expectLog(session.records);
  const told = [blobOf(session.records), ...session.summary.reports, ...result.reports].join("\n");
  const lost = wordsOf(item).filter((each) => !told.includes(each));
  if (lost.length > 0) throw new Error(`lost ${JSON.stringify(lost)} of\n${text}`);
};

type Holder = { [key: string]: unknown };
const isHolder = (value: unknown): value is Holder => typeof value === "object" && value !== null;

/** Ids, names of types and times are of one word. Lists beside the pointers, and the copy of the line that was shown, are no text of their own. */
const REPEATED = ["children", "childrenIds", "messages"];
const MIN_LENGTH = 12;

const wordsOf = (item: unknown): string[] => {
  const { chat } = item as { chat?: Holder };
  const withoutLists = JSON.parse(JSON.stringify(item), (key, value) =>
    REPEATED.includes(key) &&
    Array.isArray(value) &&
    (key !== "messages" || chat !== undefined || "history" in (item as Holder))
      ? value.filter(isHolder).filter((each) => key === "children" && "messageId" in each)
      : value,
  ) as unknown;
  return stringsOf(withoutLists)
    .filter((each) => each.length >= MIN_LENGTH && each.includes(" "))
    .map((each) => JSON.stringify(each).slice(1, -1))
    .flatMap((each) => each.split(/\\.|\ufffd/).filter((piece) => piece.length >= MIN_LENGTH));
};

/** Some fields anywhere in a value removed, replaced, repeated or swapped. */
const changed = (whole: unknown, random: Random): unknown => {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const fields = (): [Holder, string][] => {
    const found: [Holder, string][] = [];
    const pending: unknown[] = [whole];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (!isHolder(next)) continue;
      for (const [key, value] of Object.entries(next)) {
        found.push([next, key]);
        pending.push(value ?? 0);
      }
    }
    return found;
  };
  const count = 1 + Math.floor(random() * 4);
  for (let done = 0; done < count; done++) {
    const all = fields();
    if (all.length === 0) return whole;
    const [holder, key] = pick(all);
    const [other, otherKey] = pick(all);
    const damages = [
      () => (Array.isArray(holder) ? void holder.splice(Number(key), 1) : delete holder[key]),
      () => Reflect.set(holder, key, pick(ODD_VALUES)()),
      () => Reflect.set(holder, key, structuredClone(other[otherKey])),
      () => {
        if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
        else holder[`${key}-again`] = structuredClone(holder[key]);
      },
    ];
    pick(damages)();
  }
  return whole;
};

const spoilt = (text: string, random: Random): Uint8Array => {
  const bytes = Buffer.from(text);
  const at = Math.floor(random() * bytes.length);
  if (random() < 0.4) return bytes.subarray(0, at);
  const count = 1 + Math.floor(random() * 3);
  for (let done = 0; done < count; done++)
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  return bytes;
};
