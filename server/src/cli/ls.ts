/** `espalier ls`: the sessions, the newest change first, forks below what they were forked from. */
import type { SessionSummary } from "@espalier/shared";
import { escapeJson, escapeLine } from "./escape.js";
import { familiesOf, type Relative } from "./families.js";
import { writeLines } from "./output.js";
import { openSource, type Source, type SourceOptions } from "./source.js";
import { createStyle, type Style } from "./style.js";
import type { Terminal } from "./terminal.js";
import { cutTo, padTo, widthOf } from "./width.js";
import { countOf, timeOf } from "./wording.js";

export type LsOptions = Omit<SourceOptions, "runtime"> & {
  readonly json?: boolean;
  /** Archived ones as well. */
  readonly all?: boolean;
  readonly sidechains?: boolean;
  /** So many sessions, those that changed last. */
  readonly limit?: number;
};

export const runLs = async (options: LsOptions, terminal: Terminal): Promise<void> => {
  const { out, err, runtime } = terminal;
  const source = await openSource({ ...options, runtime });
  try {
    const sessions = await sessionsOf(source, options);
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

/** Each session's sidechains behind it, where they are asked for. */
const sessionsOf = async (
  source: Source,
  { all = false, sidechains = false, limit = Number.POSITIVE_INFINITY }: LsOptions,
): Promise<SessionSummary[]> => {
  const archived = all ? { archived: true } : {};
  const sessions: SessionSummary[] = [];
  for await (const page of source.pages(archived)) {
    sessions.push(...page.slice(0, limit - sessions.length));
    if (sessions.length >= limit) break;
  }
  if (!sidechains) return sessions;
  const withChains: SessionSummary[] = [];
  for (const session of sessions) {
    withChains.push(session);
    if ((session.sidechains ?? 0) === 0) continue;
    for await (const page of source.pages({ ...archived, of: session.id })) withChains.push(...page);
  }
  return withChains;
};

const HEADINGS = ["ID", "ENTRIES", "CREATED", "CHANGED", "TITLE"] as const;
const TIME_COLUMNS = 16;
const MAX_ID_COLUMNS = 48;

function* drawList(sessions: readonly SessionSummary[], columns: number, style: Style): Generator<string> {
  const relatives = [...familiesOf(sessions)];
  const areChainsListed = sessions.some(({ id }) => id.includes("/"));
  const nameOf = ({ lead, summary }: Relative): string => lead + escapeLine(summary.id);
  const longest = Math.max(2, ...relatives.slice(0, 1000).map((each) => widthOf(nameOf(each))));
  const widths = [Math.min(MAX_ID_COLUMNS, longest), 7, TIME_COLUMNS, TIME_COLUMNS];
  const row = (cells: readonly string[]): string =>
    widths
      .map((width, index) =>
        index === 1 ? (cells[1] ?? "").padStart(width) : padTo(cells[index] ?? "", width),
      )
      .join("  ");
  yield style.bold(`${row(HEADINGS)}  ${HEADINGS[4]}`);
  for (const relative of relatives) {
    const { entries, createdAt, changedAt, title, error } = relative.summary;
    const name = nameOf(relative);
    if (error !== undefined) {
      const start = row([name, "?", "", changedAt === 0 ? "" : timeOf(changedAt)]);
      // What is wrong is never cut: it names the file and the line.
      yield `${start}  ${style.red(escapeLine(`${error.code}: ${error.message}`))}`;
      continue;
    }
    const start = `${row([name, String(entries), timeOf(createdAt), timeOf(changedAt)])}  `;
    const note = noteOf(relative, areChainsListed);
    const room = Math.max(20, columns - widthOf(start) - note.length);
    yield start + style.yellow(note) + cutTo(escapeLine(title ?? ""), room);
  }
}

const noteOf = (
  { summary: { waiting, isArchived, sidechains = 0, origin }, lead }: Relative,
  areChainsListed: boolean,
): string => {
  const notes = [
    // One that is archived, or deleted, or that one may not read.
    ...(lead === "" && origin?.session ? [`from ${escapeLine(origin.session)}`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(isArchived === true ? ["archived"] : []),
    ...(sidechains > 0 && !areChainsListed ? [countOf(sidechains, "sidechain")] : []),
  ];
  return notes.length === 0 ? "" : `[${notes.join(", ")}] `;
};
