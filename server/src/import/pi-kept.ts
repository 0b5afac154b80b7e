/**
 * What a pi compaction keeps: from the entry that it names on; in version 1 by that entry's count; in
 * newer files a copy of the messages, which is looked for right above the compaction. One that names
 * itself, or copies none, keeps none.
 */
import { jsonEqual } from "@espalier/shared";
import { type Fields, fieldsOf, listOf, textOf } from "./fields.js";
import type { Report } from "./foreign.js";
import { whereOf } from "./jsonl.js";
import type { PiFact } from "./pi-facts.js";

/** What the search for a kept tail needs to know of the tree. */
export type Above = {
  readonly parentOf: (fact: PiFact) => PiFact | null;
  readonly read: (fact: PiFact) => Promise<Fields>;
  readonly idAt: (count: number) => string | null;
};

export const firstKeptOf = async (
  record: Fields,
  fact: PiFact,
  above: Above,
  report: Report,
): Promise<string | null> => {
  const named = textOf(record.firstKeptEntryId);
  if (named !== null) return named === fact.id || named === "" ? null : named;
  if (fact.firstKeptIndex !== null) return above.idAt(fact.firstKeptIndex);
  const tail = listOf(record.retainedTail);
  if (tail.length === 0) return null;
  let at: PiFact | null = fact;
  for (const kept of tail.toReversed()) {
    at = await messageAbove(at, above);
    if (at !== null && isSame(kept, await above.read(at))) continue;
    report(`${whereOf(fact.place)}: what it retained does not stand above it; kept in its source only`);
    return null;
  }
  return at.id;
};

const messageAbove = async (fact: PiFact, { parentOf }: Above): Promise<PiFact | null> => {
  let at = parentOf(fact);
  while (at !== null && at.kind.type !== "message") at = parentOf(at);
  return at;
};

const isSame = (kept: unknown, record: Fields): boolean => {
  if (record.type === "message") return jsonEqual(kept, record.message);
  const { content, customType } = fieldsOf(kept);
  return jsonEqual([content, customType], [record.content, record.customType]);
};
