/**
 * Where a conversation is cut to be made shorter for the model (C2–C5): a pure plan, from a path. It says what a
 * summary has to stand for and what is kept as written; asking for the summary and publishing it is the caller's.
 *
 * Everything that the model reads at the leaf is either in `summarize` or kept, or a system message, which stays
 * in any case. Where the path holds a compaction, its summary and what it kept are part of that (C4).
 */
import { pairsOf } from "./compaction-cuts.js";
import { type KeptReferences, keptFrom, type ReadWindow, readWindow } from "./compaction-window.js";
import { context } from "./context.js";
import type { ContextMessage } from "./context-message.js";
import { type ErrorBody, EspalierError, refusal } from "./errors.js";
import type { EntryId } from "./ids.js";
import { isReply } from "./open-calls.js";
import { isPrompt } from "./path.js";
import type { Entry } from "./record.js";
import { type EstimateTokens, estimateTokens } from "./tokens.js";
import { isForModel } from "./transcript.js";

/**
 * What is kept as written: the last `keepTurns` turns (a turn begins at a prompt), as many of the last entries as
 * are within `keepTokens` estimated tokens, or the entries that `keep` names, in the order of the path.
 */
export type CompactionPolicy =
  | { readonly keepTurns: number }
  | { readonly keepTokens: number }
  | { readonly keep: readonly EntryId[] };

/** What to summarise, and what the compaction entry will say besides its summary. */
export type CompactionPlan = {
  /** Null where nothing is kept, and where `keptIds` names all that is. */
  readonly firstKeptId: EntryId | null;
  /** The path's last entry: what comes after it is not lost, wherever the compaction is placed (C3). */
  readonly upToId: EntryId;
  readonly keptIds?: readonly EntryId[];
  /** What the summary has to stand for, as the model reads it: an earlier summary first; no system message. */
  readonly summarize: readonly ContextMessage[];
  /** What the model reads now, in estimated tokens. */
  readonly tokensBefore: number;
  /** The cut falls inside a turn: the one that this prompt began, where that is on the path. */
  readonly split?: { readonly promptId: EntryId | null };
};

export type PlanOptions = { readonly estimateTokens?: EstimateTokens };

/**
 * Plans a compaction of a path whose last entry is the leaf.
 *
 * The cut is made at a prompt or a reply and never inside a pair of tool call and result. Where it would be
 * elsewhere it moves forward to the next prompt or reply; where there is none, or a call is open or a message
 * still streams, back to before that (C5). So a turn larger than `keepTokens` is split at a reply, and the last
 * prompt or reply is kept though it be larger; 0 keeps nothing. `keep` also keeps what is paired with what it
 * names, and what is not finished.
 *
 * ```ts
 * const plan = planCompaction(path, { keepTurns: 2 });
 * if ("code" in plan) return plan; // nothing_to_compact
 * ```
 * @returns the plan, or the reason against it: `nothing_to_compact` where nothing would be summarised, also
 * where the model reads nothing after the last compaction; `not_found` where `keep` names what is not on the path.
 * @throws EspalierError `invalid` for a policy that is none.
 */
export const planCompaction = (
  path: readonly Entry[],
  policy: CompactionPolicy,
  options: PlanOptions = {},
): CompactionPlan | ErrorBody => {
  checkCompactionPolicy(policy);
  const window = readWindow(path);
  if (window === null) return nothing("the line ends with a compaction, and nothing has come after it");
  const estimate = options.estimateTokens ?? estimateTokens;
  const kept =
    "keep" in policy ? keptByName(path, window, policy.keep) : keptByCut(path, window, policy, estimate);
  if ("code" in kept) return kept;

  const { isKept, ...references } = kept;
  const summarized = new Set<EntryId>();
  for (const place of window.places) if (!isKept(place)) summarized.add((path[place] as Entry).id);
  const messages = context(path).filter(({ role }) => role !== "system");
  if (!messages.some(({ entryId }) => summarized.has(entryId)))
    return nothing("all that the model reads is to be kept, or is not finished");
  if (window.compaction !== null) summarized.add(window.compaction.id);
  return {
    ...references,
    upToId: (path.at(-1) as Entry).id,
    summarize: messages.filter(({ entryId }) => summarized.has(entryId)),
    tokensBefore: Math.ceil(window.entries.reduce((sum, entry) => sum + estimate(entry), 0)),
  };
};

const nothing = (reason: string): ErrorBody => refusal("nothing_to_compact", `unable to compact; ${reason}`);

type Kept = KeptReferences & Pick<CompactionPlan, "split"> & { readonly isKept: (place: number) => boolean };

const keptByName = (
  path: readonly Entry[],
  window: ReadWindow,
  names: readonly EntryId[],
): Kept | ErrorBody => {
  const placesById = new Map(path.map(({ id }, place) => [id, place]));
  const missing = names.find((id) => !placesById.has(id));
  if (missing !== undefined)
    return refusal("not_found", `unable to compact; ${missing}, which is to be kept, is not on the line`);
  const named = names.map((id) => placesById.get(id) as number);
  const pairs = pairsOf(path, withNamed(path, window, named));
  const places = [...pairs.closure([...named, ...pairs.unfinished])].sort((a, b) => a - b);
  const keptIds = places
    .map((place) => path[place] as Entry)
    .filter(isKeepable)
    .map(({ id }) => id);
  const kept = new Set(places);
  return {
    firstKeptId: null,
    ...(keptIds.length === 0 ? {} : { keptIds }),
    isKept: (place) => kept.has(place),
  };
};

/** The places that are read, and those of an earlier time that are named again, with what they were paired with. */
const withNamed = (
  path: readonly Entry[],
  { places }: ReadWindow,
  named: readonly number[],
): readonly number[] => {
  const read = new Set(places);
  const again = named.filter((place) => !read.has(place));
  if (again.length === 0) return places;
  const former = pairsOf(path, [...path.keys()]).closure(again);
  return [...new Set([...places, ...former])].sort((a, b) => a - b);
};

/** System messages stay without being named. */
const isKeepable = (entry: Entry): boolean =>
  isForModel(entry) && !(entry.type === "message" && entry.role === "system");

type CutPolicy = Exclude<CompactionPolicy, { keep: unknown }>;

const keptByCut = (
  path: readonly Entry[],
  window: ReadWindow,
  policy: CutPolicy,
  estimate: EstimateTokens,
): Kept => {
  const entries = window.places.map((place) => path[place] as Entry);
  const wanted =
    "keepTurns" in policy
      ? turnsBack(entries, policy.keepTurns)
      : tokensBack(entries, policy.keepTokens, estimate);
  const isNothingKept = ("keepTurns" in policy ? policy.keepTurns : policy.keepTokens) === 0;
  const position = snapped(path, window, wanted, isNothingKept);
  const cutPlace = window.places[position] ?? path.length;
  return {
    ...keptFrom(path, window, position),
    ...splitAt(path, cutPlace),
    isKept: (place) => place >= cutPlace,
  };
};

/** The position of the prompt that the last `turns` turns begin with; the first where there are fewer. */
const turnsBack = (entries: readonly Entry[], turns: number): number => {
  let position = entries.length;
  for (let left = turns; left > 0 && position > 0; ) {
    position -= 1;
    if (isPrompt({ entry: entries[position] as Entry })) left -= 1;
  }
  return position;
};

/** The position from which on the entries are within `tokens`. */
const tokensBack = (entries: readonly Entry[], tokens: number, estimate: EstimateTokens): number => {
  let left = tokens;
  let position = entries.length;
  for (; position > 0; position -= 1) {
    const entry = entries[position - 1] as Entry;
    if (isForModel(entry)) left -= estimate(entry);
    if (left < 0) break;
  }
  return position;
};

/** The position where the cut is made, for the one that is wanted (C5). */
const snapped = (
  path: readonly Entry[],
  { places }: ReadWindow,
  wanted: number,
  isNothingKept: boolean,
): number => {
  // Nothing is wanted above it: an entry that cannot begin a window is then no reason to cut below it.
  if (wanted === 0) return 0;
  const pairs = pairsOf(path, places);
  const lastPlace = pairs.unfinished[0] ?? path.length;
  const isCut = (position: number): boolean => {
    const place = places[position];
    if (place === undefined) return isNothingKept && lastPlace === path.length;
    const entry = path[place] as Entry;
    return place <= lastPlace && !pairs.isInside(place) && (isPrompt({ entry }) || isReply(entry));
  };
  for (let position = wanted; position <= places.length; position += 1) if (isCut(position)) return position;
  for (let position = wanted - 1; position > 0; position -= 1) if (isCut(position)) return position;
  return 0;
};

/** The turn that a cut falls inside; none for a cut at a prompt, or below everything. */
const splitAt = (path: readonly Entry[], place: number): Pick<CompactionPlan, "split"> => {
  const first = path[place];
  if (first === undefined || isPrompt({ entry: first })) return {};
  const prompt = path.slice(0, place).findLast((entry) => isPrompt({ entry }));
  return { split: { promptId: prompt?.id ?? null } };
};

/** @throws EspalierError `invalid` for a policy that is none */
export const checkCompactionPolicy = (policy: CompactionPolicy): void => {
  if ("keep" in policy) return;
  const [name, value] =
    "keepTurns" in policy ? ["keepTurns", policy.keepTurns] : ["keepTokens", policy.keepTokens];
  if (Number.isSafeInteger(value) && (value as number) >= 0) return;
  throw new EspalierError(
    "invalid",
    `unable to compact; ${name} is a whole number from 0, not ${String(value)}`,
  );
};
