/**
 * Watches an import's entries go by, and reports the tool calls that nobody answered and the results that
 * nobody asked for; it changes none. What found its other half is held no longer than its id.
 */
import type { Part } from "@espalier/shared";
import type { ForeignContent, ForeignEntry, Report } from "./foreign.js";

type Named = Pick<ForeignEntry, "sourceId" | "where">;

export const createCallWatch = () => {
  const called = new Set<string>();
  const answered = new Set<string>();
  /** What is said of each, should its other half never come. */
  const callLines = new Map<string, Line[]>();
  const resultLines = new Map<string, Line[]>();
  let seen = 0;

  const seeCall = ({ sourceId, where }: Named, part: Extract<Part, { type: "tool-call" }>): void => {
    const { callId, name, output, error } = part;
    called.add(callId);
    resultLines.delete(callId);
    // A call that holds its own output needs no result.
    if (output !== undefined || error !== undefined || answered.has(callId)) return;
    const id = callId === sourceId ? "" : ` ${callId}`;
    addTo(callLines, callId, { at: seen, text: `${where}: tool call${id} (${name}) has no result` });
  };

  const seeResult = ({ where }: Named, callId: string): void => {
    answered.add(callId);
    callLines.delete(callId);
    if (called.has(callId)) return;
    addTo(resultLines, callId, { at: seen, text: `${where}: tool result for ${callId} has no call` });
  };

  return {
    see: (entry: Named, content: ForeignContent): void => {
      seen += 1;
      for (const part of content.type === "message" ? content.parts : []) {
        if (part.type === "tool-call") seeCall(entry, part);
        if (part.type === "tool-result") seeResult(entry, part.callId);
      }
    },
    /** In the order in which the entries came. */
    reportUnpaired: (report: Report): void => {
      const lines = [...callLines.values(), ...resultLines.values()].flat();
      for (const { text } of lines.sort((a, b) => a.at - b.at)) report(text);
    },
  };
};

type Line = { readonly at: number; readonly text: string };

const addTo = (linesById: Map<string, Line[]>, id: string, line: Line): void => {
  const lines = linesById.get(id);
  if (lines === undefined) linesById.set(id, [line]);
  else lines.push(line);
};
