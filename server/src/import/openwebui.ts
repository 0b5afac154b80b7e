/**
 * Imports chats of Open WebUI: an export with a list of them, one of its items, or a bare chat. The
 * messages are in `history.messages`, by their ids; the list `messages` beside it repeats the line that
 * was shown last.
 */
import { type Json, jsonEqual, type SessionId } from "@espalier/shared";
import { listersOf, ranksOf } from "./children.js";
import { type ConversationFormat, importConversations } from "./conversations.js";
import {
  earliestOf,
  type Fields,
  fieldsOf,
  isFields,
  listOf,
  listsAmong,
  pointerOf,
  readTime,
  restOf,
  restOfAny,
  textOf,
} from "./fields.js";
import type { ForeignEntry, ImportedSession, Importing, ImportOptions, Report, Source } from "./foreign.js";
import { type Forest, growForest } from "./forest.js";
import { type OpenWebUiMessage, placeOf, readOpenWebUiMessage } from "./openwebui-message.js";
import { toSession } from "./records.js";
import { repair } from "./repair.js";

/** Asking for the sessions throws `invalid` where the file is no export of Open WebUI, or is damaged. */
export const importOpenWebUi = (source: Source, options: ImportOptions): Importing =>
  importConversations("open-webui", FORMAT, source, options);

const chatOf = (item: Fields): Fields => (isFields(item.chat) ? item.chat : item);

const isChat = (value: unknown): value is Fields => {
  if (!isFields(value)) return false;
  const chat = chatOf(value);
  return isFields(fieldsOf(chat.history).messages) || (isFields(value.chat) && Array.isArray(chat.messages));
};

const sourceIdOf = (item: Fields): string | null => textOf(item.id) || textOf(chatOf(item).id) || null;

const readChat = (item: Fields, id: SessionId, options: ImportOptions): ImportedSession | string => {
  const chat = chatOf(item);
  const reports: string[] = [];
  const report: Report = (line) => reports.push(line);
  const messages = withRoles(withOwnParents(messagesOf(chat, report), report), report);
  if (messages.length === 0) return "no messages; skipped";
  // For what it reports; the order of alternatives is by time.
  ranksOf(messages, "childrenIds disagree with parentId; parentId is trusted", report);
  const entries = repair(
    messages.map((message) => toEntry(message, report)),
    "conversation",
    report,
  );
  const createdAt =
    readTime(item.created_at, "chat", report) ??
    readTime(chat.timestamp, "chat", report) ??
    earliestOf(entries) ??
    options.now();
  const forest = growForest(entries, { order: "time", createdAt });
  const head = {
    id,
    sourceId: sourceIdOf(item),
    title: titleOf(item, chat),
    createdAt,
    changedAt: readTime(item.updated_at, "chat", report),
    source: sourceOf(item, chat),
    activeLeaf: activeLeafOf(fieldsOf(chat.history).currentId, forest, report),
  };
  return toSession(head, forest, reports, options);
};

const FORMAT: ConversationFormat = {
  name: "Open WebUI",
  isConversation: isChat,
  sourceIdOf,
  read: readChat,
};

/** Those of the history; the list beside it is read for what the history lacks. */
const messagesOf = (chat: Fields, report: Report): OpenWebUiMessage[] => {
  const byId = fieldsOf(fieldsOf(chat.history).messages);
  const messages = Object.entries(byId).map(([id, body]) => placeOf(id, body));
  const isCopy = (id: string | null, body: Json): boolean =>
    id === null ? Object.values(byId).some((other) => jsonEqual(body, other)) : Object.hasOwn(byId, id);
  let above: string | null = null;
  for (const [index, body] of listOf(chat.messages).entries()) {
    const ownId = textOf(fieldsOf(body).id);
    const id = ownId ?? `#${index + 1}`;
    if (!isCopy(ownId, body)) {
      report(`message ${id}: only in the list of messages; taken from there`);
      const message = placeOf(id, body);
      messages.push(message.hasParent ? message : { ...message, parentId: above, hasParent: true });
      above = id;
    } else above = ownId ?? above;
  }
  return messages;
};

/** One without a pointer hangs from the message that names it as its child. */
const withOwnParents = (messages: readonly OpenWebUiMessage[], report: Report): OpenWebUiMessage[] => {
  const listers = listersOf(messages);
  return messages.map((message) => {
    if (message.hasParent) return message;
    const lister = listers.get(message.sourceId);
    if (message.role !== null) return { ...message, parentId: lister?.sourceId ?? null };
    if (lister === undefined) {
      report(`${message.where}: ${UNNAMED}, and no message names it; kept as a custom entry, becomes a root`);
      return message;
    }
    report(`${message.where}: ${UNNAMED}; put below ${lister.sourceId}, which names it as its child`);
    return { ...message, parentId: lister.sourceId };
  });
};

const UNNAMED = "no id, role or parent of its own";

/** One without a role takes its turn: a reply below a prompt, a prompt below anything else. */
const withRoles = (messages: readonly OpenWebUiMessage[], report: Report): OpenWebUiMessage[] => {
  const rolesById = new Map(messages.map(({ sourceId, role }) => [sourceId, role]));
  return messages.map((message) => {
    const { role, parentId, where, hasParent, body } = message;
    if (role !== null) {
      if (!KNOWN_ROLES.includes(role))
        report(`${where}: unknown record type "${role}"; kept as a custom entry`);
      return message;
    }
    if (!isFields(body)) report(`${where}: unknown record type "${typeof body}"; kept as a custom entry`);
    if (!isFields(body) || parentId === null || !rolesById.has(parentId)) return message;
    const turn = rolesById.get(parentId) === "user" ? "assistant" : "user";
    if (hasParent) report(`${where}: no role of its own; taken as ${turn}`);
    rolesById.set(message.sourceId, turn);
    return { ...message, role: turn };
  });
};

const KNOWN_ROLES = ["system", "user", "assistant", "tool"];

const toEntry = (message: OpenWebUiMessage, report: Report): ForeignEntry => {
  const { sourceId, parentId, where, body } = message;
  const said = readOpenWebUiMessage(message, report);
  return {
    sourceId,
    parentId,
    where,
    body,
    time: readTime(fieldsOf(body).timestamp, where, report),
    kind: said,
    content: () => said,
  };
};

const sourceOf = (item: Fields, chat: Fields): Json => {
  const id = sourceIdOf(item);
  const title = titleOf(item, chat);
  const told = (fields: Fields): string[] => [
    ...(fields.id === id ? ["id"] : []),
    ...(fields.title === title ? ["title"] : []),
    ...["timestamp", "created_at"].filter((key) => typeof fields[key] === "number"),
  ];
  const ofChat = restOf(chat, ...told(chat), ...listsAmong(chat, "messages"), "history");
  const isRead = isFields(fieldsOf(chat.history).messages);
  const history = restOfAny(chat.history, "currentId", ...(isRead ? ["messages"] : []));
  return {
    format: "open-webui",
    ...restOf({ id }),
    ...restOf({
      fields: item === chat ? {} : restOf(item, ...told(item), "chat"),
      chat: { ...ofChat, ...restOf({ history }) },
    }),
  };
};

const titleOf = (item: Fields, chat: Fields): string | null => textOf(item.title) ?? textOf(chat.title);

const activeLeafOf = (current: Json | undefined, forest: Forest, report: Report) => {
  const id = pointerOf(current);
  if (id === null) return null;
  const leaf = forest.at(id);
  if (leaf === null) report(`currentId ${id} is not in the chat; the newest line is shown`);
  return leaf;
};
