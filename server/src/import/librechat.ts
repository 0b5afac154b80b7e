/**
 * Imports a conversation that LibreChat exported as JSON: a flat list with pointers, or a tree of
 * messages with their children inside. In a tree the place is the pointer.
 */
import type { Json, SessionId } from "@espalier/shared";
import { type ConversationFormat, importConversations } from "./conversations.js";
import {
  earliestOf,
  type Fields,
  isFields,
  listOf,
  listsAmong,
  restOf,
  textOf,
  textsAmong,
} from "./fields.js";
import type { ImportedSession, Importing, ImportOptions, Report, Source } from "./foreign.js";
import { growForest } from "./forest.js";
import { toLibreChatEntry } from "./librechat-message.js";
import { isTree, placesInList, placesInTree } from "./librechat-places.js";
import { toSession } from "./records.js";
import { repair } from "./repair.js";

/** Asking for the sessions throws `invalid` where the file is no export of LibreChat, or is damaged. */
export const importLibreChat = (source: Source, options: ImportOptions): Importing =>
  importConversations("librechat", FORMAT, source, options);

const isConversation = (value: unknown): value is Fields =>
  isFields(value) &&
  (Array.isArray(value.messagesTree) ||
    (Array.isArray(value.messages) && ("conversationId" in value || value.messages.some(hasMessageId))));

const hasMessageId = (message: Json): boolean => isFields(message) && "messageId" in message;

const sourceIdOf = (conversation: Fields): string | null => textOf(conversation.conversationId);

const readConversation = (
  conversation: Fields,
  id: SessionId,
  options: ImportOptions,
): ImportedSession | string => {
  const reports: string[] = [];
  const report: Report = (line) => reports.push(line);
  const messages = messagesOf(conversation);
  const isNested = isTree(conversation);
  const { places, outside } = isNested ? placesInTree(messages, report) : placesInList(messages, report);
  if (places.length === 0) return "no messages; skipped";
  const lost: Fields[] = [];
  const entries = repair(
    places.map((place) => toLibreChatEntry(place, report)),
    "conversation",
    report,
    ({ body }) => lost.push(restOf(body as Fields, "children")),
  );
  const createdAt = earliestOf(entries) ?? options.now();
  const head = {
    id,
    sourceId: sourceIdOf(conversation),
    title: textOf(conversation.title),
    createdAt,
    changedAt: null,
    source: sourceOf(conversation, [...outside, ...lost]),
    // No field names it: the newest message is what LibreChat shows.
    activeLeaf: null,
  };
  return toSession(
    head,
    growForest(entries, { order: isNested ? "file" : "time", createdAt }),
    reports,
    options,
  );
};

const messagesOf = ({ messagesTree, messages }: Fields): readonly Json[] =>
  Array.isArray(messagesTree) ? messagesTree : listOf(messages);

const FORMAT: ConversationFormat = {
  name: "LibreChat",
  isConversation,
  sourceIdOf,
  read: readConversation,
};

const sourceOf = (conversation: Fields, outside: readonly Json[]): Json => {
  const lists = listsAmong(conversation, "messagesTree", "messages").slice(0, 1);
  const used = [...textsAmong(conversation, "conversationId", "title"), ...lists];
  return {
    format: "librechat",
    ...restOf({ id: sourceIdOf(conversation) }),
    ...restOf({ fields: restOf(conversation, ...used), outside }),
  };
};
