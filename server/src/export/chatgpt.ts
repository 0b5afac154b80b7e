/**
 * A session in the shape of a ChatGPT export: a list of one conversation with its `mapping`, so that whatever
 * reads those reads this. Each entry is a node with its own id; a root that says nothing holds the first ones.
 * What that shape has no field for stands in the message's `metadata.espalier`.
 */
import type { EntryId, TreeNode } from "@espalier/shared";
import { pathTo } from "@espalier/shared";
import { messageOf } from "./chatgpt-message.js";
import { type Conversation, leafOf, titleOf } from "./conversation.js";
import { inPieces } from "./pieces.js";

/**
 * All since the last reset, `current_node` being the line that is shown; with `leaf` the line that ends there.
 *
 * @throws EspalierError `not_found` where there is no such entry
 */
export const exportChatGpt = (
  conversation: Conversation,
  { leaf }: { readonly leaf?: EntryId | undefined } = {},
): AsyncIterable<string> => {
  const end = leafOf(conversation, leaf);
  return inPieces(textsOf(conversation, leaf === undefined ? null : end, end));
};

function* textsOf(
  conversation: Conversation,
  line: TreeNode | null,
  leaf: TreeNode | null,
): Generator<string> {
  const { id, header, tree } = conversation;
  const path = line === null ? null : pathTo(line);
  const roots = path === null ? tree.roots : path.slice(0, 1);
  const changedAt = conversation.last?.time ?? leaf?.entry.time ?? header.createdAt;
  let root = "client-created-root";
  while (tree.get(root as EntryId) !== undefined) root += "-";
  const head = {
    title: titleOf(conversation),
    create_time: header.createdAt / 1000,
    update_time: changedAt / 1000,
    conversation_id: id,
    id,
    current_node: leaf?.entry.id ?? root,
  };
  yield `[${JSON.stringify(head).slice(0, -1)},"mapping":{\n`;
  yield nodeText(root, null, null, roots);
  const calls = new Map<string, string>();
  for (const [index, node] of (path ?? topDown(roots)).entries()) {
    const { id: nodeId, parentId } = node.entry;
    const children = path === null ? node.children : path.slice(index + 1, index + 2);
    yield `,\n${nodeText(nodeId, parentId ?? root, messageOf(node.entry, calls), children)}`;
  }
  yield "\n}}]\n";
}

const nodeText = (
  id: string,
  parent: string | null,
  message: object | null,
  children: readonly TreeNode[],
): string => {
  const node = { id, message, parent, children: children.map(({ entry }) => entry.id) };
  return `${JSON.stringify(id)}:${JSON.stringify(node)}`;
};

const topDown = (roots: readonly TreeNode[]): readonly TreeNode[] => {
  const nodes = [...roots];
  for (let next = 0; next < nodes.length; next += 1)
    for (const child of (nodes[next] as TreeNode).children) nodes.push(child);
  return nodes;
};
