/**
 * Imports a ChatGPT export: `conversations.json`, one shard of it, a single conversation, or an
 * `export_manifest.json` with the shards that it names beside it. Pure apart from the reader.
 */
import { EspalierError, isId, jsonEqual, type PrincipalId, type SessionId } from "@espalier/shared";
import { readConversation, sourceIdOf } from "./chatgpt-conversation.js";
import { type Fields, fieldsOf, isFields, listOf, textOf } from "./fields.js";
import type { ImportedSession, ImportResult } from "./foreign.js";
import { openSourceFile, type ReadFile, type SourceFile, unableToImport } from "./source-file.js";

export type ImportOptions = {
  /** The file to import; what a manifest names is read from the same folder. */
  readonly name: string;
  readonly read: ReadFile;
  /** Makes an id that was never used before, for what has none that fits. */
  readonly newId: () => string;
  /** ms; the time of a conversation that has none at all. */
  readonly now: () => number;
  /** Who imports: the author of the user's messages. */
  readonly principal?: PrincipalId;
};

/**
 * Rejects with `invalid` where the file is no ChatGPT export, and with `not_found` where there is none.
 *
 * @example
 * const read = (name: string) => readFile(join(folder, name));
 * const { sessions } = await importChatGpt({ name: "conversations.json", read, newId, now: Date.now });
 */
export const importChatGpt = async (options: ImportOptions): Promise<ImportResult> => {
  const { name, read } = options;
  const reports: string[] = [];
  const report = (line: string) => reports.push(line);
  const file = await openSourceFile(name, read, report);
  if (file === null) throw new EspalierError("not_found", `unable to import ${name}; there is no such file`);
  const collect = createCollector(options, reports);
  const shards = file.kind === "value" ? shardsOf(file.value) : null;
  if (shards === null) {
    await collect.add(file, "");
    if (!collect.isExport()) throw unableToImport(name, NO_EXPORT);
    return { format: "chatgpt", files: [baseOf(name)], sessions: collect.sessions, reports };
  }
  const files: string[] = [];
  for (const shard of shards) {
    const opened = await openShard(shard, options, report);
    if (opened === null) continue;
    files.push(shard);
    await collect.add(opened, `${shard}: `);
  }
  return { format: "chatgpt", files, sessions: collect.sessions, reports };
};

const NO_EXPORT = "it holds no ChatGPT conversation: none of its items is an object with a `mapping`";

/** Gathers the sessions of one or more files; `isExport` tells whether anything was a conversation. */
const createCollector = (options: ImportOptions, reports: string[]) => {
  const { newId, now, principal = "user" as PrincipalId } = options;
  const sessions: ImportedSession[] = [];
  const firstsById = new Map<string, ImportedSession>();
  let isExport = true;

  const isTaken = (id: string) => firstsById.has(id.toLowerCase());
  const keep = (session: ImportedSession): void => {
    firstsById.set(session.id.toLowerCase(), session);
    sessions.push(session);
  };

  /** What was odd about a conversation, or null. */
  const addConversation = (conversation: Fields): string | null => {
    const readAs = (id: string) =>
      readConversation(conversation, { id: id as SessionId, now, principal, newId });
    const sourceId = sourceIdOf(conversation);
    const id = isId(sourceId) ? sourceId : newId();
    const session = readAs(id);
    if (typeof session === "string") return session;
    const first = firstsById.get(id.toLowerCase());
    if (first === undefined) {
      keep(session);
      return null;
    }
    if (jsonEqual(first.records, session.records)) return "repeats an earlier conversation exactly; ignored";
    const otherId = numberedId(id, isTaken) ?? newId();
    keep(readAs(otherId) as ImportedSession);
    return `id ${id} was used by an earlier conversation with another body; this one is ${otherId}`;
  };

  return {
    sessions,
    isExport: () => isExport,
    add: async (file: SourceFile, prefix: string): Promise<void> => {
      let count = 0;
      let found = 0;
      for await (const item of file.kind === "list" ? file.items : [file.value]) {
        count += 1;
        const isKnown = isConversation(item);
        if (isKnown) found += 1;
        const line = isKnown ? addConversation(item) : "not a conversation; skipped";
        if (line !== null) reports.push(`${prefix}conversation ${count} (${titleOf(item)}): ${line}`);
      }
      isExport = found > 0 || count === 0;
      if (count === 0) reports.push(`${prefix}no conversation in it`);
    },
  };
};

/** Some exports hold conversations without a mapping; the fields around it tell those from other files. */
const isConversation = (value: unknown): value is Fields =>
  isFields(value) && (isFields(value.mapping) || CONVERSATION_FIELDS.every((field) => field in value));
const CONVERSATION_FIELDS = ["title", "create_time", "conversation_id"];

const titleOf = (conversation: unknown): string => {
  const title = textOf(fieldsOf(conversation).title);
  return title === null ? "untitled" : `"${title.toWellFormed()}"`;
};

/** The first of `id-2`, `id-3`, … that is free, so that a second import gives it again; null where none fits. */
const numberedId = (id: string, isTaken: (id: string) => boolean): string | null => {
  for (let count = 2; ; count++) {
    const numbered = `${id}-${count}`;
    if (!isId(numbered)) return null;
    if (!isTaken(numbered)) return numbered;
  }
};

/** The shards of a manifest's conversations; null where the value is no manifest. */
const shardsOf = (value: unknown): string[] | null => {
  const logicalFiles = fieldsOf(value).logical_files;
  if (!isFields(logicalFiles)) return null;
  const { files } = fieldsOf(logicalFiles["conversations.json"]);
  return listOf(files).filter((file) => typeof file === "string");
};

const openShard = async (
  shard: string,
  { name, read }: ImportOptions,
  report: (line: string) => void,
): Promise<SourceFile | null> => {
  if (!isBeside(shard)) {
    report(`${shard} is in the manifest but outside the export; it was not read`);
    return null;
  }
  try {
    const file = await openSourceFile(folderOf(name) + shard, read, report);
    if (file === null) {
      report(`${shard} is in the manifest but not in the export; its conversations are missing`);
    }
    return file;
  } catch (error) {
    if (!(error instanceof EspalierError)) throw error;
    report(`${shard}: ${error.message}; its conversations are missing`);
    return null;
  }
};

/** A manifest comes from outside: it may name what lies in its own folder and nothing else. */
const isBeside = (shard: string): boolean =>
  shard !== "" && !/^[/\\]|[\\:\0]/.test(shard) && !shard.split("/").includes("..");

const folderOf = (name: string): string => name.slice(0, name.length - baseOf(name).length);
const baseOf = (name: string): string =>
  name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
