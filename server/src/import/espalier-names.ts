/**
 * The ids of the sessions in one file: a second import must give each the same one again. An id that is
 * taken, or is none, is replaced by one that what the session holds decides; an exact repeat gets none. Ids
 * are compared exactly, as everywhere: those that differ in case are two.
 */
import { createHash } from "node:crypto";
import { isSessionId, type SessionId } from "@espalier/shared";
import type { Kept } from "./espalier-check.js";
import type { Fields } from "./fields.js";
import { jsonText } from "./json-text.js";
import type { RecordReader } from "./jsonl.js";

type Nameable = { readonly header: Fields };

type Named<T> = {
  readonly each: T;
  /** Null for an exact repeat of an earlier one. */
  readonly id: SessionId | null;
  /** What is odd about its id. */
  readonly report: string | null;
};

/** In their order. Digests are asked for only where ids do not suffice. */
export const nameSessions = async <T extends Nameable>(
  found: readonly T[],
  digestOf: (each: T) => Promise<string>,
): Promise<readonly Named<T>[]> => {
  const wanted = found.map(({ header }) => (isSessionId(header.id) ? header.id : null));
  const counts = new Map<SessionId, number>();
  for (const id of wanted) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
  const taken = new Set<string>(counts.keys());
  const isGiven = new Set<string>();
  const seen = new Set<string>();

  const nameOf = async (each: T, own: SessionId | null): Promise<Named<T>> => {
    if (own !== null && counts.get(own) === 1) return { each, id: own, report: null };
    const digest = await digestOf(each);
    if (seen.has(digest)) return { each, id: null, report: "repeats an earlier session exactly; ignored" };
    seen.add(digest);
    if (own !== null && !isGiven.has(own)) {
      isGiven.add(own);
      return { each, id: own, report: null };
    }
    const id = own === null ? digest : (numberedId(own, taken) ?? `${rootOf(own)}${digest}`);
    taken.add(id);
    const fault = own === null ? "is no session's id" : "is used by an earlier session";
    const report = `${JSON.stringify(each.header.id)} ${fault}; this one is ${id}`;
    return { each, id: id as SessionId, report };
  };

  const named: Named<T>[] = [];
  for (const [index, each] of found.entries()) named.push(await nameOf(each, wanted[index] ?? null));
  return named;
};

/** The first of `id-2`, `id-3`, … that is free; null where none fits. */
const numberedId = (id: string, taken: ReadonlySet<string>): string | null => {
  for (let count = 2; ; count += 1) {
    const numbered = `${id}-${count}`;
    if (!isSessionId(numbered)) return null;
    if (!taken.has(numbered)) return numbered;
  }
};

const rootOf = (id: string): string => id.slice(0, id.indexOf("/") + 1);

const DIGEST_LENGTH = 32;

/** Of a header and the records below it, an id by the grammar. */
export const digestOfLog = async (
  header: Fields,
  kept: readonly Kept[],
  read: RecordReader,
): Promise<string> => {
  const hash = createHash("sha256").update(jsonText(header));
  for (const { place } of kept) hash.update(`\n${jsonText(await read(place))}`);
  return hash.digest("hex").slice(0, DIGEST_LENGTH);
};
