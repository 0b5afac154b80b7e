/** Publishes what was made of a line onto that line, wherever its view is by then. */
import type { Draft, EntryId, ErrorBody } from "@espalier/shared";
import { ownerOf } from "./view-owner.js";
import type { DraftContent, View } from "./view-types.js";

/**
 * Publishes one entry below a leaf that a view showed, behind what has come there since. While the view is on that
 * line it goes where the view is; a view that is held (V4) is taken along, as by what it sends. A refusal leaves
 * no failed write behind.
 *
 * @param wasHeld the view was held at the leaf: where it has left the line, the entry goes right below the leaf.
 */
export const publishBelow = async (
  view: View,
  leafId: EntryId | null,
  wasHeld: boolean,
  content: DraftContent,
): Promise<{ readonly id: EntryId } | ErrorBody> => {
  const { session, newId } = ownerOf(view);
  const id = newId() as EntryId;
  const draft = { ...content, id } as Draft;
  const isThere = leafId === null || view.get(leafId) !== undefined;
  const elsewhere = wasHeld ? { under: leafId } : { after: leafId };
  const place = isThere ? { after: confirmedLeafId(view) ?? leafId } : elsewhere;
  const settled = await (isThere && view.snapshot.isHeld
    ? view.send(draft).settled
    : session.publish([{ draft, place }]));
  if (settled.ok) return { id };
  view.discard(id);
  return settled.error;
};

/** The last shown entry that the server knows; what is pending it does not. */
export const confirmedLeafId = (view: View): EntryId | null => {
  const { leafId, length } = view.snapshot;
  for (let index = length - 1; index >= 0; index -= 1) {
    const shown = view.at(index);
    if (shown?.state === "confirmed") return shown.id;
  }
  return length === 0 ? leafId : null;
};
