/**
 * The public face of `@espalier/server/formats`: what people have elsewhere, read into logs, and logs written
 * out for elsewhere. Pure: where bytes come from and go to is the caller's.
 *
 * @example
 * const format = await detectFormat(source.file);
 * for await (const session of IMPORTERS[format ?? "chatgpt"](source, { newId, now: Date.now }).sessions)
 *   await store.install(session.id, { createdAt: session.createdAt }, session.records());
 *
 * @example
 * const outcome = await store.load(id);
 * if (outcome.type === "ok")
 *   for await (const piece of exportMarkdown(foldConversation({ id, ...outcome.log }))) file.write(piece);
 */
export { exportChatGpt } from "./export/chatgpt.js";
export { type Conversation, foldConversation } from "./export/conversation.js";
export { exportEspalier } from "./export/espalier.js";
export { exportHtml } from "./export/html.js";
export { exportMarkdown } from "./export/markdown.js";
export { detectFormat, type FormatName, IMPORTERS } from "./import/detect.js";
export type {
  ImportedSession,
  Importing,
  ImportOptions,
  ImportSummary,
  Source,
  SourceFile,
} from "./import/foreign.js";
