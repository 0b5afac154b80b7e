/** Pins: entries that stand out, for all who read the session (G1). Pinning what does not exist is harmless. */
import { type EntryId, type ErrorBody, isId, isPinned, KEY_KINDS, pins } from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";
import { cached } from "./cached.js";

export type Pins = {
  has(id: EntryId): boolean;
  /** All of the session, on whichever line; the one that was pinned last comes last. The same list until one changes. */
  list(): readonly EntryId[];
  /**
   * Those on a path, in its order.
   *
   * @example session.marks.pins.on(view.getMessages())
   */
  on(path: readonly { readonly id: EntryId }[]): readonly EntryId[];
  set(id: EntryId, isPinned: boolean): Promise<ErrorBody | null>;
  /** Pins it, or takes the pin away. Resolves with null, or with why the server refused it. */
  toggle(id: EntryId): Promise<ErrorBody | null>;
};

export const createPins = (registers: ShownRegisters): Pins => {
  const set: Pins["set"] = (id, isNow) => registers.set(`${KEY_KINDS.PIN}${id}`, isNow ? true : null);
  return {
    has: (id) => isPinned(id, registers),
    list: cached(
      () => registers.ofKind(KEY_KINDS.PIN),
      (named) => named.flatMap(([id, value]) => (isId(id) && value === true ? [id as EntryId] : [])),
    ),
    on: (path) => pins(path, registers),
    set,
    toggle: (id) => set(id, !isPinned(id, registers)),
  };
};
