/**
 * What a principal has collapsed, on all its devices (G1): whole kinds, such as all thinking, and single ones
 * that are otherwise than their kind. One register holds it, so a kind is set in one step.
 */
import {
  type Collapse,
  collapseAll,
  type EntryId,
  type ErrorBody,
  isCollapsed,
  KEY_KINDS,
  readCollapse,
  toggleCollapse,
} from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";
import { cached } from "./cached.js";
import { createOwnRegister, type GetPrincipal } from "./own.js";

/** `kind` is the application's word for what of an entry is collapsed: `thinking`, `tool`; `entry` is the entry itself. */
export type Collapsed = {
  has(id: EntryId, kind?: string): boolean;
  /**
   * Collapses or expands one. Acts that follow each other quickly add up. Of each kind the 500 that were toggled
   * last are remembered. Resolves with null, or with why the server refused it.
   */
  toggle(id: EntryId, kind?: string): Promise<ErrorBody | null>;
  /**
   * Collapses or expands all of a kind, those that come later too, whatever was said of single ones.
   *
   * @example await session.marks.collapsed.setAll("thinking", true)
   */
  setAll(kind: string, isCollapsed: boolean): Promise<ErrorBody | null>;
};

const ENTRY = "entry";

export const createCollapsed = (registers: ShownRegisters, getPrincipal: GetPrincipal): Collapsed => {
  const own = createOwnRegister(registers, KEY_KINDS.COLLAPSE, getPrincipal);
  const now: () => Collapse = cached(own.get, readCollapse);
  return {
    has: (id, kind = ENTRY) => isCollapsed(now(), id, kind),
    toggle: (id, kind = ENTRY) => own.set(toggleCollapse(now(), id, kind)),
    setAll: (kind, isNow) => own.set(collapseAll(now(), kind, isNow)),
  };
};
