/** What a view is given at its door: a mistake in code throws, what came from a storage is looked through. */
import { type EntryId, EspalierError, isId, WINDOW_ENTRIES } from "@espalier/shared";
import type { ViewOptions, ViewState } from "./view-types.js";

/** What one request may ask for. */
export const MAX_ENTRIES = 1000;

/** The begin of a view: null where it takes the newest line (V2). */
export type ViewBegin = {
  readonly limit: number;
  readonly place: { readonly leafId: EntryId | null; readonly isHeld: boolean } | null;
  readonly selections: ViewState["selections"];
  readonly resetId: string | null | undefined;
};

export const readOptions = ({ limit = WINDOW_ENTRIES, state, leafId }: ViewOptions): ViewBegin => {
  if (leafId !== undefined && leafId !== null) checkId(leafId, "make a view");
  const read = {
    limit: Number.isNaN(limit) ? WINDOW_ENTRIES : Math.min(MAX_ENTRIES, Math.max(1, Math.floor(limit))),
    selections: [],
    resetId: undefined,
  };
  if (isViewState(state))
    return { ...read, place: state, selections: state.selections, resetId: state.resetId };
  return { ...read, place: leafId === undefined ? null : { leafId, isHeld: true } };
};

const checkId = (id: EntryId, what: string): void => {
  if (!isId(id))
    throw new EspalierError("invalid_id", `unable to ${what}; ${JSON.stringify(id)} is no entry's id`);
};

/** A state may come from anywhere: one that is not whole is none. */
export const isViewState = (value: unknown): value is ViewState => {
  if (typeof value !== "object" || value === null) return false;
  const { leafId, isHeld, selections, resetId = null } = value as Partial<Record<keyof ViewState, unknown>>;
  return (
    isPlace(leafId) &&
    typeof isHeld === "boolean" &&
    (resetId === null || typeof resetId === "string") &&
    Array.isArray(selections) &&
    selections.every(isSelection)
  );
};

const isPlace = (value: unknown): value is EntryId | null => value === null || isId(value);

const isSelection = (value: unknown): value is ViewState["selections"][number] =>
  Array.isArray(value) && value.length === 2 && isPlace(value[0]) && isId(value[1]);
