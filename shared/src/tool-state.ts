/** How a tool call stands, from the call and from what came after it (C6). */
import type { EntryId } from "./ids.js";
import type { Json } from "./json.js";
import type { Entry, Part, ToolState } from "./record.js";
import { INTERRUPTED, isAnsweredInside, type ToolCallPart } from "./tool-pairs.js";

export type ToolOutcome = {
  readonly state: ToolState;
  readonly output?: Json;
  /** Why it failed, where that is known as text. */
  readonly error?: string;
};

/**
 * The state of a call in an entry of a path, whose last entry is the leaf; null where there is no such call.
 *
 * A call that holds its own outcome has that. Else the result below that is its own ends it: a result belongs
 * to the nearest call above it of its id that has none yet. A call whose message was aborted or failed, with no
 * result, has failed with "interrupted".
 *
 * ```ts
 * toolState(path, entry.id, part.callId); // { state: "done", output: { degrees: 21 } }
 * ```
 */
export const toolState = (path: readonly Entry[], entryId: EntryId, callId: string): ToolOutcome | null => {
  const at = path.findIndex(({ id }) => id === entryId);
  const entry = path[at];
  if (entry?.type !== "message") return null;
  const place = entry.parts.findLastIndex((part) => part.type === "tool-call" && part.callId === callId);
  if (place < 0) return null;
  const call = entry.parts[place] as ToolCallPart;
  if (isAnsweredInside(call)) return ownOutcome(call);
  const result = resultOf(callId, entry.parts.slice(place + 1), path, at + 1);
  if (result !== null) return outcomeOf(result);
  const isCutShort = entry.status === "aborted" || entry.status === "failed";
  return isCutShort ? { state: "failed", error: INTERRUPTED } : ownOutcome(call);
};

type ToolResultPart = Extract<Part, { type: "tool-result" }>;

/** The first result that no call in between takes for itself. */
const resultOf = (
  callId: string,
  rest: readonly Part[],
  path: readonly Entry[],
  from: number,
): ToolResultPart | null => {
  let openBetween = 0;
  let parts = rest;
  for (let next = from; ; next++) {
    for (const part of parts) {
      if (part.type === "tool-call" && part.callId === callId && !isAnsweredInside(part)) openBetween++;
      else if (part.type === "tool-result" && part.callId === callId) {
        if (openBetween === 0) return part;
        openBetween--;
      }
    }
    const entry = path[next];
    if (entry === undefined) return null;
    parts = entry.type === "message" ? entry.parts : [];
  }
};

const ownOutcome = ({ state, output, error }: ToolCallPart): ToolOutcome => ({
  state,
  ...(output === undefined ? {} : { output }),
  ...(error === undefined ? {} : { error }),
});

const outcomeOf = ({ output, isError }: ToolResultPart): ToolOutcome => {
  if (isError !== true) return { state: "done", output };
  return typeof output === "string"
    ? { state: "failed", output, error: output }
    : { state: "failed", output };
};
