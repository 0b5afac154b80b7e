/** Named branches: names that stand on leaves (G1). A name stays where it was put; the line grows on without it. */
import { type EntryId, type ErrorBody, KEY_KINDS, readBranch } from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";
import { cached } from "./cached.js";

export type NamedBranch = { readonly name: string; readonly leafId: EntryId };

export type Branches = {
  /** The entry that a name stands on, whether it is loaded or not; null where there is no such name. */
  get(name: string): EntryId | null;
  /** When a name was put where it is, ms of the server's clock; null where there is none, or it is on its way. */
  timeOf(name: string): number | null;
  /** By when they were last put, the last one last. The same list until one changes. */
  list(): readonly NamedBranch[];
  /**
   * Puts a name on an entry, or moves it there. Resolves with null, or with why the server refused it: `invalid`
   * for a name of more than 192 characters or with control characters.
   *
   * @example await session.marks.branches.set("before the rewrite", view.snapshot.leafId)
   */
  set(name: string, leafId: EntryId): Promise<ErrorBody | null>;
  /** Takes the name away; its entries stay. */
  remove(name: string): Promise<ErrorBody | null>;
};

export const createBranches = (registers: ShownRegisters): Branches => {
  const keyOf = (name: string): string => `${KEY_KINDS.BRANCH}${name}`;
  return {
    get: (name) => readBranch(registers.get(keyOf(name))),
    timeOf: (name) => registers.timeOf(keyOf(name)),
    list: cached(
      () => registers.ofKind(KEY_KINDS.BRANCH),
      (named) =>
        named.flatMap(([name, value]): NamedBranch[] => {
          const leafId = readBranch(value);
          return leafId === null ? [] : [{ name, leafId }];
        }),
    ),
    set: (name, leafId) => registers.set(keyOf(name), leafId),
    remove: (name) => registers.set(keyOf(name), null),
  };
};
