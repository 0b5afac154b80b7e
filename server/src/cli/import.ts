/**
 * `espalier import`: takes the conversations of a ChatGPT export into a directory. What is there already
 * is left as it is, so a second import changes nothing.
 */
import { readFile } from "node:fs/promises";
import { importChatGpt } from "../import/chatgpt.js";
import type { ImportedSession, ImportSummary } from "../import/foreign.js";
import type { AppendOutcome, LogStore } from "../store/log-store.js";
import { escapeJson, escapeLine } from "./escape.js";
import { advised, CommandError, errorOf } from "./failure.js";
import { type Output, say, writeLines } from "./output.js";
import { openDirectoryOr } from "./source.js";
import { createStyle } from "./style.js";
import type { Terminal } from "./terminal.js";
import { countOf } from "./wording.js";

export type ImportOptions = { readonly dir: string; readonly json?: boolean };

/** Synced together: one by one would cost a turn of the disk each. */
const TOGETHER = 64;

type Taken = { readonly summary: ImportSummary; readonly isNew: boolean };

export const runImport = async (file: string, options: ImportOptions, terminal: Terminal): Promise<void> => {
  const { out, err, runtime } = terminal;
  const { dir, json = false } = options;
  const { sessions, reports } = await importChatGpt({
    name: file,
    read: (name) => readFile(name),
    newId: () => runtime.newId(),
    now: () => runtime.now(),
  }).catch((error: unknown) => {
    throw advised(error, {
      not_found: "check the path",
      invalid: "name a ChatGPT export's conversations.json",
    });
  });
  for (const report of reports) say(err, report);
  const taken = await takeIn(sessions, dir, terminal);
  for (const { summary } of taken)
    for (const report of summary.reports) say(err, `${nameOf(summary)}: ${report}`);
  if (json)
    await writeLines(out, [escapeJson(JSON.stringify({ sessions: taken.map(({ summary }) => summary) }))]);
  else
    await writeLines(
      out,
      taken.map((each) => describe(each, out)),
    );
};

const takeIn = async (
  sessions: readonly ImportedSession[],
  dir: string,
  { runtime }: Terminal,
): Promise<Taken[]> => {
  const opened = await openDirectoryOr(dir, runtime, async (url) => {
    throw new CommandError(
      `unable to import into ${dir}; a server has it, at ${url}`,
      "stop the server, import, and start it again",
    );
  });
  if (opened.type === "served") return opened.server;
  const { store } = opened;
  try {
    const taken: Taken[] = [];
    for (let from = 0; from < sessions.length; from += TOGETHER)
      taken.push(
        ...(await Promise.all(sessions.slice(from, from + TOGETHER).map((each) => take(store, dir, each)))),
      );
    return taken;
  } finally {
    await store.close();
  }
};

const take = async (store: LogStore, dir: string, session: ImportedSession): Promise<Taken> => {
  const { id, records, summary } = session;
  if ((await store.summary(id)) !== null) {
    const report = `session ${id} is in ${dir} already; left as it is`;
    return { isNew: false, summary: { ...summary, reports: [...summary.reports, report] } };
  }
  const outcome = await store.append(id, 0, records);
  if (outcome.type !== "ok") throw failureOf(outcome, id);
  await outcome.durable;
  return { isNew: true, summary };
};

const failureOf = (outcome: Exclude<AppendOutcome, { type: "ok" }>, id: string): CommandError =>
  outcome.type === "conflict"
    ? new CommandError(`unable to import ${id}; somebody else wrote it meanwhile`, "import again")
    : errorOf(outcome.error);

const nameOf = ({ id, title }: ImportSummary): string => (title === null ? id : `${id} (${title})`);

const describe = ({ summary, isNew }: Taken, out: Output): string => {
  const style = createStyle(out);
  const { id, title, entries, roots, branchPoints } = summary;
  const counts = [countOf(entries, "entry", "entries")];
  if (roots.length > 1) counts.push(countOf(roots.length, "root"));
  const forks = branchPoints.filter(({ parent }) => parent !== null).length;
  if (forks > 0) counts.push(countOf(forks, "branch point"));
  const verb = isNew ? style.green("imported") : style.yellow("left as is");
  return `${verb}  ${id}  ${style.bold(escapeLine(title ?? "untitled"))}  ${style.dim(counts.join(", "))}`;
};
