/**
 * Gives each tool result of a ChatGPT tree its call: the nearest one above it to the tool of that name;
 * the nearest one of all for a result that names no tool. One walk down the tree, a loop (T5).
 */
import type { ToolLink } from "./chatgpt-message.js";
import type { Forest, ForestNode } from "./forest.js";

/** The calls above the node of the walk, the nearest last, under the tool's name and under `null`. */
type CallsAbove = Map<string | null, ForestNode[]>;

export const answerCalls = ({ roots }: Forest, links: ReadonlyMap<string, ToolLink>): void => {
  if (links.size === 0) return;
  const calls: CallsAbove = new Map();
  const pending: { node: ForestNode; isLeft: boolean }[] = roots.map((node) => ({ node, isLeft: false }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, isLeft } = next;
    const link = links.get(node.entry.sourceId);
    const names = link !== undefined && "calls" in link ? [link.calls, null] : [];
    if (isLeft) {
      for (const name of names) calls.get(name)?.pop();
      continue;
    }
    if (link !== undefined && "answers" in link) answer(node, calls.get(link.answers)?.at(-1));
    for (const name of names) push(calls, name, node);
    pending.push({ node, isLeft: true });
    for (const child of node.children) pending.push({ node: child, isLeft: false });
  }
};

const push = (calls: CallsAbove, name: string | null, node: ForestNode): void => {
  const list = calls.get(name);
  if (list === undefined) calls.set(name, [node]);
  else list.push(node);
};

/** The parts are the importer's own and not yet in any log. */
const answer = ({ content }: ForestNode, call: ForestNode | undefined): void => {
  if (call === undefined || content.type !== "message" || call.content.type !== "message") return;
  for (const part of content.parts) if (part.type === "tool-result") part.callId = call.entry.sourceId;
  for (const part of call.content.parts) if (part.type === "tool-call") part.state = "done";
};
