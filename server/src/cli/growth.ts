/** What came to an entry between two looks at it, so that each token is told once. Pure. */
import { type Entry, type EntryStatus, jsonEqual, type Part } from "@espalier/shared";

export type Growth =
  /** More text of a part; for a tool call, of its input. */
  | { readonly type: "text"; readonly part: number; readonly text: string }
  /** A part that is new, or changed other than by more text; `before` is what was told of it. */
  | {
      readonly type: "part";
      readonly part: number;
      readonly before: Part | undefined;
      readonly content: Part;
    }
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
  if (grown === undefined) return [{ type: "part", part: index, before, content: after }];
  return grown === "" ? [] : [{ type: "text", part: index, text: grown }];
};

/** Undefined where more has changed than that text came to its end. */
const growingText = (before: Part, after: Part): string | undefined => {
  const told = textOf(before);
  const text = textOf(after);
  return text.startsWith(told) && jsonEqual(withText(after, told), before)
    ? text.slice(told.length)
    : undefined;
};

const textOf = (part: Part): string => {
  if (part.type === "tool-call") return part.input;
  return part.type === "text" || part.type === "thinking" ? part.text : "";
};

const withText = (part: Part, text: string): Part => {
  if (part.type === "tool-call") return { ...part, input: text };
  return part.type === "text" || part.type === "thinking" ? { ...part, text } : part;
};
