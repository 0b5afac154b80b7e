/** Read markers: how far each principal has read, on whichever of its devices (G1). */
import {
  type EntryId,
  type ErrorBody,
  KEY_KINDS,
  type PrincipalId,
  type ReadMark,
  readReadMark,
  refusal,
} from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";
import { cached } from "./cached.js";
import { createOwnRegister, type GetPrincipal } from "./own.js";

export type Reader = ReadMark & { readonly principal: PrincipalId };

export type Reads = {
  /** How far somebody has read; by default this principal. Entries of a higher `seq` came after it. */
  get(principal?: PrincipalId): ReadMark | null;
  /** Everybody's, the one that was set last at the end. The same list until one changes. */
  list(): readonly Reader[];
  /**
   * Says that this principal has read up to an entry. A marker does not go back: an earlier entry changes
   * nothing. Resolves with null, or with the refusal: `not_found` where the entry is not loaded here.
   *
   * @example
   * const last = view.lastMessage();
   * if (last?.state === "confirmed") await session.marks.reads.mark(last.id);
   */
  mark(id: EntryId): Promise<ErrorBody | null>;
  /** As if nothing had been read. */
  clear(): Promise<ErrorBody | null>;
};

export const createReads = (
  registers: ShownRegisters,
  getPrincipal: GetPrincipal,
  getSeq: (id: EntryId) => number | undefined,
): Reads => {
  const own = createOwnRegister(registers, KEY_KINDS.READ, getPrincipal);
  return {
    get: (principal) =>
      readReadMark(principal === undefined ? own.get() : registers.get(`${KEY_KINDS.READ}${principal}`)),
    list: cached(
      () => registers.ofKind(KEY_KINDS.READ),
      (named) =>
        named.flatMap(([principal, value]): Reader[] => {
          const mark = readReadMark(value);
          return mark === null ? [] : [{ ...mark, principal: principal as PrincipalId }];
        }),
    ),
    mark: (id) => {
      const seq = getSeq(id);
      if (seq === undefined)
        return Promise.resolve(refusal("not_found", `unable to mark ${id} as read; it is not loaded`));
      const held = readReadMark(own.get());
      return held !== null && held.seq >= seq ? Promise.resolve(null) : own.set({ leafId: id, seq });
    },
    clear: () => own.set(null),
  };
};
