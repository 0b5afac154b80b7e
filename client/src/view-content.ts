/** From what a caller may hand in to a draft, and from a draft to the entry that is shown meanwhile. */
import type { Draft, Entry, EntryId, MessageDraft, Part, PrincipalId, Role, Seq } from "@espalier/shared";
import type { Content } from "./view-types.js";

export const toDraft = (content: Content, role: Role, newId: () => string): Draft => {
  if (typeof content === "string")
    return message([{ type: "text", text: content }], role, newId() as EntryId);
  if (isParts(content)) return message([...content], role, newId() as EntryId);
  return { ...content, id: content.id ?? (newId() as EntryId) } as Draft;
};

const isParts = (content: Exclude<Content, string>): content is readonly Part[] => Array.isArray(content);

const message = (parts: Part[], role: Role, id: EntryId): MessageDraft => ({
  id,
  type: "message",
  role,
  parts,
});

export const pendingEntry = (
  draft: Draft,
  given: { parentId: EntryId | null; author: PrincipalId; time: number },
): Entry => {
  const { status = "complete", ...rest } = draft;
  const entry = { kind: "entry", ...rest, ...given, seq: 0 as Seq, rev: 0 as Seq, status, size: 0 };
  return Object.freeze(entry) as Entry;
};
