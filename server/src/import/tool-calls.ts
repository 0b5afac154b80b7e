/** Reports the tool calls that nobody answered and the results that nobody asked for; it changes none. */
import type { Part } from "@espalier/shared";
import type { Report } from "./foreign.js";
import type { ForestNode } from "./forest.js";

export const reportUnpairedCalls = (nodes: readonly ForestNode[], report: Report): void => {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const part of nodes.flatMap(partsOf)) {
    if (part.type === "tool-call") called.add(part.callId);
    if (part.type === "tool-result") answered.add(part.callId);
  }
  for (const node of nodes) {
    const { where, sourceId } = node.entry;
    for (const part of partsOf(node)) {
      if (isOpenCall(part) && !answered.has(part.callId)) {
        const id = part.callId === sourceId ? "" : ` ${part.callId}`;
        report(`${where}: tool call${id} (${part.name}) has no result`);
      }
      if (part.type === "tool-result" && !called.has(part.callId)) {
        report(`${where}: tool result for ${part.callId} has no call`);
      }
    }
  }
};

/** A call that holds its own output needs no result. */
const isOpenCall = (part: Part): part is Extract<Part, { type: "tool-call" }> =>
  part.type === "tool-call" && part.output === undefined && part.error === undefined;

const partsOf = ({ content }: ForestNode): readonly Part[] =>
  content.type === "message" ? content.parts : [];
