/** Imports a session of pi, or several one behind the other: one JSONL file, of versions 1 to 3. */
import { isId, type SessionId } from "@espalier/shared";
import { earliestOf, type Fields, isFields, restOf } from "./fields.js";
import type { ForeignEntry, ImportedSession, Importing, ImportOptions, Report, Source } from "./foreign.js";
import { type Forest, growForest } from "./forest.js";
import { firstRecords, whereOf } from "./jsonl.js";
import { assignOutside, readOutside } from "./outside.js";
import { toPiContent } from "./pi-content.js";
import { isPiSign, type PiFact } from "./pi-facts.js";
import { type Above, firstKeptOf } from "./pi-kept.js";
import { answeredOf, type PiIndex, scanPiFile } from "./pi-scan.js";
import { toSession } from "./records.js";
import { repair } from "./repair.js";
import { unableToRead } from "./unable.js";

const FORMAT = "pi";

/** Whether a file that begins with these bytes is of this format. */
export const detectPi = (firstBytes: Uint8Array): boolean => firstRecords(firstBytes).some(isPiSign);

/** Its sessions throw `invalid` where the file holds no record of pi. */
export const importPi = (source: Source, options: ImportOptions): Importing => {
  const files: string[] = [];
  const reports: string[] = [];
  return { format: FORMAT, files, reports, sessions: sessionsOf(source, options, files, reports) };
};

async function* sessionsOf(
  { file }: Source,
  options: ImportOptions,
  files: string[],
  reports: string[],
): AsyncGenerator<ImportedSession> {
  files.push(file.name);
  const indexes = await scanPiFile(file);
  if (!indexes.some(({ hasRecord }) => hasRecord)) throw unableToRead(file, "it holds no record of pi");
  const base = baseOf(file.name);
  for (const [count, index] of indexes.entries()) {
    // The place in the file is the same at a second import.
    const own = count === 0 ? base : `${base}-${count + 1}`;
    const id = ([index.sessionId, own].find(isId) ?? options.newId()) as SessionId;
    const session = toPiSession(index, id, options);
    if (session === null) reports.push(...index.reports, `${file.name}: no messages; skipped`);
    else yield session;
  }
}

const baseOf = (fileName: string): string =>
  fileName.slice(fileName.lastIndexOf("/") + 1).replace(/\.jsonl$/i, "");

/** Null where it has no message. */
const toPiSession = (index: PiIndex, id: SessionId, options: ImportOptions): ImportedSession | null => {
  if (index.facts.length === 0) return null;
  const { sessionId, title, labels, header, reports } = index;
  const createdAt = index.createdAt ?? earliestOf(index.facts) ?? options.now();
  const forest = growTree(index, createdAt, (line) => reports.push(line));
  const source = { format: FORMAT, ...restOf({ header }) };
  const activeLeaf = forest.nodes.at(-1) ?? null;
  return toSession(
    { id, sourceId: sessionId, title, createdAt, changedAt: null, source, activeLeaf, labels },
    forest,
    reports,
    options,
  );
};

const growTree = (index: PiIndex, createdAt: number, report: Report): Forest => {
  const { facts } = index;
  const contents = createContents(index, report);
  const entries = facts.map((fact, place): ForeignEntry => {
    const { id, parentId, time, kind } = fact;
    const where = whereOf(fact.place);
    const content = () => contents.at(place);
    return { sourceId: id, parentId, where, body: null, time, kind, content };
  });
  const repaired = repair(entries, "file", report);
  contents.place(repaired.map(({ parentId }) => parentId));
  return growForest(repaired, { order: "file", createdAt });
};

/** Contents are read when all have their place. */
const createContents = (index: PiIndex, report: Report) => {
  const { facts, outside, read, idAt } = index;
  const factsById = new Map(facts.map((fact) => [fact.id, fact]));
  const order = new Map(facts.map((fact, place) => [fact, place]));
  const answered = answeredOf(facts);
  const outsideOf = assignOutside(
    outside,
    facts.map(({ place }) => place),
  );
  let parentIds: readonly (string | null)[] = [];

  const readFact = async ({ place }: PiFact): Promise<Fields> => {
    const record = await read(place);
    return isFields(record) ? record : {};
  };
  const above: Above = {
    read: readFact,
    idAt,
    parentOf: (fact) => factsById.get(parentIds[order.get(fact) as number] ?? "") ?? null,
  };
  return {
    place: (ids: readonly (string | null)[]): void => {
      parentIds = ids;
    },
    at: async (place: number) => {
      const fact = facts[place] as PiFact;
      const record = await readFact(fact);
      const isCompaction = fact.kind.type === "compaction";
      const around = {
        fact,
        parentId: parentIds[place] ?? null,
        isAnswered: (callId: string) => answered.has(callId),
        outside: await readOutside(outsideOf(place), read),
        firstKeptId: isCompaction ? await firstKeptOf(record, fact, above, report) : null,
      };
      return toPiContent(record, around, report);
    },
  };
};
