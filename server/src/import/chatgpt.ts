/**
 * Imports a ChatGPT export: `conversations.json`, one shard of it, a single conversation, or an
 * `export_manifest.json` with the shards that it names beside it. One conversation is held at a time.
 */
import { EspalierError } from "@espalier/shared";
import { readConversation, sourceIdOf } from "./chatgpt-conversation.js";
import { type ConversationFormat, createReader } from "./conversations.js";
import { type Fields, fieldsOf, isFields, listOf } from "./fields.js";
import type { ImportedSession, Importing, ImportOptions, Report, Source, SourceFile } from "./foreign.js";
import { openJson } from "./json-file.js";
import { shownName, unableToImport } from "./unable.js";

/**
 * Asking for the sessions throws `invalid` where the file is no ChatGPT export, and where it is damaged,
 * after the sessions that are whole.
 *
 * @example
 * const { sessions } = importChatGpt(source, { newId, now: Date.now });
 * for await (const session of sessions) await store.install(session.id, header, session.records());
 */
export const importChatGpt = (source: Source, options: ImportOptions): Importing => {
  const files: string[] = [];
  const reports: string[] = [];
  return { format: "chatgpt", files, reports, sessions: sessionsOf(source, options, files, reports) };
};

/** Some exports hold conversations without a mapping; the fields around it tell those from other files. */
const isConversation = (value: unknown): value is Fields =>
  isFields(value) && (isFields(value.mapping) || CONVERSATION_FIELDS.every((field) => field in value));
const CONVERSATION_FIELDS = ["title", "create_time", "conversation_id"];

const FORMAT: ConversationFormat = {
  name: "ChatGPT",
  isConversation,
  sourceIdOf,
  read: readConversation,
};

async function* sessionsOf(
  source: Source,
  options: ImportOptions,
  files: string[],
  reports: string[],
): AsyncGenerator<ImportedSession> {
  const { file } = source;
  const report: Report = (line) => reports.push(line);
  const reader = createReader(FORMAT, options, reports);
  const json = await openJson(file, report);
  const shards = json.kind === "value" ? shardsOf(json.value) : null;
  if (shards === null) {
    files.push(file.name);
    yield* reader.read(shownName(file), json);
    return;
  }
  const damaged: string[] = [];
  for (const name of shards) {
    const shard = await shardFile(name, source, report);
    if (shard === null) continue;
    files.push(name);
    try {
      yield* reader.read(name, await openJson(shard, report), `${name}: `);
    } catch (error) {
      if (!(error instanceof EspalierError)) throw error;
      damaged.push(name);
      report(`${name}: ${error.message}; its other conversations are missing`);
    }
  }
  if (damaged.length > 0)
    throw unableToImport(`all of ${shownName(file)}`, `${damaged.join(", ")} cannot be read`);
}

/** The shards of a manifest's conversations; null where the value is no manifest. */
const shardsOf = (value: unknown): string[] | null => {
  const logicalFiles = fieldsOf(value).logical_files;
  if (!isFields(logicalFiles)) return null;
  const { files } = fieldsOf(logicalFiles["conversations.json"]);
  return listOf(files).filter((file) => typeof file === "string");
};

const shardFile = async (name: string, source: Source, report: Report): Promise<SourceFile | null> => {
  if (!isBeside(name)) {
    report(`${name} is in the manifest but outside the export; it was not read`);
    return null;
  }
  const shard = await source.beside(name);
  if (shard === null)
    report(`${name} is in the manifest but not in the export; its conversations are missing`);
  return shard;
};

/** A manifest comes from outside: it may name what lies in its own folder and nothing else. */
const isBeside = (name: string): boolean =>
  name !== "" && !/^[/\\]|[\\:\0]/.test(name) && !name.split("/").includes("..");
