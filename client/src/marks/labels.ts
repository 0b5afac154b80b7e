/** Labels: a text that stands on an entry, for all who read the session (G1). */
import { type EntryId, type ErrorBody, isId, KEY_KINDS } from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";
import { cached } from "./cached.js";

export type Label = { readonly id: EntryId; readonly text: string };

export type Labels = {
  /** Null where the entry has none. */
  get(id: EntryId): string | null;
  /** By when they were last set, the last one last. The same list until one changes. */
  list(): readonly Label[];
  /** An empty text, or null, takes the label away. Resolves with null, or with why the server refused it. */
  set(id: EntryId, text: string | null): Promise<ErrorBody | null>;
};

export const createLabels = (registers: ShownRegisters): Labels => {
  const keyOf = (id: EntryId): string => `${KEY_KINDS.LABEL}${id}`;
  return {
    get: (id) => {
      const text = registers.get(keyOf(id));
      return typeof text === "string" ? text : null;
    },
    list: cached(
      () => registers.ofKind(KEY_KINDS.LABEL),
      (named) => named.flatMap(([id, text]) => (isId(id) && typeof text === "string" ? [{ id, text }] : [])),
    ),
    set: (id, text) => registers.set(keyOf(id), text === "" ? null : text),
  };
};
