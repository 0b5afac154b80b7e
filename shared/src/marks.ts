/**
 * Marks: what people set on a conversation beside its log's entries (G1). Each is the value of a register; here
 * is what those values mean, and what the next one is. Pure: a value in, a value out. What another program wrote
 * and is of no such shape means nothing, and never throws.
 */
import { type EntryId, isId } from "./ids.js";
import type { Json } from "./json.js";
import type { Registers } from "./register.js";
import { KEY_KINDS } from "./register-keys.js";

/** Whether an entry is pinned. */
export const isPinned = (id: EntryId, registers: Pick<Registers, "get">): boolean =>
  registers.get(`${KEY_KINDS.PIN}${id}`) === true;

/**
 * The pinned entries of a path, in its order. Pins of entries that are elsewhere, or nowhere, are passed over.
 *
 * @example pins(pathTo(leaf).map((node) => node.entry), registers)
 */
export const pins = (
  path: readonly { readonly id: EntryId }[],
  registers: Pick<Registers, "get">,
): readonly EntryId[] => path.map(({ id }) => id).filter((id) => isPinned(id, registers));

/** What a principal has collapsed: whole kinds, and single entries that are otherwise than their kind. */
export type Collapse = {
  readonly all: Readonly<Record<string, boolean>>;
  /** By kind, then by entry; the one that was toggled last comes last. */
  readonly some: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
};

/** Single entries that are remembered of a kind: the oldest is forgotten first, so that a register can hold them. */
const COLLAPSED_OF_KIND = 500;

export const readCollapse = (value: Json): Collapse => {
  const { all, some } = fieldsOf(value);
  const kinds = Object.entries(fieldsOf(some ?? null)).map(([kind, ids]) => [kind, flagsOf(ids)] as const);
  return { all: flagsOf(all ?? null), some: Object.fromEntries(kinds) };
};

export const isCollapsed = ({ all, some }: Collapse, id: EntryId, kind: string): boolean =>
  own(own(some, kind) ?? NO_FLAGS, id) ?? own(all, kind) ?? false;

/** The value after one entry was toggled. */
export const toggleCollapse = (collapse: Collapse, id: EntryId, kind: string): Json => {
  const isNow = !isCollapsed(collapse, id, kind);
  const others = Object.entries(own(collapse.some, kind) ?? NO_FLAGS).filter(([other]) => other !== id);
  const isAsKind = isNow === (own(collapse.all, kind) ?? false);
  const single: (readonly [string, boolean])[] = isAsKind
    ? others
    : [...others, [id, isNow] as const].slice(-COLLAPSED_OF_KIND);
  return collapseValue(collapse.all, withKind(collapse.some, kind, Object.fromEntries(single)));
};

/** The value after a whole kind was collapsed or expanded: what was single of it is as the others. */
export const collapseAll = (collapse: Collapse, kind: string, isNow: boolean): Json =>
  collapseValue(
    Object.fromEntries([...Object.entries(collapse.all), [kind, isNow]]),
    withKind(collapse.some, kind, NO_FLAGS),
  );

/** How far somebody has read. */
export type ReadMark = { readonly leafId: EntryId; readonly seq: number };

export const readReadMark = (value: Json): ReadMark | null => {
  const { leafId, seq } = fieldsOf(value);
  return isId(leafId) && typeof seq === "number" ? { leafId, seq } : null;
};

/** The entry that a named branch ends with. */
export const readBranch = (value: Json): EntryId | null => (isId(value) ? value : null);

type Fields = { readonly [key: string]: Json };

const NONE: Fields = Object.freeze({});
const NO_FLAGS: Readonly<Record<string, boolean>> = Object.freeze({});

const fieldsOf = (value: Json): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;

const flagsOf = (value: Json): Record<string, boolean> =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).filter(
      (entry): entry is [string, boolean] => typeof entry[1] === "boolean",
    ),
  );

/** A kind may have any name, also that of something every object has. */
const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

const withKind = (some: Collapse["some"], kind: string, ids: Readonly<Record<string, boolean>>) =>
  Object.fromEntries([
    ...Object.entries(some).filter(([other]) => other !== kind),
    ...(Object.keys(ids).length === 0 ? [] : [[kind, ids] as const]),
  ]);

const collapseValue = (all: Fields, some: Fields): Json =>
  Object.values(all).some(Boolean) || Object.keys(some).length > 0 ? { all, some } : null;
