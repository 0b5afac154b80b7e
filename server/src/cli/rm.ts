/** `espalier rm`: deletes sessions for good, with their sidechains, after it was confirmed. */
import type { SessionSummary } from "@espalier/shared";
import { escapeJson, escapeLine } from "./escape.js";
import { CommandError, lineOf } from "./failure.js";
import { toSessionId } from "./ids.js";
import { say, writeLines } from "./output.js";
import { openSource, type Source, type SourceOptions } from "./source.js";
import { createStyle } from "./style.js";
import type { Terminal } from "./terminal.js";
import { countOf } from "./wording.js";

export type RmOptions = Omit<SourceOptions, "runtime"> & { readonly yes?: boolean; readonly json?: boolean };

export const runRm = async (
  ids: readonly string[],
  options: RmOptions,
  terminal: Terminal,
): Promise<void> => {
  const { out, runtime } = terminal;
  const { yes = false, json = false } = options;
  const wanted = [...new Set(ids.map(toSessionId))];
  const source = await openSource({ ...options, runtime });
  try {
    const found = await findSessions(source, wanted);
    if (!yes) await confirm(wanted, found, terminal);
    const deleted: string[] = [];
    const faults: unknown[] = [];
    for (const id of wanted)
      try {
        await source.remove(id);
        deleted.push(id);
      } catch (error) {
        faults.push(error);
      }
    const style = createStyle(out);
    if (json) await writeLines(out, [escapeJson(JSON.stringify({ deleted }))]);
    else
      await writeLines(
        out,
        deleted.map((id) => `${style.red("deleted")}  ${describe(id, found)}`),
      );
    const last = faults.pop();
    for (const fault of faults) say(terminal.err, lineOf(fault));
    if (last !== undefined) throw last;
  } finally {
    await source.close();
  }
};

type Found = ReadonlyMap<string, SessionSummary>;

/** Those of them that are listed. */
const findSessions = async (source: Source, ids: readonly string[]): Promise<Found> => {
  const found = new Map<string, SessionSummary>();
  const lists = [{ archived: true }, ...rootsOf(ids).map((of) => ({ archived: true, of }))];
  for (const ask of lists)
    for await (const page of source.pages(ask))
      for (const summary of page) if (ids.includes(summary.id)) found.set(summary.id, summary);
  return found;
};

/** The sessions that the sidechains among them lie under. */
const rootsOf = (ids: readonly string[]): SessionSummary["id"][] =>
  [
    ...new Set(ids.filter((id) => id.includes("/")).map((id) => id.split("/", 1)[0])),
  ] as SessionSummary["id"][];

const confirm = async (ids: readonly string[], found: Found, { err, ask }: Terminal): Promise<void> => {
  for (const id of ids) err.write(`${describe(id, found)}\n`);
  const what = ids.length === 1 ? "this session" : `these ${ids.length} sessions`;
  const answer = await ask(`Delete ${what} for good? Nothing brings it back. [y/N] `);
  if (answer === null)
    throw new CommandError("unable to delete; there is nobody to confirm it", "say so with --yes");
  if (!/^y(?:es)?$/i.test(answer.trim()))
    throw new CommandError("unable to delete; it was not confirmed", "nothing was deleted");
};

const describe = (id: string, found: Found): string => {
  const summary = found.get(id);
  if (summary === undefined) return escapeLine(id);
  const { title, entries, sidechains = 0, error } = summary;
  const counts = [error === undefined ? countOf(entries, "entry", "entries") : "damaged"];
  if (sidechains > 0) counts.push(countOf(sidechains, "sidechain"));
  return [escapeLine(id), ...(title === null ? [] : [escapeLine(title)]), counts.join(", ")].join("  ");
};
