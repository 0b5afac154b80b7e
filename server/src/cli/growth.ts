/** What came to an entry between two looks at it, so that each token is told once. Pure. */
import type { Entry, EntryStatus, Part } from "@espalier/shared";

export type Growth =
  /** More text of a part; for a tool call, of its input. */
  | { readonly type: "text"; readonly part: number; readonly text: string }
  /** A part that is new, or changed other than by more text. */
  | { readonly type: "part"; readonly part: number; readonly isNew: boolean; readonly content: Part }
  | { readonly type: "end"; readonly status: EntryStatus }
  /** It is not what it was: what was told of it no longer holds. */
  | { readonly type: "replaced" };

export const growthOf = (before: Entry, after: Entry): Growth[] => {
  if (before === after) return [];
  if (after.size < before.size) return [{ type: "replaced" }];
  const growth: Growth[] = [];
  if (after.type === "message" && before.type === "message")
    for (const [index, part] of after.parts.entries())
      growth.push(...partGrowth(before.parts[index], part, index));
  if (before.status === "streaming" && after.status !== "streaming")
    growth.push({ type: "end", status: after.status });
  return growth;
};

const partGrowth = (before: Part | undefined, after: Part, index: number): Growth[] => {
  if (before === after) return [];
  const grown = before === undefined ? undefined : growingText(before, after);
  if (grown === undefined)
    return [{ type: "part", part: index, isNew: before === undefined, content: after }];
  return grown === "" ? [] : [{ type: "text", part: index, text: grown }];
};

/** Undefined where more than the text has changed. */
const growingText = (before: Part, after: Part): string | undefined => {
  if ((before.type === "text" || before.type === "thinking") && after.type === before.type)
    return after.text.slice(before.text.length);
  if (before.type === "tool-call" && after.type === "tool-call" && before.state === after.state)
    return after.input.slice(before.input.length);
  return undefined;
};
