/** Publishing a batch of entries, and asking for a run in the same step (L3, L4, L7, P1–P4, R1). */
import {
  type Draft,
  type Entry,
  type EntryId,
  isRunEnded,
  jsonEqual,
  type LogRecord,
  type Place,
  type PlacedEntry,
  promptOf,
  type Run,
  type RunRequest,
  type Seq,
} from "@espalier/shared";
import { createPlacing, type Placing } from "../place.js";
import type { Actor } from "../principal.js";
import type { SessionState } from "../state.js";
import {
  accepted,
  type Command,
  type Context,
  type Decision,
  holdsRun,
  refused,
  seqsAfter,
} from "./decision.js";

type Publish = Extract<Command, { type: "publish" }>;

export const decidePublish = (context: Context, command: Publish): Decision => {
  const { state, now } = context;
  const placing = createPlacing(state.tree);
  const nextSeq = seqsAfter(state.head);
  const records: LogRecord[] = [];
  const placed: PlacedEntry[] = [];
  const lastOfRun = new Map<string, EntryId>();

  for (const item of command.items) {
    const { draft } = item;
    const earlier = state.published(draft.id);
    if (earlier !== undefined) {
      if (!isSamePublish(earlier, draft, context.actor))
        return refused("conflict", `unable to publish ${draft.id}; the id already holds another entry`);
      placed.push(placedFrom(earlier));
      continue;
    }
    if (placing.has(draft.id))
      return refused("conflict", `unable to publish ${draft.id}; the batch holds it twice`);
    const place = item.place ?? placeByRun(context, draft, lastOfRun);
    if ("type" in place) return place;
    const parentId = placing.parentFor(place);
    if (parentId === undefined)
      return refused(
        "unknown_parent",
        `unable to place ${draft.id}; ${namedIn(place)} is not in the session`,
      );
    const fault = referenceFault(state, placing, draft, parentId);
    if (fault !== null) return refused("invalid", `unable to publish ${draft.id}; ${fault}`);
    const entry = toEntry(draft, { parentId, seq: nextSeq(), time: now, actor: context.actor });
    placing.add(entry.id, parentId);
    if (entry.runId !== undefined) lastOfRun.set(entry.runId, entry.id);
    records.push(entry);
    placed.push(placedFrom(entry));
  }
  if (command.run === undefined) return accepted(records, { type: "placed", entries: placed });

  const run = requestRun(context, placing, command.run, placed.at(-1)?.id ?? null, nextSeq);
  if ("type" in run) return run;
  if (run.isNew) records.push(run.run);
  return accepted(records, { type: "placed", entries: placed, run: run.run });
};

const placedFrom = ({ id, seq, parentId }: Entry): PlacedEntry => ({ id, seq, parentId });

const namedIn = (place: Place): string =>
  String("after" in place ? place.after : "under" in place ? place.under : place.forkOf);

/** A run's first entry goes where the run says, each next one after its last (R1). */
const placeByRun = (
  { state, actor }: Context,
  draft: Draft,
  lastOfRun: ReadonlyMap<string, EntryId>,
): Place | Decision => {
  if (draft.runId === undefined)
    return refused("invalid", `unable to place ${draft.id}; it names neither a place nor a run`);
  const run = state.runs.get(draft.runId);
  if (run === undefined)
    return refused("not_found", `unable to publish ${draft.id}; there is no run ${draft.runId}`);
  if (isRunEnded(run.status))
    return refused("closed", `unable to publish ${draft.id}; run ${draft.runId} is ${run.status}`);
  if (!holdsRun(run, actor.writer) && actor.principal.admin !== true)
    return refused(
      "forbidden",
      `unable to publish ${draft.id}; run ${draft.runId} is not held by this writer`,
    );
  const last = lastOfRun.get(run.id) ?? state.lastOfRun(run.id);
  return last === undefined ? run.place : { after: last };
};

/** The body as it was logged, without what the server gave it (L4). */
const isSamePublish = (entry: Entry, draft: Draft, actor: Actor): boolean => {
  if (entry.author !== actor.principal.id) return false;
  const {
    kind: _k,
    parentId: _p,
    seq: _s,
    rev: _r,
    time: _t,
    author: _a,
    writer: _w,
    size: _z,
    ...body
  } = entry;
  return jsonEqual(body, { ...draft, status: draft.status ?? "complete" });
};

const toEntry = (
  draft: Draft,
  given: { parentId: EntryId | null; seq: Seq; time: number; actor: Actor },
): Entry => {
  const { id, status = "complete", ...rest } = draft;
  return {
    kind: "entry",
    id,
    parentId: given.parentId,
    seq: given.seq,
    rev: given.seq,
    time: given.time,
    author: given.actor.principal.id,
    writer: given.actor.writer,
    status,
    size: 0,
    ...rest,
  } as Entry;
};

/** Entries that name others: a compaction its ancestors (C3), a branch summary an entry. */
const referenceFault = (
  state: SessionState,
  placing: Placing,
  draft: Draft,
  parentId: EntryId | null,
): string | null => {
  if (draft.type === "branch-summary")
    return placing.has(draft.fromId) ? null : `${draft.fromId} is not in the session`;
  if (draft.type !== "compaction") return null;
  const missing = new Set([draft.upToId, ...(draft.keptIds ?? [])]);
  if (draft.firstKeptId !== null) missing.add(draft.firstKeptId);
  let at = parentId === null ? undefined : state.tree.get(parentId);
  for (; at !== undefined && missing.size > 0; at = at.parent ?? undefined) missing.delete(at.entry.id);
  const [first] = missing;
  return first === undefined ? null : `${first} is not an ancestor of it`;
};

type RunRequested = { run: Run; isNew: boolean };

const requestRun = (
  { state, now }: Context,
  placing: Placing,
  request: RunRequest,
  published: EntryId | null,
  nextSeq: () => Seq,
): RunRequested | Decision => {
  const earlier = state.runs.get(request.id);
  if (earlier !== undefined) {
    return jsonEqual(earlier.options, request.options)
      ? { run: earlier, isNew: false }
      : refused("conflict", `unable to request run ${request.id}; the id already holds another run`);
  }
  const resolved = resolvePlace(state, request);
  if (resolved === null)
    return refused("unknown_parent", `unable to request run ${request.id}; its place is not in the session`);
  if (placing.parentFor(resolved.place) === undefined)
    return refused(
      "unknown_parent",
      `unable to request run ${request.id}; ${namedIn(resolved.place)} is not in the session`,
    );
  const seq = nextSeq();
  const run: Run = {
    kind: "run",
    id: request.id,
    seq,
    rev: seq,
    time: now,
    status: "requested",
    inputId: request.inputId ?? resolved.inputId ?? published,
    place: resolved.place,
    ...(request.options === undefined ? {} : { options: request.options }),
  };
  return { run, isNew: true };
};

/** `regenerate` means an alternative to everything since the last prompt above that entry (V12). */
const resolvePlace = (
  state: SessionState,
  { place }: RunRequest,
): { place: Place; inputId: EntryId | null } | null => {
  if (!("regenerate" in place)) return { place, inputId: null };
  const node = state.tree.get(place.regenerate);
  if (node === undefined) return null;
  const promptId = promptOf(node).prompt?.entry.id ?? null;
  return { place: { under: promptId }, inputId: promptId };
};
