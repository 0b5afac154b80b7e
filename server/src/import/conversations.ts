/**
 * The files of formats that are one conversation, or a list of them: each becomes a session as it is
 * read, under an id that a second import gives it again. Of two with one id, both are kept; an exact
 * repeat is not.
 */
import { createHash } from "node:crypto";
import { isId, type SessionId } from "@espalier/shared";
import { type Fields, fieldsOf, textOf } from "./fields.js";
import type { ImportedSession, Importing, ImportOptions, Source } from "./foreign.js";
import { type JsonFile, openJson } from "./json-file.js";
import { jsonText } from "./json-text.js";
import { shownName, unableToImport } from "./unable.js";

export type ConversationFormat = {
  /** What the format is called where none of it was found. */
  readonly name: string;
  isConversation(value: unknown): value is Fields;
  sourceIdOf(conversation: Fields): string | null;
  /** A session, or the reason why there is none. */
  read(conversation: Fields, id: SessionId, options: ImportOptions): ImportedSession | string;
};

/** Nothing after so many things that are no conversation is waited for: it is another file. */
const MAX_STRANGERS = 1000;

/** Imports a file of a format whose files stand alone. Asking for the sessions throws `invalid`. */
export const importConversations = (
  name: string,
  format: ConversationFormat,
  { file }: Source,
  options: ImportOptions,
): Importing => {
  const files: string[] = [];
  const reports: string[] = [];
  async function* sessionsOf(): AsyncGenerator<ImportedSession> {
    const json = await openJson(file, (line) => reports.push(line));
    files.push(file.name);
    yield* createReader(format, options, reports).read(shownName(file), json);
  }
  return { format: name, files, reports, sessions: sessionsOf() };
};

/** Reads one or more files, one after the other, into one set of sessions. */
export const createReader = (format: ConversationFormat, options: ImportOptions, reports: string[]) => {
  /** Digests of the conversations by their ids. */
  const digestsById = new Map<string, string>();
  const isTaken = (id: string) => digestsById.has(id.toLowerCase());

  /** A session, or what was odd; of one that is both, the oddity is reported here. */
  const readOne = (conversation: Fields, where: string): ImportedSession | null => {
    const digest = digestOf(conversation);
    const sourceId = format.sourceIdOf(conversation);
    const wanted = isId(sourceId) ? sourceId : digest;
    const before = digestsById.get(wanted.toLowerCase());
    const id = before === undefined ? wanted : (numberedId(wanted, isTaken) ?? options.newId());
    if (before === digest) {
      reports.push(`${where}: repeats an earlier conversation exactly; ignored`);
      return null;
    }
    const session = format.read(conversation, id as SessionId, options);
    if (typeof session === "string") {
      reports.push(`${where}: ${session}`);
      return null;
    }
    digestsById.set(id.toLowerCase(), digest);
    if (id !== wanted) {
      const clash = `id ${wanted} was used by an earlier conversation with another body`;
      reports.push(`${where}: ${clash}; this one is ${id}`);
    }
    return session;
  };

  /** Throws `invalid` where a file has none of the format. */
  async function* read(name: string, file: JsonFile, prefix = ""): AsyncGenerator<ImportedSession> {
    let count = 0;
    let found = 0;
    for await (const item of file.kind === "list" ? file.items : [file.value]) {
      count += 1;
      const where = `${prefix}conversation ${count} (${titleOf(item)})`;
      if (!format.isConversation(item)) {
        if (found === 0 && count === MAX_STRANGERS) break;
        reports.push(`${where}: not a conversation; skipped`);
        continue;
      }
      found += 1;
      const session = readOne(item, where);
      if (session !== null) yield session;
    }
    if (count === 0) reports.push(`${prefix}no conversation in it`);
    else if (found === 0) throw unableToImport(name, `it holds no ${format.name} conversation`);
  }

  return { read };
};

const titleOf = (conversation: unknown): string => {
  const title = textOf(fieldsOf(conversation).title);
  return title === null ? "untitled" : `"${title.toWellFormed()}"`;
};

const DIGEST_LENGTH = 32;

const digestOf = (conversation: Fields): string =>
  createHash("sha256").update(jsonText(conversation)).digest("hex").slice(0, DIGEST_LENGTH);

/** The first of `id-2`, `id-3`, … that is free, so that a second import gives it again; null where none fits. */
const numberedId = (id: string, isTaken: (id: string) => boolean): string | null => {
  for (let count = 2; ; count++) {
    const numbered = `${id}-${count}`;
    if (!isId(numbered)) return null;
    if (!isTaken(numbered)) return numbered;
  }
};
