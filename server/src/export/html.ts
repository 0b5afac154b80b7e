/**
 * A session as one HTML file: one line of it, or all of them as a flat list of sections with links between the
 * alternatives. It needs nothing but itself, runs no script and fetches nothing: its policy forbids both, so
 * that not even a fault in here would let content act.
 */
import { createHash } from "node:crypto";
import type { TreeNode } from "@espalier/shared";
import { type Conversation, leafOf, titleOf } from "./conversation.js";
import { entryHtml } from "./html-entry.js";
import { STYLE } from "./html-style.js";
import type { DocumentOptions } from "./markdown.js";
import { allSections, type Item, lineSection, namedAlternatives, type Section } from "./outline.js";
import { inPieces } from "./pieces.js";
import { escapeHtml } from "./rich-text.js";
import { anchorOf, isoOf, previewOf, shownOf, speakerOf, statusOf, timeOf, usageOf } from "./wording.js";

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'`;

/** @throws EspalierError `not_found` where there is no such entry */
export const exportHtml = (
  conversation: Conversation,
  { leaf, all = false }: DocumentOptions = {},
): AsyncIterable<string> => inPieces(textsOf(conversation, leafOf(conversation, leaf), all));

function* textsOf(conversation: Conversation, leaf: TreeNode | null, all: boolean): Generator<string> {
  const { id, tree } = conversation;
  const title = titleOf(conversation) ?? id;
  const line = leaf === null ? null : lineSection(tree, leaf);
  yield headHtml(title);
  yield headerHtml(conversation, title, all ? tree.size : (line?.items.length ?? 0));
  if (leaf !== null && line !== null)
    for (const section of all ? allSections(tree, leaf) : [line])
      yield* sectionHtml(section, conversation, all);
  yield "</main>\n</body>\n</html>\n";
}

const headHtml = (title: string): string => `<!doctype html>
<html lang="und">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
`;

const headerHtml = ({ id, header, tree }: Conversation, title: string, shown: number): string => {
  const facts = [shownOf(shown, tree.size), `session ${id}`];
  return `<header>
<h1 dir="auto">${escapeHtml(title)}</h1>
<p>${timeHtml(header.createdAt)} · ${facts.map(escapeHtml).join(" · ")}</p>
</header>
`;
};

function* sectionHtml(section: Section, conversation: Conversation, isWhole: boolean): Generator<string> {
  yield `<section>\n${section.number === 0 ? "" : branchHeading(section, conversation)}`;
  for (const item of section.items) yield* itemHtml(item, isWhole);
  yield "</section>\n";
}

/** Where a branch leaves the line before it. */
const branchHeading = ({ number, items }: Section, { tree }: Conversation): string => {
  const first = items[0] as Item;
  const { parentId } = first.node.entry;
  const parent = parentId === null ? undefined : tree.get(parentId)?.entry;
  const from =
    parent === undefined
      ? "at the beginning"
      : `after <a href="#${anchorOf(parent.id)}"><bdi>${escapeHtml(previewOf(parent))}</bdi></a>`;
  return `<h2 class="branch"><span>Branch ${number}</span> alternative ${first.index + 1} of ${first.alternatives.length} ${from}</h2>\n`;
};

function* itemHtml(item: Item, isWhole: boolean): Generator<string> {
  const { entry } = item.node;
  const kind = entry.type === "message" || entry.type === "erased" ? (entry.role ?? "erased") : "note";
  yield `<article class="${KINDS.has(kind) ? kind : "note"}" id="${anchorOf(entry.id)}">\n`;
  const status = statusOf(entry);
  const usage = usageOf(entry);
  yield `<h3><bdi>${escapeHtml(speakerOf(entry))}</bdi>${item.alternatives.length > 1 ? alternativesHtml(item, isWhole) : ""}
<span class="facts">${status === null ? "" : `<em>${escapeHtml(status)}</em> · `}${usage === null ? "" : `${escapeHtml(usage)} · `}<a href="#${anchorOf(entry.id)}">${timeHtml(entry.time)}</a></span></h3>\n`;
  yield* entryHtml(entry);
  yield "</article>\n";
}

const KINDS: ReadonlySet<string> = new Set(["system", "user", "assistant", "tool", "erased"]);

const alternativesHtml = (item: Item, isWhole: boolean): string => {
  const { alternatives, index } = item;
  const label = `alternative ${index + 1} of ${alternatives.length}`;
  if (!isWhole) return `<span class="of">${label}</span>`;
  const links = namedAlternatives(item).map(([at, { entry }], place, all) => {
    const gap = place > 0 && at > (all[place - 1]?.[0] ?? 0) + 1 ? "<i>…</i>" : "";
    return at === index
      ? `${gap}<b aria-current="true">${at + 1}</b>`
      : `${gap}<a href="#${anchorOf(entry.id)}">${at + 1}</a>`;
  });
  return `<nav class="of" aria-label="${label}">${links.join("")}</nav>`;
};

const timeHtml = (ms: number): string => {
  const iso = isoOf(ms);
  const shown = escapeHtml(timeOf(ms));
  return iso === null ? shown : `<time datetime="${iso}">${shown}</time>`;
};
