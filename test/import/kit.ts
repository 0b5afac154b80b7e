/** Runs imports from files, texts and values, reads them whole, and makes small conversations to import. */
import { fileURLToPath } from "node:url";
import type { EspalierError, LogRecord } from "@espalier/shared";
import { expect } from "vitest";
import { openDiskSource } from "../../server/src/cli/disk-source.js";
import { importChatGpt } from "../../server/src/import/chatgpt.js";
import type {
  ImportedSession,
  Importing,
  ImportOptions,
  ImportSummary,
  Source,
  SourceFile,
} from "../../server/src/import/foreign.js";

export const FIXTURES = fileURLToPath(new URL("../fixtures", import.meta.url));
export const NOW = 1_790_000_000_000;

export type Import = (source: Source, options: ImportOptions) => Importing;

/** A session read whole. */
export type Collected = Omit<ImportedSession, "records" | "summary"> & {
  readonly records: readonly LogRecord[];
  readonly summary: ImportSummary;
};
export type CollectedImport = Pick<Importing, "format" | "files" | "reports"> & {
  readonly sessions: readonly Collected[];
};

const counter = () => {
  let count = 0;
  return () => `fresh${++count}`;
};

export const options = (): ImportOptions => ({ newId: counter(), now: () => NOW });

export const collect = async (importing: Importing): Promise<CollectedImport> => {
  const { sessions, error } = await collectWhole(importing);
  if (error !== null) throw error;
  const { format, files, reports } = importing;
  return { format, files, reports, sessions };
};

/** The sessions up to where it failed. */
export const collectWhole = async (
  importing: Importing,
): Promise<{ sessions: Collected[]; error: EspalierError | null }> => {
  const sessions: Collected[] = [];
  try {
    for await (const session of importing.sessions) {
      const records: LogRecord[] = [];
      for await (const record of session.records()) records.push(record);
      sessions.push({ ...session, records, summary: session.summary() });
    }
  } catch (error) {
    return { sessions, error: error as EspalierError };
  }
  return { sessions, error: null };
};

/** Read in pieces of a few bytes, so that everything is cut somewhere. */
export const memoryFile = (
  name: string,
  content: string | Uint8Array,
  pieceBytes = 64 * 1024,
): SourceFile => {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return {
    name,
    size: bytes.length,
    read: async function* (from = 0, to = bytes.length) {
      for (let at = from; at < to; at += pieceBytes) yield bytes.slice(at, Math.min(at + pieceBytes, to));
    },
  };
};

/** Files by their names; the first one is the one that is imported. */
export const memorySource = (
  contents: Readonly<Record<string, string | Uint8Array>>,
  pieceBytes?: number,
): Source => {
  const names = Object.keys(contents);
  const open = (name: string): SourceFile | null =>
    Object.hasOwn(contents, name) ? memoryFile(name, contents[name] as string, pieceBytes) : null;
  return {
    file: open(names[0] as string) as SourceFile,
    beside: async (name) => open(name),
    list: async (folder) =>
      names
        .filter((name) => folder === "" || name.startsWith(`${folder}/`))
        .map((name) => name.slice(folder === "" ? 0 : folder.length + 1).split("/")[0] as string)
        .filter((name, index, all) => all.indexOf(name) === index)
        .sort(),
  };
};

export const fileSource = async (path: string): Promise<Source> => {
  const source = await openDiskSource(path);
  if (source === null) throw new Error(`no file ${path}`);
  return source;
};

export const importText = (content: string | Uint8Array, format: Import = importChatGpt) =>
  collect(format(memorySource({ "export.json": content }), options()));

export const importJson = (value: unknown, format: Import = importChatGpt) =>
  importText(JSON.stringify(value), format);

export const soleSession = ({ sessions }: CollectedImport): Collected => {
  expect(sessions).toHaveLength(1);
  return sessions[0] as Collected;
};

type NodeOptions = { role?: string; text?: string; time?: number; more?: object; message?: object };
export const node = (id: string, parent: string | null, options: NodeOptions = {}) => {
  const { role = "user", text = id, time = 1_700_000_000, more = {}, message = {} } = options;
  const content = { content_type: "text", parts: [text] };
  const said = { id, author: { role }, create_time: time, content, recipient: "all", ...message };
  return { id, parent, message: said, ...more };
};

export const conversation = (nodes: readonly { id: string }[], more: object = {}) => ({
  title: "t",
  create_time: 1_700_000_000,
  mapping: Object.fromEntries(nodes.map((each) => [each.id, each])),
  ...more,
});

export const entriesOf = ({ records }: Collected) => records.filter((record) => record.kind === "entry");
