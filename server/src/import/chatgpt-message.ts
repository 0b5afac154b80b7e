/**
 * One node of a ChatGPT `mapping` as a foreign entry. What no field of ours holds is kept as it is in
 * `meta.source`, without what is null, empty or the default of every message; the model is `meta.model`.
 */
import type { Json, Part, Role } from "@espalier/shared";
import { type ChatGptContent, readContent } from "./chatgpt-content.js";
import {
  type Fields,
  fieldsOf,
  idsOf,
  isEmpty,
  isFields,
  listOf,
  listsAmong,
  pointerOf,
  readTime,
  restOf,
  restOfAny,
  scalarsAmong,
  textOf,
} from "./fields.js";
import type { ForeignContent, ForeignEntry, Report } from "./foreign.js";

/** What a node calls, or whom it answers; the two are matched along the lines of the tree. */
type ToolLink = { readonly calls: string } | { readonly answers: string | null };

export type ChatGptNode = Omit<ForeignEntry, "rank" | "kind" | "content"> & {
  readonly children: readonly string[] | null;
  readonly said: ForeignContent | null;
  readonly link?: ToolLink;
};

export const readNode = (id: string, value: unknown, report: Report): ChatGptNode => {
  const where = `message ${id}`;
  const node = fieldsOf(value);
  const message = node.message;
  const placed = {
    sourceId: id,
    parentId: pointerOf(node.parent),
    where,
    body: value,
    time: readTime(fieldsOf(message).create_time, where, report),
    children: Array.isArray(node.children) ? idsOf(node.children) : null,
  };
  if (!isFields(value) && value !== null) return { ...placed, said: customOf(value as Json, where, report) };
  if (message === undefined || message === null) return { ...placed, said: null };
  const role = isFields(message) ? textOf(fieldsOf(message.author).role) : null;
  if (!isFields(message) || !isRole(role)) {
    const data = isEmpty(restOfNode(id, node)) ? message : (value as Json);
    return { ...placed, said: customOf(data, where, report, role) };
  }
  return { ...placed, ...readMessage({ id, node, message, role }, where, report) };
};

/** What a node says beside its message and its place. */
export const restOfNode = (id: string, node: Fields): Fields =>
  restOf(node, "message", "parent", ...listsAmong(node, "children"), ...(node.id === id ? ["id"] : []));

const ROLES: readonly string[] = ["system", "user", "assistant", "tool"] satisfies Role[];
const isRole = (value: string | null): value is Role => value !== null && ROLES.includes(value);

const customOf = (value: Json, where: string, report: Report, role: string | null = null): ForeignContent => {
  report(`${where}: unknown record type "${role ?? typeof value}"; kept as a custom entry`);
  return { type: "custom", name: "chatgpt/message", data: value };
};

type Message = { readonly id: string; readonly node: Fields; readonly message: Fields; readonly role: Role };

const readMessage = (source: Message, where: string, report: Report): Pick<ChatGptNode, "said" | "link"> => {
  const { message, role } = source;
  const metadata = fieldsOf(message.metadata);
  const content = readContent(message.content, listOf(metadata.attachments));
  for (const part of content.parts) {
    if (part.type === "data") report(`${where}: unknown content type "${part.name}"; kept as data`);
  }
  const link = linkOf(source);
  const parts = link === undefined ? [...content.parts] : linkedParts(source.id, link, content);
  const audience = audienceOf(content, metadata);
  const meta = metaOf(source, content);
  const said: ForeignContent = {
    type: "message",
    role,
    parts,
    status: statusOf(source, parts, content.isError),
  };
  if (audience !== "both") said.audience = audience;
  if (!isEmpty(meta)) said.meta = meta;
  return link === undefined ? { said } : { said, link };
};

const linkOf = ({ message, role }: Message): ToolLink | undefined => {
  if (role === "tool") return { answers: textOf(fieldsOf(message.author).name) };
  const recipient = textOf(message.recipient) ?? "all";
  return role === "assistant" && recipient !== "all" ? { calls: recipient } : undefined;
};

/** The text is the call's input or the result's output; what is no text stands beside it. */
const linkedParts = (id: string, link: ToolLink, { parts, isError }: ChatGptContent): Part[] => {
  const text = parts.map((part) => ("text" in part ? part.text : "")).join("");
  const others = parts.filter((part) => !("text" in part));
  if ("calls" in link) {
    return [{ type: "tool-call", callId: id, name: link.calls, input: text, state: "ready" }, ...others];
  }
  const output = text === "" && others.length > 0 ? null : text;
  const result: Part = { type: "tool-result", callId: link.answers ?? "tool", output };
  return [isError ? { ...result, isError } : result, ...others];
};

const audienceOf = ({ isThinking }: ChatGptContent, metadata: Fields): "both" | "model" | "reader" => {
  if (isThinking) return "reader";
  return metadata.is_visually_hidden_from_conversation === true ? "model" : "both";
};

/** Stopped, or nothing was said, is no damage: it is a state. */
const statusOf = (
  { message, role }: Message,
  parts: readonly Part[],
  isError: boolean,
): "complete" | "aborted" | "failed" => {
  if (isError) return "failed";
  const { finish_details } = fieldsOf(message.metadata);
  const isStopped = message.status === "in_progress" || fieldsOf(finish_details).type === "interrupted";
  return isStopped || (role === "assistant" && parts.length === 0) ? "aborted" : "complete";
};

/** What nearly every message says, so that its absence is not missed. */
const DEFAULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["status", "finished_successfully"],
  ["recipient", "all"],
  ["weight", 1],
]);

const metaOf = ({ id, node, message }: Message, { rest }: ChatGptContent): Fields => {
  const metadata = fieldsOf(message.metadata);
  const usual = [...DEFAULTS].filter(([key, value]) => message[key] === value).map(([key]) => key);
  const ownId = message.id === id ? ["id"] : [];
  const source = {
    ...restOf(
      message,
      ...scalarsAmong(message, "create_time"),
      "author",
      "content",
      "metadata",
      ...usual,
      ...ownId,
    ),
    author: restOfAny(message.author, "role"),
    metadata: restOfAny(message.metadata, "model_slug"),
    content: rest,
    node: restOfNode(id, node),
  };
  return restOf({ model: metadata.model_slug ?? null, source: restOf(source) });
};
