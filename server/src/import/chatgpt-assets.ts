/** The items of ChatGPT's `parts`: strings, and assets that lie beside the export and stay there. */
import type { Json, Part } from "@espalier/shared";
import { type Fields, isFields, restOf, textOf } from "./fields.js";

type Item = { readonly part: Part; readonly leftover: Fields };

/** The items as parts, empty ones left out, and what the parts do not hold of each (sizes, say). */
export const readItems = (
  items: readonly Json[],
  attachments: readonly Json[],
): { parts: Part[]; leftovers: Fields[] } => {
  const read = items
    .filter((item) => item !== null && item !== "")
    .map((item) => readItem(item, attachments) ?? dataOf(item));
  const leftovers = read
    .map(({ leftover }) => leftover)
    .filter((leftover) => Object.keys(leftover).length > 0);
  return { parts: read.map(({ part }) => part), leftovers };
};

const dataOf = (item: Json): Item => {
  const name = (isFields(item) ? textOf(item.content_type) : null) ?? typeof item;
  return { part: { type: "data", name, data: item }, leftover: {} };
};

/** Null for a type that is not known. */
const readItem = (item: Json, attachments: readonly Json[]): Item | null => {
  if (typeof item === "string") return { part: { type: "text", text: item }, leftover: {} };
  if (!isFields(item)) return null;
  switch (item.content_type) {
    case "image_asset_pointer":
      return fileOf(item, "image/*", attachments);
    case "audio_asset_pointer":
      return fileOf(item, "audio/*", attachments);
    case "audio_transcription": {
      const text = textOf(item.text);
      return text === null
        ? null
        : { part: { type: "text", text }, leftover: restOf(item, "content_type", "text") };
    }
    default:
      return null;
  }
};

const fileOf = (item: Fields, anyType: string, attachments: readonly Json[]): Item | null => {
  const url = textOf(item.asset_pointer);
  if (url === null) return null;
  const attachment = attachments.filter(isFields).find(({ id }) => isPointerTo(url, id));
  const mediaType = textOf(attachment?.mime_type) ?? anyType;
  const name = textOf(attachment?.name);
  const part: Part = { type: "file", mediaType, url };
  if (name !== null) part.name = name;
  return { part, leftover: restOf(item, "content_type", "asset_pointer") };
};

/** `file-service://file-x` and `sediment://file_x` point at the attachments `file-x` and `file_x`. */
const isPointerTo = (pointer: string, id: Json | undefined): boolean =>
  typeof id === "string" && id !== "" && pointer.endsWith(`/${id}`);
