/**
 * Which format a file has, told by its beginning, or, where that says nothing, by its name. Each format
 * is one row: adding one is adding its importer here.
 */
import { importChatGpt } from "./chatgpt.js";
import { detectClaudeCode, importClaudeCode } from "./claude-code.js";
import { detectEspalier, importEspalier } from "./espalier.js";
import type { Importing, ImportOptions, Source, SourceFile } from "./foreign.js";
import { firstKeys } from "./json-keys.js";
import { importLibreChat } from "./librechat.js";
import { importOpenWebUi } from "./openwebui.js";
import { detectPi, importPi } from "./pi.js";
import { wellFormed } from "./utf8.js";

export type FormatName = "chatgpt" | "claude-code" | "pi" | "librechat" | "openwebui" | "espalier";
export type Import = (source: Source, options: ImportOptions) => Importing;

export const IMPORTERS: Readonly<Record<FormatName, Import>> = {
  chatgpt: importChatGpt,
  "claude-code": importClaudeCode,
  pi: importPi,
  librechat: importLibreChat,
  openwebui: importOpenWebUi,
  espalier: importEspalier,
};

/** Null where the beginning is of no format that is known. */
export const detectFormat = async (file: SourceFile): Promise<FormatName | null> => {
  const start = await startOf(file);
  return formatOfLines(start) ?? formatOfKeys(firstKeys(start)) ?? formatOfName(file.name);
};

/** Formats say in their first fields what they are; a long first message may stand before some. */
const START_BYTES = 256 * 1024;

const startOf = async (file: SourceFile): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of wellFormed(file.read(0, START_BYTES), () => {})) pieces.push(piece);
  return Buffer.concat(pieces);
};

const OPENING_BRACKET = 0x5b;

const formatOfLines = (start: Uint8Array): FormatName | null => {
  // A list is no line of a log, whatever stands in it.
  if (start[0] === OPENING_BRACKET) return null;
  if (detectEspalier(start)) return "espalier";
  if (detectPi(start)) return "pi";
  return detectClaudeCode(start) ? "claude-code" : null;
};

/** By a field that no other format has. */
const FORMATS_BY_KEY: readonly (readonly [FormatName, readonly string[]])[] = [
  ["chatgpt", ["mapping", "current_node", "conversation_id", "logical_files"]],
  ["librechat", ["messagesTree", "conversationId", "exportAt"]],
  ["openwebui", ["chat", "history"]],
  ["claude-code", ["parentUuid", "isSidechain", "sessionId"]],
];

const formatOfKeys = (keys: ReadonlySet<string>): FormatName | null =>
  FORMATS_BY_KEY.find(([, fields]) => fields.some((field) => keys.has(field)))?.[0] ?? null;

const formatOfName = (name: string): FormatName | null =>
  /(?:^|\/)(?:conversations(?:-\d+)?|export_manifest)\.json$/i.test(name) ? "chatgpt" : null;
