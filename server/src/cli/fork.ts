/** `espalier fork`: makes a session of the line up to an entry of another. */
import type { EntryId } from "@espalier/shared";
import { escapeJson } from "./escape.js";
import { advisedOfEntry } from "./failure.js";
import { toEntryIdOrNone, toSessionId } from "./ids.js";
import { writeLines } from "./output.js";
import { openSource, type SourceOptions } from "./source.js";
import { createStyle } from "./style.js";
import type { Terminal } from "./terminal.js";

export type ForkOptions = Omit<SourceOptions, "runtime"> & {
  readonly at?: string;
  readonly as?: string;
  readonly copy?: boolean;
  readonly json?: boolean;
};

export const runFork = async (session: string, options: ForkOptions, terminal: Terminal): Promise<void> => {
  const { out, runtime } = terminal;
  const { as = runtime.newId(), copy = false, json = false } = options;
  const origin = toSessionId(session);
  const fork = toSessionId(as);
  const at = toEntryIdOrNone(options.at);
  const source = await openSource({ ...options, runtime });
  try {
    const asked = at ?? (await source.leaf(origin));
    const mode: "copy" | "share" = copy ? "copy" : "share";
    const { entry } = await source.fork({
      session: fork,
      mode,
      from: { session: origin, entry: asked },
    });
    const isCutBack = entry !== asked;
    const forked = { session: fork, from: { session: origin, entry }, mode, isCutBack };
    await writeLines(
      out,
      json ? [escapeJson(JSON.stringify(forked))] : toText(forked, createStyle(out).bold),
    );
  } catch (error) {
    throw advisedOfEntry(error, session);
  } finally {
    await source.close();
  }
};

type Forked = {
  readonly session: string;
  readonly from: { readonly session: string; readonly entry: EntryId | null };
  readonly mode: "copy" | "share";
  readonly isCutBack: boolean;
};

function* toText(
  { session, from, mode, isCutBack }: Forked,
  bold: (text: string) => string,
): Generator<string> {
  const place = from.entry === null ? "before its first entry" : `at ${from.entry}`;
  const how = mode === "copy" ? "as a copy" : "sharing what was said";
  yield `${bold(session)} is a fork of ${from.session} ${place}, ${how}`;
  if (isCutBack)
    yield "It was cut back to there: below, a message was streaming or a tool call had no result.";
}
