/** The answers to what is asked of a joined session. Pure: each costs what it gives, or the line it is about. */
import {
  type ClientMessage,
  contextEntries,
  type Entry,
  type EntryId,
  pathTo,
  refusal,
  type ServerMessage,
  type TreeNode,
  usageOfPath,
  WINDOW_BYTES,
} from "@espalier/shared";
import { weightOf } from "./frame.js";
import type { SessionRead } from "./session.js";
import type { SessionState } from "./state.js";
import { addLine, alternativesFrom, alternativesOf, createWindow, leafOf, sortedEntries } from "./window.js";

type Of<Type extends ClientMessage["type"]> = Extract<ClientMessage, { type: Type }>;
export type Question = Of<"page" | "line" | "alternatives" | "registers" | "context" | "usage">;

export const answerQuestion = (session: SessionRead, question: Question): ServerMessage => {
  switch (question.type) {
    case "page":
      return page(session, question);
    case "line":
      return line(session, question);
    case "alternatives":
      return alternatives(session, question);
    case "registers":
      return registers(session, question);
    case "context":
      return context(session, question);
    case "usage":
      return usage(session, question);
  }
};

const page = (session: SessionRead, message: Of<"page">): ServerMessage => {
  const node = session.state.tree.get(message.before);
  return node === undefined ? notFound(message, message.before) : windowUpTo(session, message, node.parent);
};

const line = (session: SessionRead, message: Of<"line">): ServerMessage => {
  const { tree } = session.state;
  const [first] = message.candidates;
  const isKnown = message.candidates.some((id) => id === null || tree.get(id) !== undefined);
  return !isKnown && first !== undefined
    ? notFound(message, first)
    : windowUpTo(session, message, leafOf(session.state, message));
};

const alternatives = ({ state, epoch }: SessionRead, message: Of<"alternatives">): ServerMessage => ({
  type: "alternatives",
  n: message.n,
  epoch,
  head: state.head,
  ...alternativesFrom(state.tree, message.parentId, message.from, message.limit),
});

const registers = ({ state }: SessionRead, { n, after, limit }: Of<"registers">): ServerMessage => ({
  type: "registers",
  n,
  ...state.registers.page(after, limit),
});

/** A page ends before it grows past the bytes of a window; one entry is always given. */
const context = ({ state, epoch }: SessionRead, { n, leaf, before, limit }: Of<"context">): ServerMessage => {
  const node = state.tree.get(leaf);
  if (node === undefined) return notFound({ n }, leaf);
  const ids = contextIds(state, node);
  const end = before === undefined ? ids.length : ids.indexOf(before);
  if (end === -1) return notFound({ n }, before ?? leaf);
  const entryAt = (place: number): Entry => state.tree.get(ids[place] as EntryId)?.entry as Entry;
  const start = startOfPage(entryAt, end, limit);
  return {
    type: "context",
    n,
    epoch,
    head: state.head,
    entries: Array.from({ length: end - start }, (_, index) => entryAt(start + index)),
    more: start > 0,
  };
};

type ContextIds = { readonly leaf: EntryId; readonly head: number; readonly ids: readonly EntryId[] };
const contextByState = new WeakMap<SessionState, ContextIds>();

/** Kept for the next page, so that a line is walked once: as ids, for an entry may be erased before that. */
const contextIds = (state: SessionState, node: TreeNode): readonly EntryId[] => {
  const leaf = node.entry.id;
  const kept = contextByState.get(state);
  if (kept?.leaf === leaf && kept.head === state.head) return kept.ids;
  const ids = contextEntries(entriesTo(node)).map(({ id }) => id);
  contextByState.set(state, { leaf, head: state.head, ids });
  return ids;
};

const startOfPage = (entryAt: (place: number) => Entry, end: number, limit: number): number => {
  let start = end;
  let bytes = 0;
  while (start > 0 && end - start < limit) {
    bytes += weightOf(entryAt(start - 1));
    if (start < end && bytes > WINDOW_BYTES) break;
    start -= 1;
  }
  return start;
};

const usage = ({ state }: SessionRead, { n, leaf, run }: Of<"usage">): ServerMessage => {
  if (leaf !== undefined && run !== undefined)
    return refused({ n }, "invalid", "unable to add up; of a line or of a run, not of both");
  if (run !== undefined) {
    if (state.runs.get(run) === undefined)
      return refused({ n }, "not_found", `unable to add up; there is no run ${run}`);
    return { type: "usage", n, usage: state.usage.ofRun(run) };
  }
  if (leaf === undefined) return { type: "usage", n, usage: state.usage.totals() };
  const node = state.tree.get(leaf);
  return node === undefined
    ? notFound({ n }, leaf)
    : { type: "usage", n, usage: usageOfPath(entriesTo(node)) };
};

const entriesTo = (node: TreeNode): Entry[] => pathTo(node).map(({ entry }) => entry);

const windowUpTo = (
  { state, epoch }: SessionRead,
  { n, limit }: { n: number; limit: number },
  leaf: TreeNode | null,
): ServerMessage => {
  const window = createWindow();
  addLine(window, state.tree, leaf, limit);
  return {
    type: "window",
    n,
    epoch,
    head: state.head,
    leaf: leaf?.entry.id ?? null,
    entries: sortedEntries(window),
    alternatives: alternativesOf(window),
  };
};

const refused = ({ n }: { n: number }, code: "invalid" | "not_found", message: string): ServerMessage => ({
  type: "refused",
  n,
  error: refusal(code, message),
});

const notFound = (message: { n: number }, id: EntryId | null): ServerMessage =>
  refused(message, "not_found", `unable to read; there is no entry ${id}`);
