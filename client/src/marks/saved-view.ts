/** A principal's saved view: the line that it was at, to be shown again on another of its devices (V7, G1). */
import { type ErrorBody, type Json, KEY_KINDS } from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";
import { isViewState } from "../view-options.js";
import type { View, ViewState } from "../view-types.js";
import { createOwnRegister, type GetPrincipal } from "./own.js";

export type SavedView = {
  /**
   * What was saved last, on whichever device; null where nothing was.
   *
   * @example
   * const state = session.marks.savedView.get();
   * const view = session.createView(state === null ? {} : { state });
   */
  get(): ViewState | null;
  /** Keeps where a view is, with what was selected at its last 500 branch points. */
  save(view: Pick<View, "state">): Promise<ErrorBody | null>;
  clear(): Promise<ErrorBody | null>;
};

/** As many as one register can hold. */
const SELECTIONS = 500;

export const createSavedView = (registers: ShownRegisters, getPrincipal: GetPrincipal): SavedView => {
  const own = createOwnRegister(registers, KEY_KINDS.SAVED_VIEW, getPrincipal);
  return {
    get: () => {
      const state: unknown = own.get();
      return isViewState(state) ? state : null;
    },
    save: (view) => {
      const state = view.state();
      return own.set({ ...state, selections: state.selections.slice(-SELECTIONS) } as unknown as Json);
    },
    clear: () => own.set(null),
  };
};
