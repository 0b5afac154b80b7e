/**
 * Gives each tool result of a ChatGPT tree its call: the nearest one above it to the tool of that name;
 * the nearest one of all for a result that names no tool. One walk down the tree, a loop (T5).
 */
import type { ChatGptNode } from "./chatgpt-message.js";
import type { Forest, ForestNode } from "./forest.js";

/** The calls above the node of the walk, the nearest last, under the tool's name and under `null`. */
type CallsAbove = Map<string | null, ChatGptNode[]>;

export const answerCalls = ({ roots }: Forest, nodes: readonly ChatGptNode[]): void => {
  const linked = new Map(nodes.filter(({ link }) => link !== undefined).map((node) => [node.sourceId, node]));
  if (linked.size === 0) return;
  const calls: CallsAbove = new Map();
  const pending: { at: ForestNode; isLeft: boolean }[] = roots.map((at) => ({ at, isLeft: false }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { at, isLeft } = next;
    const node = linked.get(at.entry.sourceId);
    const names = node?.link !== undefined && "calls" in node.link ? [node.link.calls, null] : [];
    if (isLeft) {
      for (const name of names) calls.get(name)?.pop();
      continue;
    }
    if (node?.link !== undefined && "answers" in node.link)
      answer(node, calls.get(node.link.answers)?.at(-1));
    for (const name of names) push(calls, name, node as ChatGptNode);
    pending.push({ at, isLeft: true });
    for (const child of at.children) pending.push({ at: child, isLeft: false });
  }
};

const push = (calls: CallsAbove, name: string | null, node: ChatGptNode): void => {
  const list = calls.get(name);
  if (list === undefined) calls.set(name, [node]);
  else list.push(node);
};

/** The parts are the importer's own and not yet in any log. */
const answer = ({ said }: ChatGptNode, call: ChatGptNode | undefined): void => {
  if (call?.said?.type !== "message" || said?.type !== "message") return;
  for (const part of said.parts) if (part.type === "tool-result") part.callId = call.sourceId;
  for (const part of call.said.parts) if (part.type === "tool-call") part.state = "done";
};
