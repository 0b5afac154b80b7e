/**
 * A session as a Markdown document: one line of it, or all of them, each branch as a section. Every entry has a
 * heading of the document's own; nothing of what was said can make another one (`markdown-text.ts`).
 */
import type { EntryId, Tree, TreeNode } from "@espalier/shared";
import { type Conversation, leafOf, titleOf } from "./conversation.js";
import { entryText } from "./markdown-entry.js";
import { plain } from "./markdown-text.js";
import { allSections, type Item, lineSection, namedAlternatives, type Section } from "./outline.js";
import { inPieces } from "./pieces.js";
import { anchorOf, previewOf, shownOf, speakerOf, statusOf, timeOf, usageOf } from "./wording.js";

export type DocumentOptions = {
  /** The end of the line; without it the one that is shown where none is asked for (V2). */
  readonly leaf?: EntryId | undefined;
  /** Every branch since the last reset, that line first. */
  readonly all?: boolean;
};

/** @throws EspalierError `not_found` where there is no such entry */
export const exportMarkdown = (
  conversation: Conversation,
  { leaf, all = false }: DocumentOptions = {},
): AsyncIterable<string> => {
  const end = leafOf(conversation, leaf);
  return inPieces(textsOf(conversation, end, all));
};

function* textsOf(conversation: Conversation, leaf: TreeNode | null, all: boolean): Generator<string> {
  const { id, header, tree } = conversation;
  const line = leaf === null ? null : lineSection(tree, leaf);
  const shown = shownOf(all ? tree.size : (line?.items.length ?? 0), tree.size);
  yield `# ${plain(titleOf(conversation) ?? id)}\n\n`;
  yield `Session \`${id}\` · begun ${timeOf(header.createdAt)} · ${shown}\n`;
  if (leaf === null || line === null) return;
  for (const section of all ? allSections(tree, leaf) : [line]) {
    yield sectionHeading(section, tree);
    for (const item of section.items) yield* itemTexts(item, all);
  }
}

const sectionHeading = ({ number, items }: Section, tree: Tree): string => {
  const [first] = items;
  if (number === 0 || first === undefined) return "";
  const { parentId } = first.node.entry;
  const parent = parentId === null ? undefined : tree.get(parentId)?.entry;
  const place = `alternative ${first.index + 1} of ${first.alternatives.length}`;
  const from =
    parent === undefined
      ? "at the beginning"
      : `to [${plain(speakerOf(parent))}: ${plain(previewOf(parent))}](#${anchorOf(parent.id)})`;
  return `\n---\n\n## Branch ${number}: ${place} ${from}\n`;
};

function* itemTexts(item: Item, all: boolean): Generator<string> {
  const { entry } = item.node;
  const notes = [timeOf(entry.time), statusOf(entry), usageOf(entry)].filter((note) => note !== null);
  yield `\n<a id="${anchorOf(entry.id)}"></a>\n\n### ${plain(speakerOf(entry))}\n\n`;
  yield `*${notes.map(plain).join(" · ")}*\n`;
  if (item.alternatives.length > 1) yield `\n${alternativesText(item, all)}\n`;
  for (const text of entryText(entry)) yield `\n${text}`;
}

/** Where all are in the document, they are links. */
const alternativesText = (item: Item, isLinked: boolean): string => {
  const { alternatives, index } = item;
  const place = `Alternative ${index + 1} of ${alternatives.length}`;
  if (!isLinked) return `${place}.`;
  const others = namedAlternatives(item).map(([at, { entry }]) =>
    at === index ? `**${at + 1}**` : `[${at + 1}](#${anchorOf(entry.id)})`,
  );
  return `${place}: ${others.join(" ")}`;
};
