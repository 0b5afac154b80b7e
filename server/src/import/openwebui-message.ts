/**
 * One message of an Open WebUI chat as a foreign entry. What no field of ours holds is kept as it is in
 * `meta.source`; the model is `meta.model`.
 */
import type { Json, Part, Role } from "@espalier/shared";
import type { Listing } from "./children.js";
import {
  type Fields,
  fieldsOf,
  idsOf,
  isEmpty,
  isFields,
  listOf,
  listsAmong,
  pointerOf,
  restOf,
  restOfAny,
  scalarsAmong,
  textOf,
  textsAmong,
} from "./fields.js";
import type { ForeignContent, Report } from "./foreign.js";
import { usageOf } from "./openwebui-usage.js";

/** A message as it stands in `history.messages`, with its pointers made text. */
export type OpenWebUiMessage = Listing & {
  readonly body: Json;
  /** Null where it has none of its own. */
  readonly role: string | null;
  readonly hasParent: boolean;
};

export const placeOf = (id: string, body: Json): OpenWebUiMessage => {
  const { parentId, childrenIds, role } = fieldsOf(body);
  return {
    sourceId: id,
    where: `message ${id}`,
    body,
    parentId: pointerOf(parentId),
    hasParent: parentId !== undefined,
    children: Array.isArray(childrenIds) ? idsOf(childrenIds) : null,
    role: textOf(role),
  };
};

const ROLES: readonly string[] = ["system", "user", "assistant", "tool"] satisfies Role[];
const isRole = (value: string | null): value is Role => value !== null && ROLES.includes(value);

export const readOpenWebUiMessage = (
  { sourceId, where, body, role }: OpenWebUiMessage,
  report: Report,
): ForeignContent => {
  if (!isFields(body) || !isRole(role)) return { type: "custom", name: CUSTOM, data: body };
  const parts = [...textParts(body.content), ...listOf(body.files).map(filePart)];
  for (const part of parts)
    if (part.type === "data") report(`${where}: unknown content type "${part.name}"; kept as data`);
  const counts = fieldsOf(body.usage ?? body.info);
  const usage = usageOf(counts);
  const meta = metaOf(sourceId, body, usage === undefined);
  const said: ForeignContent = { type: "message", role, parts, status: statusOf(body, role, parts) };
  if (usage !== undefined) said.usage = usage;
  if (!isEmpty(meta)) said.meta = meta;
  return said;
};

const CUSTOM = "open-webui/message";

const textParts = (content: Json | undefined): Part[] => {
  if (content === undefined || content === null || content === "") return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(itemPart) : [dataPart(content)];
};

const itemPart = (item: Json): Part => {
  if (typeof item === "string") return { type: "text", text: item };
  const { type, text, image_url } = fieldsOf(item);
  if (type === "text" && typeof text === "string" && hasOnlyTexts(item, "type", "text"))
    return { type, text };
  const url = textOf(fieldsOf(image_url).url);
  if (
    type !== "image_url" ||
    url === null ||
    !hasOnlyTexts(image_url, "url") ||
    !hasOnly(item, "type", "image_url")
  )
    return dataPart(item);
  return { type: "file", mediaType: mediaTypeOf(url) ?? "image/*", url };
};

const hasOnlyTexts = (item: Json | undefined, ...keys: readonly string[]): boolean =>
  Object.entries(fieldsOf(item)).every(([key, value]) => keys.includes(key) && typeof value === "string");

const hasOnly = (item: Json, ...keys: readonly string[]): boolean =>
  Object.keys(fieldsOf(item)).every((key) => keys.includes(key));

/** A file that says more than where it is would lose that as a file part. */
const filePart = (file: Json): Part => {
  const fields = fieldsOf(file);
  const url = textOf(fields.url);
  if (url === null || url === "" || !hasOnlyTexts(file, "type", "url", "name", "content_type"))
    return dataPart(file);
  const anyType = fields.type === "image" ? "image/*" : "application/octet-stream";
  const mediaType = textOf(fields.content_type) ?? mediaTypeOf(url) ?? anyType;
  const name = textOf(fields.name);
  return name === null ? { type: "file", mediaType, url } : { type: "file", mediaType, url, name };
};

const mediaTypeOf = (url: string): string | null => /^data:([^;,]+)/.exec(url)?.[1] ?? null;

const dataPart = (data: Json): Part => ({
  type: "data",
  name: textOf(fieldsOf(data).type) ?? typeof data,
  data,
});

/** Stopped, or nothing was said, is no damage: it is a state. */
const statusOf = (message: Fields, role: Role, parts: readonly Part[]): "complete" | "aborted" | "failed" => {
  if (!isEmpty(message.error) && message.error !== false) return "failed";
  if (role !== "assistant") return "complete";
  return message.done === false || parts.length === 0 ? "aborted" : "complete";
};

/** What nearly every message says, so that its absence is not missed. */
const DEFAULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["done", true],
  ["modelIdx", 0],
]);

const metaOf = (id: string, message: Fields, keepsCounts: boolean): Fields => {
  const usual = [...DEFAULTS].filter(([key, value]) => message[key] === value).map(([key]) => key);
  if (message.modelName === message.model) usual.push("modelName");
  if (message.id === id) usual.push("id");
  usual.push(
    ...textsAmong(message, "role"),
    ...scalarsAmong(message, "timestamp"),
    ...listsAmong(message, "childrenIds", "files"),
  );
  const source = {
    ...restOf(message, "parentId", "content", "model", "usage", ...usual),
    usage: keepsCounts ? (message.usage ?? null) : restOfAny(message.usage, ...countsAmong(message.usage)),
  };
  return restOf({ model: message.model ?? null, source: restOf(source) });
};

const countsAmong = (usage: Json | undefined): string[] =>
  COUNTS.filter((key) => typeof fieldsOf(usage)[key] === "number");

/** Those that are in `usage`, and their sum. */
const COUNTS = ["prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "total_tokens"];
