/**
 * The sidechains of a Claude Code session: which records belong to which agent, and the call that began
 * each. A sidechain lies in a file of its own, or, in older files, among the session's records.
 */
import type { EntryId, Origin, SessionId } from "@espalier/shared";
import type { ClaudeFact } from "./claude-code-facts.js";
import type { IdOf } from "./records.js";

/** One tree of records; `agentId` is null for the session's own. */
export type Tree = {
  readonly agentId: string | null;
  readonly id: SessionId;
  readonly facts: readonly ClaudeFact[];
  readonly idOf: IdOf;
  /** That the agent's meta file names. */
  readonly toolUseId: string | null;
  /** Its records stand in the session's file. */
  readonly isInline: boolean;
};

export type Group = { readonly agentId: string; readonly facts: readonly ClaudeFact[] };

/** The sidechains in a session's own file: by agent where the records name one, else by their root. */
export const groupInline = (sidechain: readonly ClaudeFact[], main: readonly ClaudeFact[]): Group[] => {
  const mainIds = new Set(sidechain.length === 0 ? [] : main.map(({ id }) => id));
  const order = new Map(sidechain.map(({ id }, index) => [id, index]));
  const roots = rootsOf(sidechain, order);
  const groups = new Map<string, ClaudeFact[]>();
  for (const [index, fact] of sidechain.entries()) {
    const agentId = fact.rare.agentId ?? (sidechain[roots[index] as number] as ClaudeFact).id;
    const isBelowMain = fact.parentId !== null && mainIds.has(fact.parentId);
    const own = isBelowMain ? { ...fact, parentId: null } : fact;
    const group = groups.get(agentId);
    if (group === undefined) groups.set(agentId, [own]);
    else group.push(own);
  }
  return [...groups].map(([agentId, facts]) => ({ agentId, facts }));
};

/** The index of each record's root; of a ring, that of one of its members. */
const rootsOf = (facts: readonly ClaudeFact[], order: ReadonlyMap<string, number>): Int32Array => {
  const roots = new Int32Array(facts.length).fill(-1);
  for (let start = 0; start < facts.length; start++) {
    const walk: number[] = [];
    const seen = new Set<number>();
    let at = start;
    while (roots[at] === -1 && !seen.has(at)) {
      walk.push(at);
      seen.add(at);
      const { parentId } = facts[at] as ClaudeFact;
      const above = parentId === null ? undefined : order.get(parentId);
      if (above === undefined) break;
      at = above;
    }
    const root = roots[at] === -1 ? at : (roots[at] as number);
    for (const index of walk) roots[index] = root;
  }
  return roots;
};

type CallSite = { readonly tree: Tree; readonly entryId: string; readonly callId: string };

/** Where each agent's work was asked for; absent where nothing tells. */
export const findOrigins = (trees: readonly Tree[]): ReadonlyMap<Tree, Origin> => {
  const root = trees[0] as Tree;
  const sites = new Map<string, CallSite>();
  const byPrompt = new Map<number, CallSite[]>();
  const resultCalls = new Map<string, string>();
  for (const tree of trees) {
    for (const { id, calls, results, rare } of tree.facts) {
      const { resultAgent } = rare;
      const answered = results[0];
      if (resultAgent !== null && answered !== undefined && !resultCalls.has(resultAgent))
        resultCalls.set(resultAgent, answered);
      for (const { callId, prompt } of calls) {
        if (sites.has(callId)) continue;
        const site = { tree, entryId: id, callId };
        sites.set(callId, site);
        if (prompt === null) continue;
        const others = byPrompt.get(prompt);
        if (others === undefined) byPrompt.set(prompt, [site]);
        else others.push(site);
      }
    }
  }

  const callOf = (tree: Tree): string | null => {
    const named = tree.toolUseId ?? resultCalls.get(tree.agentId ?? "") ?? null;
    if (named !== null || !tree.isInline) return named;
    const prompt = tree.facts.find(({ parentId }) => parentId === null)?.rare.prompt ?? null;
    const candidates = prompt === null ? [] : (byPrompt.get(prompt) ?? []);
    const found = candidates.findIndex((site) => site.tree !== tree);
    // Each call began one sidechain, also where several were given the same prompt.
    return found === -1 ? null : (candidates.splice(found, 1)[0] as CallSite).callId;
  };

  const sitesByTree = new Map<Tree, CallSite>();
  const origins = new Map<Tree, Origin>();
  for (const tree of trees.slice(1)) {
    const callId = callOf(tree);
    if (callId === null) continue;
    const site = sites.get(callId);
    if (site === undefined || isBelow(site.tree, tree, sitesByTree))
      origins.set(tree, { session: root.id, entry: null, callId });
    else {
      sitesByTree.set(tree, site);
      const entry: EntryId = site.tree.idOf(site.entryId);
      origins.set(tree, { session: site.tree.id, entry, callId });
    }
  }
  return origins;
};

/** Whether a tree was begun from another one, however far above: two agents never began each other. */
const isBelow = (tree: Tree, other: Tree, sites: ReadonlyMap<Tree, CallSite>): boolean => {
  let at: Tree | undefined = tree;
  while (at !== undefined && at !== other) at = sites.get(at)?.tree;
  return at === other;
};
