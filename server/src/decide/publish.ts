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
  type RunId,
  type RunRequest,
  type Seq,
} from "@espalier/shared";
import { createPlacing, isRootOfBefore, type Placing } from "../place.js";
import type { Actor } from "../principal.js";
import type { SessionState } from "../state.js";
import { accepted, type Command, type Context, type Decision, refused, seqsAfter } from "./decision.js";
import { holdsRun } from "./holder.js";

type Publish = Extract<Command, { type: "publish" }>;

/** Every join names what is not finished, so that stays within bounds. */
const MAX_STREAMING = 1000;
const MAX_OPEN_RUNS = 10_000;

export const decidePublish = (context: Context, command: Publish): Decision => {
  const { state, now } = context;
  const placing = createPlacing(state.tree);
  const nextSeq = seqsAfter(state.head);
  const records: LogRecord[] = [];
  const placed: PlacedEntry[] = [];
  const lastOfRun = new Map<RunId, EntryId>();
  let streaming = state.unfinished.entries;

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
    const runFault = draft.runId === undefined ? null : faultOfRun(context, draft.id, draft.runId);
    if (runFault !== null) return runFault;
    const place = item.place ?? placeByRun(state, draft, lastOfRun);
    if (place === undefined)
      return refused("invalid", `unable to place ${draft.id}; it names neither a place nor a run`);
    const parentId = placing.parentFor(place);
    if (parentId === undefined)
      return refused("unknown_parent", `unable to place ${draft.id}; ${placing.faultOf(place)}`);
    const fault = referenceFault(placing, draft, parentId);
    if (fault !== null) return refused("invalid", `unable to publish ${draft.id}; ${fault}`);
    const entry = toEntry(draft, { parentId, seq: nextSeq(), time: now, actor: context.actor });
    if (entry.status === "streaming") streaming += 1;
    if (entry.status === "streaming" && streaming > MAX_STREAMING)
      return refused(
        "overloaded",
        `unable to publish ${draft.id}; ${MAX_STREAMING} entries of the session are streaming`,
      );
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

/** Nothing is written for a run by another than its writer, or after its end (R1, R5). */
const faultOfRun = ({ state, actor }: Context, id: EntryId, runId: RunId): Decision | null => {
  const run = state.runs.get(runId);
  if (run === undefined) return refused("not_found", `unable to publish ${id}; there is no run ${runId}`);
  if (isRunEnded(run.status))
    return refused("closed", `unable to publish ${id}; run ${runId} is ${run.status}`);
  if (holdsRun(run, actor) || actor.principal.admin === true) return null;
  return refused("forbidden", `unable to publish ${id}; run ${runId} is not held by this writer`);
};

/** A run's first entry goes where the run says, each next one after its last (R1). */
const placeByRun = (
  state: SessionState,
  { runId }: Draft,
  lastOfRun: ReadonlyMap<RunId, EntryId>,
): Place | undefined => {
  if (runId === undefined) return undefined;
  const last = lastOfRun.get(runId) ?? state.lastOfRun(runId);
  return last === undefined ? state.runs.get(runId)?.place : { after: last };
};

/** The body as it was logged, without what the server gave it (L4). Of one that was erased only the author is left. */
const isSamePublish = (entry: Entry, draft: Draft, actor: Actor): boolean => {
  if (entry.author !== actor.principal.id) return false;
  if (entry.type === "erased") return true;
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
const referenceFault = (placing: Placing, draft: Draft, parentId: EntryId | null): string | null => {
  if (draft.type === "branch-summary")
    return placing.has(draft.fromId) ? null : `${draft.fromId} is not in the session`;
  if (draft.type !== "compaction") return null;
  const named = [draft.upToId, ...(draft.keptIds ?? [])];
  if (draft.firstKeptId !== null) named.push(draft.firstKeptId);
  const unknown = named.find((id) => !placing.has(id));
  if (unknown !== undefined) return `${unknown} is not in the session`;
  const first = placing.notAbove(named, parentId);
  return first === undefined ? null : `${first} is not an ancestor of it`;
};

type RunRequested = { run: Run; isNew: boolean };

const requestRun = (
  { state, actor, now }: Context,
  placing: Placing,
  request: RunRequest,
  published: EntryId | null,
  nextSeq: () => Seq,
): RunRequested | Decision => {
  const earlier = state.runs.get(request.id);
  if (earlier !== undefined) {
    return isSameRequest(earlier, request, actor)
      ? { run: earlier, isNew: false }
      : refused("conflict", `unable to request run ${request.id}; the id already holds another run`);
  }
  if (state.unfinished.runs >= MAX_OPEN_RUNS)
    return refused(
      "overloaded",
      `unable to request run ${request.id}; ${MAX_OPEN_RUNS} runs of the session have not ended`,
    );
  const resolved = resolvePlace(state, request);
  const fault = "fault" in resolved ? resolved.fault : placing.faultOf(resolved.place);
  if ("fault" in resolved || fault !== null)
    return refused("unknown_parent", `unable to request run ${request.id}; ${fault}`);
  const inputId = request.inputId ?? resolved.inputId ?? published ?? answeredBy(placing, resolved.place);
  if (inputId !== null && !placing.has(inputId))
    return refused("unknown_parent", `unable to request run ${request.id}; ${inputId} is not in the session`);
  const seq = nextSeq();
  const run: Run = {
    kind: "run",
    id: request.id,
    seq,
    rev: seq,
    time: now,
    status: "requested",
    inputId,
    place: resolved.place,
    author: actor.principal.id,
    ...(request.options === undefined ? {} : { options: request.options }),
  };
  return { run, isNew: true };
};

/** What `regenerate` was resolved to may be another today: it is the same request all the same (L4). */
const isSameRequest = (run: Run, { place, inputId, options }: RunRequest, actor: Actor): boolean =>
  run.author === actor.principal.id &&
  jsonEqual(run.options, options) &&
  ("regenerate" in place || jsonEqual(run.place, place)) &&
  (inputId === undefined || inputId === null || inputId === run.inputId);

/** Without another word, a run answers the entry that it writes below. */
const answeredBy = (placing: Placing, place: Place): EntryId | null => {
  if ("forkOf" in place) return placing.parentOf(place.forkOf);
  return "under" in place ? place.under : place.after;
};

/** `regenerate` means an alternative to everything since the last prompt above that entry (V12). */
const resolvePlace = (
  state: SessionState,
  { place }: RunRequest,
): { place: Place; inputId: EntryId | null } | { fault: string } => {
  if (!("regenerate" in place)) return { place, inputId: null };
  const node = state.tree.get(place.regenerate);
  if (node === undefined) return { fault: `${place.regenerate} is not in the session` };
  const { prompt, top } = promptOf(node);
  if (prompt === null && isRootOfBefore(state.tree, top))
    return { fault: `${place.regenerate} is on a line that began before the session was reset` };
  const promptId = prompt?.entry.id ?? null;
  return { place: { under: promptId }, inputId: promptId };
};
