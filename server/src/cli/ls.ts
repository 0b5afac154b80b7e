/** `espalier ls`: the sessions, the newest change first. */
import type { SessionSummary } from "@espalier/shared";
import { escapeJson, escapeLine } from "./escape.js";
import { writeLines } from "./output.js";
import { openSource, type SourceOptions } from "./source.js";
import { createStyle, type Style } from "./style.js";
import type { Terminal } from "./terminal.js";
import { cutTo, padTo, widthOf } from "./width.js";
import { timeOf } from "./wording.js";

export type LsOptions = Omit<SourceOptions, "runtime"> & { readonly json?: boolean };

export const runLs = async (options: LsOptions, terminal: Terminal): Promise<void> => {
  const { out, err, runtime } = terminal;
  const source = await openSource({ ...options, runtime });
  try {
    const sessions = await source.list();
    if (options.json === true) await writeLines(out, [escapeJson(JSON.stringify({ sessions }))]);
    else if (sessions.length > 0)
      await writeLines(
        out,
        drawList(sessions, out.isTerminal ? out.columns : Number.POSITIVE_INFINITY, createStyle(out)),
      );
    else err.write("There are no sessions yet.\n");
  } finally {
    await source.close();
  }
};

const HEADINGS = ["ID", "ENTRIES", "CREATED", "CHANGED", "TITLE"] as const;
const TIME_COLUMNS = 16;
const MAX_ID_COLUMNS = 40;

function* drawList(sessions: readonly SessionSummary[], columns: number, style: Style): Generator<string> {
  const longestId = Math.max(2, ...sessions.slice(0, 1000).map(({ id }) => id.length));
  const widths = [Math.min(MAX_ID_COLUMNS, longestId), 7, TIME_COLUMNS, TIME_COLUMNS];
  const row = (cells: readonly string[]): string =>
    widths
      .map((width, index) =>
        index === 1 ? (cells[1] ?? "").padStart(width) : padTo(cells[index] ?? "", width),
      )
      .join("  ");
  yield style.bold(`${row(HEADINGS)}  ${HEADINGS[4]}`);
  for (const session of sessions) {
    const { id, entries, createdAt, changedAt, title, waiting, error } = session;
    const isDamaged = error !== undefined;
    const cells = isDamaged
      ? [id, "?", "", changedAt === 0 ? "" : timeOf(changedAt)]
      : [id, String(entries), timeOf(createdAt), timeOf(changedAt)];
    const start = `${row(cells)}  `;
    const note = isDamaged ? `${error.code}: ${error.message}` : waiting > 0 ? `[${waiting} waiting] ` : "";
    const room = Math.max(20, columns - widthOf(start) - (isDamaged ? 0 : note.length));
    // What is wrong is never cut: it names the file and the line.
    if (isDamaged) yield start + style.red(escapeLine(note));
    else yield start + style.yellow(note) + cutTo(escapeLine(title ?? ""), room);
  }
}
