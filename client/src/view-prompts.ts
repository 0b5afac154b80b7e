/** The prompts of a shown line, and going back to before one (V5): rewind is `branch`, and nothing else. */
import { type Entry, type EntryId, type ErrorBody, isPrompt, refusal } from "@espalier/shared";
import type { ViewCore } from "./view-core.js";
import type { ViewMoves } from "./view-moves.js";
import type { Prompt, View } from "./view-types.js";

const PROMPTS = 50;
const PAGE_ENTRIES = 200;

export const createViewPrompts = (core: ViewCore, moves: ViewMoves): Pick<View, "prompts" | "rewind"> => {
  const { host, overlay } = core;
  const { replica } = host;

  /** The last `limit` prompts that are loaded, and the entry above which the line goes on unloaded. */
  const collect = (limit: number): { found: Prompt[]; topId: EntryId | null } => {
    const found = overlay.entries
      .filter(isPrompt)
      .map(({ entry }) => toPrompt(entry))
      .reverse();
    const leaf = core.leafId === null ? null : replica.tree.get(core.leafId);
    if (leaf === undefined) return { found, topId: core.leafId };
    let top = leaf;
    for (let at = leaf; at !== null && found.length < limit; at = at.parent) {
      if (isPrompt(at)) found.push(toPrompt(at.entry));
      top = at;
    }
    return { found: found.slice(0, limit), topId: top?.entry.id ?? null };
  };

  /** Loads what is above an entry, or the entry itself; the shown window stays as it is. */
  const loadAbove = async (id: EntryId): Promise<ErrorBody | null> => {
    if (replica.tree.get(id) !== undefined) return host.loadPage(id, PAGE_ENTRIES);
    const answer = await host.loadLine({ candidates: [id], walk: "stay", limit: PAGE_ENTRIES });
    return "code" in answer ? answer : null;
  };

  const find = async (id: EntryId): Promise<Entry | ErrorBody> => {
    const shown = overlay.entries.find((pending) => pending.id === id)?.entry;
    const held = shown ?? replica.tree.get(id)?.entry;
    if (held !== undefined) return held;
    const refused = await loadAbove(id);
    return (
      refused ?? replica.tree.get(id)?.entry ?? refusal("not_found", `unable to rewind; there is no ${id}`)
    );
  };

  return {
    prompts: async ({ limit = PROMPTS } = {}) => {
      if (!core.isReady && (await host.whenJoined()) !== null) return collect(limit).found;
      for (let askedId: EntryId | null = null; ; ) {
        await core.whenLoaded();
        const { found, topId } = collect(limit);
        const isWhole = topId === null || replica.tree.get(topId)?.entry.parentId === null;
        // What was asked for and did not come will not come.
        if (found.length >= limit || isWhole || topId === askedId || core.isClosed) return found;
        if ((await loadAbove(topId)) !== null) return found;
        askedId = topId;
      }
    },
    rewind: async (promptId) => {
      const { acts } = core;
      const entry = await find(promptId);
      if ("code" in entry) return entry;
      if (!isPrompt({ entry }))
        return refusal("invalid", `unable to rewind to before ${promptId}; it is no prompt`);
      if (core.acts !== acts || core.isClosed)
        return refusal("cancelled", `unable to rewind to before ${promptId}; the view was moved meanwhile`);
      moves.branch(entry.parentId, true);
      return toPrompt(entry);
    },
  };
};

const toPrompt = (entry: Entry): Prompt => {
  const parts = entry.type === "message" ? entry.parts : [];
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  return Object.freeze({ id: entry.id, text, parts, time: entry.time });
};
