/** `espalier export`: a session, or one line of it, as a file of Espalier's own, Markdown, HTML or ChatGPT's shape. */
import { open, rename, rm } from "node:fs/promises";
import type { EntryId } from "@espalier/shared";
import type { Conversation } from "../export/conversation.js";
import { escapeJson, escapeText } from "./escape.js";
import { advisedOfEntry, CommandError } from "./failure.js";
import { toEntryIdOrNone, toSessionId } from "./ids.js";
import { lackingIn, sayLacking } from "./lacking.js";
import { type Output, writeLines } from "./output.js";
import { openSource, type SourceOptions } from "./source.js";
import type { Terminal } from "./terminal.js";

export type Format = "espalier" | "markdown" | "html" | "chatgpt";

export type ExportOptions = Omit<SourceOptions, "runtime"> & {
  readonly format?: Format;
  readonly leaf?: string;
  readonly all?: boolean;
  readonly out?: string;
  readonly json?: boolean;
};

type Ask = { readonly leaf?: EntryId | undefined; readonly all?: boolean };

/** Loaded when asked for: a renderer of Markdown is a lot of code. */
const EXPORTERS: Readonly<
  Record<Format, () => Promise<(conversation: Conversation, ask: Ask) => AsyncIterable<string>>>
> = {
  espalier: async () => (await import("../export/espalier.js")).exportEspalier,
  markdown: async () => (await import("../export/markdown.js")).exportMarkdown,
  html: async () => (await import("../export/html.js")).exportHtml,
  chatgpt: async () => (await import("../export/chatgpt.js")).exportChatGpt,
};

const FORMATS_BY_ENDING: readonly (readonly [RegExp, Format])[] = [
  [/\.(?:md|markdown)$/i, "markdown"],
  [/\.html?$/i, "html"],
  [/\.json$/i, "chatgpt"],
];

export const runExport = async (
  session: string,
  options: ExportOptions,
  terminal: Terminal,
): Promise<void> => {
  const { out, err, runtime } = terminal;
  const { all = false, out: file, json = false } = options;
  const id = toSessionId(session);
  const leaf = toEntryIdOrNone(options.leaf);
  if (json && file === undefined)
    throw new CommandError(
      "unable to print JSON beside the export itself",
      "name a file for that with --out",
    );
  const format =
    options.format ?? FORMATS_BY_ENDING.find(([ending]) => ending.test(file ?? ""))?.[1] ?? "espalier";
  const exporter = await EXPORTERS[format]();
  const source = await openSource({ ...options, runtime });
  try {
    const conversation = await source.conversation(id);
    // The documents and the other shape hold nothing of what lacks, whoever tells it.
    if (source.isServer && format === "espalier")
      sayLacking(err, session, lackingIn(conversation, leaf), "exported");
    const pieces = exporter(conversation, { all, leaf });
    if (file === undefined) return await writeOut(pieces, format, out);
    const bytes = await writeFile(pieces, file, runtime.newId());
    const line = json
      ? escapeJson(JSON.stringify({ session, format, leaf: leaf ?? null, file, bytes }))
      : `exported ${session} to ${file}`;
    await writeLines(out, [line]);
  } catch (error) {
    throw advisedOfEntry(error, session);
  } finally {
    await source.close();
  }
};

/** Exactly as it is, but for a terminal. */
const writeOut = async (pieces: AsyncIterable<string>, format: Format, out: Output): Promise<void> => {
  const isJson = format === "espalier" || format === "chatgpt";
  const escaped = isJson ? escapeJson : escapeText;
  for await (const piece of pieces) {
    out.write(out.isTerminal ? escaped(piece) : piece);
    await out.drained();
    if (out.isClosed) return;
  }
};

/** The file is there when all of it is, and what it was before until then. Returns its length. */
const writeFile = async (pieces: AsyncIterable<string>, file: string, id: string): Promise<number> => {
  const unfinished = `${file}.${id}.part`;
  let bytes = 0;
  try {
    const handle = await open(unfinished, "wx");
    try {
      for await (const piece of pieces) {
        await handle.appendFile(piece);
        bytes += Buffer.byteLength(piece);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
    return bytes;
  } catch (error) {
    await rm(unfinished, { force: true });
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new CommandError(`unable to write ${file}; ${error.message}`, "name another file with --out", {
      cause: error,
    });
  }
};
