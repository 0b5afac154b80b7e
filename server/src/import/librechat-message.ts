/**
 * One LibreChat message as a foreign entry. What no field of ours holds is kept as it is in `meta.source`;
 * the model is `meta.model`.
 */
import { isId, type Json, type Part } from "@espalier/shared";
import { type Fields, isEmpty, listOf, listsAmong, readTime, restOf, scalarsAmong } from "./fields.js";
import type { ForeignContent, ForeignEntry, Report } from "./foreign.js";
import { readLibreChatContent } from "./librechat-content.js";

/** A message and the place that it has in its file. */
export type Placed = {
  readonly sourceId: string;
  readonly where: string;
  readonly body: Fields;
  /** As the place in a tree, or else the message's own pointer, tells it. */
  readonly parentId: string | null;
};

export const toLibreChatEntry = (
  { sourceId, where, body, parentId }: Placed,
  report: Report,
): ForeignEntry => {
  const said = readMessage(sourceId, where, body, report);
  return {
    sourceId,
    parentId,
    where,
    body,
    time: readTime(body.createdAt, where, report),
    kind: said,
    content: () => said,
  };
};

export const isUsers = (message: Fields): boolean =>
  typeof message.isCreatedByUser === "boolean" ? message.isCreatedByUser : message.sender === "User";

const readMessage = (id: string, where: string, message: Fields, report: Report): ForeignContent => {
  const { parts, rest, isError } = readLibreChatContent(message);
  for (const part of parts)
    if (part.type === "data") report(`${where}: unknown content type "${part.name}"; kept as data`);
  const role = isUsers(message) ? "user" : "assistant";
  const status = statusOf(message, role, parts, isError);
  const said: ForeignContent = { type: "message", role, parts: [...parts], status };
  const meta = metaOf(id, message, parts, rest);
  if (!isEmpty(meta)) said.meta = meta;
  return said;
};

/** Stopped, or nothing was said, is no damage: it is a state. */
const statusOf = (
  { error, unfinished }: Fields,
  role: "user" | "assistant",
  parts: readonly Part[],
  isError: boolean,
): "complete" | "aborted" | "failed" => {
  if (error === true || isError) return "failed";
  return unfinished === true || (role === "assistant" && parts.length === 0) ? "aborted" : "complete";
};

const metaOf = (id: string, message: Fields, parts: readonly Part[], rest: readonly Fields[]): Fields => {
  const used = [
    "parentMessageId",
    "model",
    ...scalarsAmong(message, "createdAt"),
    ...(isId(message.conversationId) ? ["conversationId"] : []),
  ];
  used.push(...listsAmong(message, "children"));
  if (message.messageId === id) used.push("messageId");
  if (typeof message.isCreatedByUser === "boolean") used.push("isCreatedByUser");
  if (message.error === false) used.push("error");
  if (message.unfinished === false) used.push("unfinished");
  if (message.updatedAt === message.createdAt) used.push("updatedAt");
  const hasContent = listOf(message.content).length > 0;
  // `content` wins over `text`; a text that says something else is not lost.
  if (!hasContent || isRepeated(message.text, parts)) used.push("text");
  if (hasContent) used.push("content");
  const source = { ...restOf(message, ...used), ...restOf({ items: rest }) };
  return restOf({ model: message.model ?? null, source });
};

const isRepeated = (text: Json | undefined, parts: readonly Part[]): boolean =>
  parts.some((part) => part.type === "text" && part.text === text);
