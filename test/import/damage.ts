/** Holds an importer to what must be true of any file, however damaged. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EspalierError, type LogRecord } from "@espalier/shared";
import { expect } from "vitest";
import { seededRandom } from "../kit/clock.js";
import { expectLog, samplesOf } from "./expectation.js";
import { collect, FIXTURES, type Import, memorySource, options } from "./kit.js";
import { blobOf, mutate, textsOf } from "./mutations.js";

/** Each seed damages one of the format's samples; a failure says which. */
export const expectDamageSurvived = async (
  format: string,
  importer: Import,
  seeds: number,
): Promise<void> => {
  const samples = samplesOf(format).map((file) => ({
    file,
    text: readFileSync(join(FIXTURES, format, file), "utf8"),
    beside: besideOf(join(FIXTURES, format, file)),
  }));
  for (let seed = 1; seed <= seeds; seed++) {
    const random = seededRandom(seed);
    const { file, text, beside } = samples[Math.floor(random() * samples.length)] as (typeof samples)[number];
    const damaged = Object.fromEntries(
      Object.entries({ "x.jsonl": text, ...beside }).map(([name, each]) => [name, mutate(each, random)]),
    );
    try {
      await expectImportable(damaged, importer);
    } catch (error) {
      throw new Error(`seed ${seed}, ${file}:\n${Object.values(damaged).join("\n\n")}`, { cause: error });
    }
  }
};

/** The files of a session's own folder, as those of the session `x`. */
const besideOf = (path: string): Record<string, string> => {
  const folder = path.replace(/\.jsonl$/, "");
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.json/.test(name),
  );
  return Object.fromEntries(names.map((name) => [`x/${name}`, readFileSync(join(folder, name), "utf8")]));
};

const expectImportable = async (files: Readonly<Record<string, string>>, importer: Import): Promise<void> => {
  const pieceBytes = 1 + ((files["x.jsonl"] ?? "").length % 997);
  const result = await collect(importer(memorySource(files, pieceBytes), options())).catch(
    (error: unknown) => {
      if (error instanceof EspalierError && error.code === "invalid") return null;
      throw error;
    },
  );
  if (result === null || result.sessions.length === 0) return;
  const records: LogRecord[] = [];
  for (const session of result.sessions) {
    expectLog(session.records);
    for (const record of session.records) records.push(record);
  }
  const blob = blobOf(records);
  // A file beside the session that holds no message is reported and makes no session.
  const isSkipped = (name: string): boolean =>
    result.sessions.some(({ summary }) =>
      summary.reports.includes(`${name.slice(name.lastIndexOf("/") + 1)}: no messages; skipped`),
    );
  const read = Object.entries(files).filter(([name]) => result.files.includes(name) && !isSkipped(name));
  const lost = read.flatMap(([, text]) => textsOf(text)).filter((each) => !blob.includes(each));
  expect(lost).toEqual([]);
};
