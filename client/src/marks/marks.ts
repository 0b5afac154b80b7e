/**
 * Marks: what people set on a conversation beside its log's entries (G1). Each kind is a few registers with a
 * meaning. A mark shows at once, here and in `session.register`; it goes back to what the log says where the
 * server refuses it. `session.subscribe` tells of each as a `register`.
 */
import type { EntryId } from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";
import { type Branches, createBranches } from "./branches.js";
import { type Collapsed, createCollapsed } from "./collapsed.js";
import { createLabels, type Labels } from "./labels.js";
import { createMeta, type Meta } from "./meta.js";
import type { GetPrincipal } from "./own.js";
import { createPins, type Pins } from "./pins.js";
import { createReads, type Reads } from "./reads.js";
import { createSavedView, type SavedView } from "./saved-view.js";

export type Marks = {
  readonly branches: Branches;
  readonly labels: Labels;
  readonly pins: Pins;
  readonly meta: Meta;
  /** This principal's own; nobody else sets them. */
  readonly collapsed: Collapsed;
  readonly savedView: SavedView;
  /** Everybody's own, for all to see. */
  readonly reads: Reads;
};

type MarksOptions = {
  readonly registers: ShownRegisters;
  readonly getPrincipal: GetPrincipal;
  /** Of a loaded entry. */
  readonly getSeq: (id: EntryId) => number | undefined;
};

export const createMarks = ({ registers, getPrincipal, getSeq }: MarksOptions): Marks => ({
  branches: createBranches(registers),
  labels: createLabels(registers),
  pins: createPins(registers),
  meta: createMeta(registers),
  collapsed: createCollapsed(registers, getPrincipal),
  savedView: createSavedView(registers, getPrincipal),
  reads: createReads(registers, getPrincipal, getSeq),
});
