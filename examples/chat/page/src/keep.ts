/** What this tab keeps over a reload: where each conversation was looked at, and what was being written. */
import type { ViewState } from "@espalier/client";

export type Keep = {
  viewState(sessionId: string): ViewState | undefined;
  keepViewState(sessionId: string, state: ViewState): void;
  draft(sessionId: string): string;
  keepDraft(sessionId: string, text: string): void;
  /** Conversations with something that was not sent; the client keeps it there. */
  unsent(): string[];
};

type TabStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** The client's own prefix. */
const UNSENT = "espalier:";

export const createKeep = (storage: TabStorage): Keep => {
  const viewKey = (id: string): string => `chat:view:${id}`;
  const draftKey = (id: string): string => `chat:draft:${id}`;

  const put = (key: string, value: string): void => {
    try {
      if (value === "") storage.removeItem(key);
      else storage.setItem(key, value);
    } catch {
      // A full storage costs a place to come back to, and nothing else.
    }
  };

  return {
    viewState: (id) => parseState(storage.getItem(viewKey(id))),
    keepViewState: (id, state) => {
      const isAnywhere = state.leafId !== null || state.isHeld;
      put(viewKey(id), isAnywhere ? JSON.stringify(state) : "");
    },
    draft: (id) => storage.getItem(draftKey(id)) ?? "",
    keepDraft: (id, text) => put(draftKey(id), text),
    unsent: () =>
      Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
        .filter((key) => key.startsWith(UNSENT))
        .map((key) => key.slice(UNSENT.length)),
  };
};

const parseState = (saved: string | null): ViewState | undefined => {
  try {
    const state = JSON.parse(saved ?? "null") as ViewState | null;
    return state !== null && Array.isArray(state.selections) ? state : undefined;
  } catch {
    return undefined;
  }
};
