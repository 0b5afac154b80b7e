/** What a view belongs to, for what is done through views from outside of them. */
import { type Entry, type EntryId, type ErrorBody, EspalierError } from "@espalier/shared";
import type { Model } from "./model.js";
import type { Session } from "./session-types.js";
import type { View } from "./view-types.js";

export type ViewOwner = {
  readonly session: Session;
  /** What of a line the model reads, and what that depends on: less than its path, where that was compacted. */
  contextEntries(leafId: EntryId): Promise<readonly Entry[] | ErrorBody>;
  /** The one that the client was given. */
  readonly model: Model | undefined;
  readonly newId: () => string;
};

/** Beside the views, so that what a view shows to its users stays what they need. */
const ownersByView = new WeakMap<View, ViewOwner>();

export const setOwner = (view: View, owner: ViewOwner): void => void ownersByView.set(view, owner);

export const ownerOf = (view: View): ViewOwner => {
  const owner = ownersByView.get(view);
  if (owner !== undefined) return owner;
  throw new EspalierError("invalid", "unable to find the session of a view; no session has made it");
};
