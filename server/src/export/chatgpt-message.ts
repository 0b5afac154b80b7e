/**
 * One entry as a message of ChatGPT's shape. A call of a tool that stands alone is a message to the tool, and
 * its result one of the tool; thoughts that stand alone are `thoughts`. Parts beside others are items of
 * `multimodal_text`, and entries that are no messages are hidden ones of the system, so that the tree stays whole.
 */
import type { Entry, Json, MessageEntry, Part } from "@espalier/shared";
import { isoOf, jsonText } from "./wording.js";

/** @param calls the names of tools by the ids of their calls, which it adds to. */
export const messageOf = (entry: Entry, calls: Map<string, string>): object => {
  const said = entry.type === "message" ? saidBy(entry, calls) : hiddenOf(entry);
  const { role, name, recipient = "all", content } = said;
  return {
    id: entry.id,
    author: name === undefined ? { role } : { role, name },
    create_time: isoOf(entry.time) === null ? null : entry.time / 1000,
    content,
    status: STATUSES[entry.status] ?? "finished_successfully",
    recipient,
    metadata: metadataOf(entry, said),
  };
};

type Fields = { readonly [key: string]: Json };

type Said = {
  readonly role: string;
  /** The tool that speaks. */
  readonly name?: string;
  readonly recipient?: string;
  readonly content: Json;
  /** What the message has no place for. */
  readonly beside?: Fields;
};

const STATUSES: Readonly<Record<string, string>> = {
  streaming: "in_progress",
  aborted: "in_progress",
  failed: "finished_with_error",
};

const saidBy = ({ role, parts }: MessageEntry, calls: Map<string, string>): Said => {
  for (const part of parts) if (part.type === "tool-call") calls.set(part.callId, part.name);
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) {
    const alone = saidAlone(role, first, calls);
    if (alone !== null) return alone;
  }
  if (parts.every(isThinking) && role === "assistant" && parts.length > 0)
    return { role, content: { content_type: "thoughts", thoughts: parts.map(thoughtOf) } };
  if (parts.every(({ type }) => type === "text"))
    return {
      role,
      content: { content_type: "text", parts: parts.map((part) => ("text" in part ? part.text : "")) },
    };
  return { role, content: { content_type: "multimodal_text", parts: parts.map(itemOf) } };
};

const saidAlone = (role: string, part: Part, calls: ReadonlyMap<string, string>): Said | null => {
  if (part.type === "tool-call" && role === "assistant") {
    const { name, input, ...beside } = part;
    return {
      role,
      recipient: name,
      content: { content_type: "code", text: input },
      beside: beside as Fields,
    };
  }
  if (part.type === "tool-result" && role === "tool") {
    const { callId, output } = part;
    const content = { content_type: "text", parts: [jsonText(output)] };
    return { role, name: calls.get(callId) ?? callId, content, beside: { callId } };
  }
  return null;
};

const isThinking = (part: Part): part is Extract<Part, { type: "thinking" }> => part.type === "thinking";

const thoughtOf = (part: Part): Json => ({ summary: "", content: isThinking(part) ? part.text : "" });

const itemOf = (part: Part): Json => {
  switch (part.type) {
    case "text":
      return part.text;
    case "file": {
      const { url, mediaType } = part;
      const kind = mediaType.startsWith("audio/") ? "audio" : "image";
      return { content_type: `${kind}_asset_pointer`, asset_pointer: url, metadata: part as Json };
    }
    default:
      return { ...(part as Fields), content_type: part.type };
  }
};

/** A line of text for whoever reads it, and all of it beside. */
const hiddenOf = (entry: Entry): Said => ({
  role: "system",
  content: { content_type: "text", parts: [hiddenText(entry)] },
  beside: contentOf(entry),
});

const hiddenText = (entry: Entry): string => {
  switch (entry.type) {
    case "compaction":
    case "branch-summary":
      return entry.summary;
    case "model-change":
      return `${entry.provider} ${entry.modelId}`;
    case "option-change":
      return `${entry.option} = ${jsonText(entry.value)}`;
    case "custom":
      return entry.name;
    default:
      return "";
  }
};

const PLACED: ReadonlySet<string> = new Set(
  "kind id parentId seq rev time author writer status size runId usage meta".split(" "),
);

const contentOf = (entry: Entry): Fields =>
  Object.fromEntries(Object.entries(entry).filter(([key]) => !PLACED.has(key))) as Fields;

const metadataOf = (entry: Entry, { beside = {} }: Said): object => {
  const model = entry.usage?.model ?? modelOf(entry.meta);
  const isHidden = entry.type === "message" ? entry.audience === "model" : entry.type !== "erased";
  return {
    ...(typeof model === "string" ? { model_slug: model } : {}),
    ...(isHidden ? { is_visually_hidden_from_conversation: true } : {}),
    ...(entry.status === "aborted" ? { finish_details: { type: "interrupted" } } : {}),
    ...(Object.keys(beside).length === 0 ? {} : { espalier: beside }),
  };
};

/** Where an import of such a file has put it. */
const modelOf = (meta: Json | undefined): Json | undefined =>
  typeof meta === "object" && meta !== null && "model" in meta ? (meta.model as Json) : undefined;
