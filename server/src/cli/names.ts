/** What people have named in a session: branches by their leaves, and entries by labels (G1). */
import { type EntryId, KEY_KINDS, type Register, readBranch } from "@espalier/shared";

/** By entry, in the order in which they were given. */
export type Names = ReadonlyMap<EntryId, readonly string[]>;

type Named = { readonly id: EntryId; readonly name: string };

export const namesIn = (registers: readonly Register[]): Names => namesOf(registers.flatMap(namedBy));

export const namesOf = (named: Iterable<Named>): Names => {
  const namesById = new Map<EntryId, string[]>();
  for (const { id, name } of named) {
    const names = namesById.get(id);
    if (names === undefined) namesById.set(id, [name]);
    else names.push(name);
  }
  return namesById;
};

const { BRANCH, LABEL } = KEY_KINDS;

const namedBy = ({ key, value }: Register): Named[] => {
  const leaf = key.startsWith(BRANCH) ? readBranch(value) : null;
  if (leaf !== null) return [{ id: leaf, name: key.slice(BRANCH.length) }];
  if (!key.startsWith(LABEL) || typeof value !== "string") return [];
  return [{ id: key.slice(LABEL.length) as EntryId, name: value }];
};
