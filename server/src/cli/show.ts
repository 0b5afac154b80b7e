/** `espalier show`: one line of a session as text, or what the model would read at its end. */
import { type ContextMessage, context, type EntryId, type Settings, settings } from "@espalier/shared";
import { escapeJson, escapeLine } from "./escape.js";
import { advisedOfEntry } from "./failure.js";
import { toEntryIdOrNone, toSessionId } from "./ids.js";
import { writeLines } from "./output.js";
import { showEntry, showPart } from "./show-text.js";
import { type Line, openSource, type SourceOptions } from "./source.js";
import { createStyle, type Style } from "./style.js";
import type { Terminal } from "./terminal.js";
import { countOf } from "./wording.js";

export type ShowOptions = Omit<SourceOptions, "runtime"> & {
  readonly leaf?: string;
  readonly context?: boolean;
  readonly json?: boolean;
};

export const runShow = async (session: string, options: ShowOptions, terminal: Terminal): Promise<void> => {
  const { out, runtime } = terminal;
  const id = toSessionId(session);
  const leaf = toEntryIdOrNone(options.leaf);
  const source = await openSource({ ...options, runtime });
  try {
    const line = await source.line(id, leaf);
    await writeLines(out, linesOf(session, line, options, createStyle(out)));
  } catch (error) {
    throw advisedOfEntry(error, session);
  } finally {
    await source.close();
  }
};

const linesOf = (
  session: string,
  line: Line,
  { context: isContext = false, json = false }: ShowOptions,
  style: Style,
): Iterable<string> => {
  if (!isContext) return json ? lineToJson(session, line) : lineToText(session, line, style);
  const path = line.items.map(({ entry }) => entry);
  const read: Read = { messages: context(path), settings: settings(path) };
  return json ? readToJson(session, line, read) : readToText(read, style);
};

type Read = { readonly messages: readonly ContextMessage[]; readonly settings: Settings };

const leafIn = ({ items }: Line): EntryId | null => items.at(-1)?.entry.id ?? null;

function* lineToText(session: string, { title, items }: Line, style: Style): Generator<string> {
  yield style.bold(title === null ? session : `${escapeLine(title)}  (${session})`);
  yield style.dim(countOf(items.length, "entry", "entries"));
  yield "";
  for (const item of items) yield* showEntry(item, style);
}

function* lineToJson(session: string, line: Line): Generator<string> {
  const head = { id: session, title: line.title, leaf: leafIn(line) };
  yield* listToJson(
    head,
    "entries",
    line.items.map(({ entry }) => entry),
  );
}

function* readToText(
  { messages, settings: { provider, modelId, options } }: Read,
  style: Style,
): Generator<string> {
  const model = modelId === null ? "no model was chosen" : escapeLine(`${provider} ${modelId}`);
  const chosen = Object.keys(options).length === 0 ? "" : ` ${escapeLine(JSON.stringify(options))}`;
  yield style.dim(`${model}${chosen} · ${countOf(messages.length, "message")} for the model`);
  yield "";
  for (const { role, parts, entryId } of messages) {
    yield `${style.bold(escapeLine(role))} ${style.dim(`· ${entryId}`)}`;
    for (const part of parts) yield* showPart(part, style);
    yield "";
  }
}

function* readToJson(session: string, line: Line, read: Read): Generator<string> {
  const head = { id: session, leaf: leafIn(line), settings: read.settings };
  yield* listToJson(head, "messages", read.messages);
}

/** One JSON object over several lines, its last field a list. */
function* listToJson(head: object, name: string, items: readonly object[]): Generator<string> {
  yield escapeJson(`${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:[`);
  for (const [index, item] of items.entries())
    yield escapeJson(JSON.stringify(item)) + (index < items.length - 1 ? "," : "");
  yield "]}";
}
