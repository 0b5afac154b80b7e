/** Draws a tree for a terminal, a line an entry: place in the tree, who, what, status, time, id. */
import type { Tree } from "@espalier/shared";
import { escapeLine } from "./escape.js";
import { layOut, newestLine, type Row } from "./layout.js";
import type { Names } from "./names.js";
import type { Style } from "./style.js";
import { cutTo, padTo, widthOf } from "./width.js";
import { countOf, previewOf, speakerOf, timeOf } from "./wording.js";

export type DrawOptions = {
  readonly title: string | null;
  readonly session: string;
  readonly columns: number;
  readonly style: Style;
  /** Whole ids, however long. */
  readonly full: boolean;
  readonly names: Names;
};

const ON_LINE = "●";
const OFF_LINE = "○";
const SPEAKER_COLUMNS = 10;
/** Below this the text is not cut further: a line may then be wrapped. */
const MIN_TEXT_COLUMNS = 16;
const MAX_NAME_COLUMNS = 24;
const SHORT_ID = 8;
const LONGEST_SHORT_ID = 16;

export function* drawTree(tree: Tree, options: DrawOptions): Generator<string> {
  const shorten = idShortener(tree, options.full);
  yield* heading(tree, options);
  let isFirst = true;
  for (const row of layOut(tree)) {
    const isRoot = row.node.entry.parentId === null;
    if (isRoot && !isFirst) yield "";
    isFirst = false;
    yield drawRow(row, shorten, options);
  }
}

function* heading(tree: Tree, { title, session, columns, style }: DrawOptions): Generator<string> {
  const name = title === null ? session : `${escapeLine(title)}  (${session})`;
  yield style.bold(cutTo(name, columns));
  const leaves = [...tree.nodes()].filter(({ children }) => children.length === 0).length;
  const parts = [countOf(tree.size, "entry", "entries"), countOf(leaves, "line")];
  if (tree.roots.length > 1) parts.push(countOf(tree.roots.length, "root"));
  const newest = newestLine(tree).length;
  if (leaves > 1) parts.push(`${ON_LINE} marks the newest line (${newest})`);
  yield style.dim(cutTo(parts.join(" · "), columns));
  yield "";
}

const drawRow = (
  row: Row,
  shorten: (id: string) => string,
  { columns, style, names }: DrawOptions,
): string => {
  const { node, lead, isOnNewestLine, place, alternatives } = row;
  const { entry } = node;
  const mark = isOnNewestLine ? ON_LINE : OFF_LINE;
  const branch = alternatives > 1 ? `${place}/${alternatives} ` : "";
  const speaker = cutTo(escapeLine(speakerOf(entry)), 24);
  const status = entry.status === "complete" ? "" : `[${escapeLine(entry.status)}] `;
  const named = (names.get(entry.id) ?? [])
    .map((name) => `‹${cutTo(escapeLine(name), MAX_NAME_COLUMNS)}› `)
    .join("");
  const tail = `${timeOf(entry.time)}  ${shorten(entry.id)}`;
  const head = `${lead}${mark} ${branch}${padTo(speaker, SPEAKER_COLUMNS)} `;
  const room = columns - widthOf(head) - status.length - widthOf(named) - widthOf(tail) - 2;
  const text = padTo(cutTo(previewOf(entry), Math.max(MIN_TEXT_COLUMNS, room)), room);
  const bright = isOnNewestLine ? style.bold : (plain: string) => plain;
  return [
    style.dim(lead),
    isOnNewestLine ? style.green(mark) : mark,
    " ",
    style.yellow(branch),
    bright(padTo(speaker, SPEAKER_COLUMNS)),
    " ",
    style.cyan(named),
    text,
    "  ",
    style.red(status),
    style.dim(tail),
  ].join("");
};

/** Long ids by their beginning, or else their end, where that tells them apart. */
const idShortener = (tree: Tree, full: boolean): ((id: string) => string) => {
  const long = [...tree.nodes()].map(({ entry }): string => entry.id).filter(isLong);
  const ways = [(id: string) => id.slice(0, SHORT_ID), (id: string) => `…${id.slice(-SHORT_ID)}`];
  const way = full ? undefined : ways.find((shorten) => new Set(long.map(shorten)).size === long.length);
  return (id) => (way !== undefined && isLong(id) ? way(id) : id);
};

const isLong = ({ length }: string): boolean => length > LONGEST_SHORT_ID;
