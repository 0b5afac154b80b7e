/**
 * One message as the model reads it, made from one entry. A pure function of that entry: nothing around it
 * changes what it says.
 */
import type { EntryId } from "./ids.js";
import type { Entry, Part, Role } from "./record.js";
import { isForModel } from "./transcript.js";

export type ContextMessage = {
  readonly role: Role;
  /** At least one. Parts of an unknown type are passed on as they are (L5). */
  readonly parts: readonly Part[];
  /** The entry that it was made from; for a result that was put in for a lost one, the entry of the call. */
  readonly entryId: EntryId;
};

/** Takes the place of a message for one request, or leaves it out with null (C10). */
export type EditMessage = (message: ContextMessage) => ContextMessage | null;

/**
 * The message of an entry, or null where the model reads nothing of it. Summaries go bare, as a user's text
 * (C2, C8); a custom entry as a user's data part. A reply that is not complete (streaming, aborted, failed)
 * says what it holds.
 */
export const messageOf = (entry: Entry): ContextMessage | null => {
  switch (entry.type) {
    case "message":
      return isForModel(entry) ? made(entry.role, entry.parts, entry.id) : null;
    case "compaction":
    case "branch-summary":
      return made("user", onePart({ type: "text", text: entry.summary }), entry.id);
    case "custom":
      return isForModel(entry)
        ? made("user", onePart({ type: "data", name: entry.name, data: entry.data }), entry.id)
        : null;
    default:
      return null;
  }
};

/** What an edit makes of a message; null where nothing is left of it. */
export const editedMessage = (message: ContextMessage, edit: EditMessage): ContextMessage | null => {
  const edited = edit(message);
  if (edited === message || edited === null) return edited;
  return made(edited.role, Object.freeze(edited.parts.slice()), edited.entryId);
};

const made = (role: Role, parts: readonly Part[], entryId: EntryId): ContextMessage | null => {
  const told = parts.some(isEmpty) ? Object.freeze(parts.filter((part) => !isEmpty(part))) : parts;
  return told.length === 0 ? null : Object.freeze({ role, parts: told, entryId });
};

const onePart = (part: Part): readonly Part[] => Object.freeze([Object.freeze(part)]);

/** Models refuse empty text. One with further fields may matter for them, as a signature of thoughts does. */
const isEmpty = (part: Part): boolean =>
  (part.type === "text" || part.type === "thinking") && part.text === "" && Object.keys(part).length === 2;
