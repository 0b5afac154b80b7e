/** The registers of a session: their fold, how much they hold, and what of them a join or a page gives (G1). */
import { createRegisters, RESET, type Register, type Registers, TITLE } from "@espalier/shared";

export type SessionRegisters = Registers & {
  /** Those that are set. */
  readonly count: number;
  /** About how many bytes they take. */
  readonly weight: number;
  /** Those that tell how to show the session, and those that were set last, as many as a join carries; the rest is paged. */
  newest(): { readonly registers: readonly Register[]; readonly hasMore: boolean };
  /** In order of their keys. */
  page(
    after: string | undefined,
    limit: number,
  ): { readonly registers: readonly Register[]; readonly more: boolean };
  /** Whether the session was reset by this id, now or before (F8). */
  wasReset(value: string): boolean;
};

const MAX_GIVEN = 1000;
const MAX_GIVEN_WEIGHT = 256 * 1024;
/** Without the reset a joiner would take what was before it for a part of what is shown (F8). */
const ALWAYS_GIVEN: ReadonlySet<string> = new Set([RESET, TITLE]);

export const createSessionRegisters = (): SessionRegisters => {
  const registers = createRegisters();
  const resets = new Set<string>();
  let count = 0;
  let weight = 0;

  return {
    get size() {
      return registers.size;
    },
    get: registers.get,
    record: registers.record,
    all: registers.all,
    get count() {
      return count;
    },
    get weight() {
      return weight;
    },
    apply: (record) => {
      if (record.key === RESET && typeof record.value === "string") resets.add(record.value);
      const held = registers.record(record.key);
      if (!registers.apply(record)) return false;
      count += countOf(record) - countOf(held);
      weight += weightOfRegister(record) - weightOfRegister(held);
      return true;
    },
    newest: () => {
      const all = registers.all();
      if (count <= MAX_GIVEN && weight <= MAX_GIVEN_WEIGHT) return { registers: all, hasMore: false };
      const given = takeUpTo(
        all.sort((a, b) => rankOf(b) - rankOf(a)),
        MAX_GIVEN,
      );
      return { registers: given.reverse(), hasMore: given.length < all.length };
    },
    page: (after, limit) => {
      const rest = registers.all().filter(({ key }) => after === undefined || key > after);
      const given = takeUpTo(
        rest.sort((a, b) => (a.key < b.key ? -1 : 1)),
        limit,
      );
      return { registers: given, more: given.length < rest.length };
    },
    wasReset: (value) => resets.has(value),
  };
};

const rankOf = ({ key, seq }: Register): number => (ALWAYS_GIVEN.has(key) ? Number.MAX_SAFE_INTEGER : seq);

/** At least one, where there is one. */
const takeUpTo = (registers: readonly Register[], limit: number): Register[] => {
  let weight = 0;
  let length = 0;
  for (const register of registers) {
    weight += weightOfRegister(register);
    if (length === limit || (length > 0 && weight > MAX_GIVEN_WEIGHT)) break;
    length += 1;
  }
  return registers.slice(0, length);
};

const countOf = (register: Register | undefined): number =>
  register === undefined || register.value === null ? 0 : 1;

export const weightOfRegister = (register: Pick<Register, "key" | "value"> | undefined): number =>
  register === undefined || register.value === null
    ? 0
    : register.key.length + JSON.stringify(register.value).length;
