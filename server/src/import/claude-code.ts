/**
 * Imports a session of Claude Code: a JSONL file, and the files of its subagents. The session comes first,
 * then its sidechains, each with the call that began it as its origin. A file that holds nothing but what an
 * agent said becomes a sidechain of the session that it names.
 */
import { isId, isSessionId, type Json, type Origin, type SessionId } from "@espalier/shared";
import { findOrigins, type Group, groupInline, type Tree } from "./claude-code-agents.js";
import type { ClaudeFact } from "./claude-code-facts.js";
import { type AgentFile, agentOf, baseOf, type Read, readAgentFiles, readMeta } from "./claude-code-files.js";
import { type ClaudeIndex, isClaudeRecord, scanClaudeFile } from "./claude-code-scan.js";
import { toClaudeSession } from "./claude-code-session.js";
import { fieldsOf, restOf, textOf } from "./fields.js";
import type { ImportedSession, Importing, ImportOptions, Report, Source, SourceFile } from "./foreign.js";
import { firstRecords } from "./jsonl.js";
import type { Outside } from "./outside.js";
import { createIds } from "./records.js";
import { shownName, unableToImport, unableToRead } from "./unable.js";

const FORMAT = "claude-code";

/** Whether a file that begins with these bytes is of this format. */
export const detectClaudeCode = (firstBytes: Uint8Array): boolean =>
  firstRecords(firstBytes).some(isClaudeRecord);

/**
 * Its sessions throw `invalid` where the file holds no record of Claude Code, and, after all that could be
 * read, where a subagent's file could not.
 */
export const importClaudeCode = (source: Source, options: ImportOptions): Importing => {
  const read: Read = { files: [], asides: [], reports: [], faults: [] };
  return { format: FORMAT, ...read, sessions: sessionsOf(source, options, read) };
};

async function* sessionsOf(
  source: Source,
  options: ImportOptions,
  read: Read,
): AsyncGenerator<ImportedSession> {
  const { file } = source;
  read.files.push(file.name);
  const ownReports: string[] = [];
  const report: Report = (line) => void ownReports.push(line);
  const index = await scanClaudeFile(file, report);
  if (!index.hasRecord) throw unableToRead(file, "it holds no record of Claude Code");
  if (index.facts.length === 0) {
    read.reports.push(...ownReports, `${file.name}: no messages; skipped`);
    return;
  }
  const id = sessionIdOf(file, index, options);
  reportStrangers(index, id, report);
  const isAgents = isOfAgents(file, index);
  const agents = isAgents ? [] : await readAgentFiles(source, id, read, report);
  const meta = isAgents ? await readMeta(source, file.name, read, report) : null;
  const { root, branches } = branchesOf({ file, id, index, isAgents, meta, ownReports, agents }, options);
  const origins = findOrigins([root, ...branches.map(({ tree }) => tree).filter((tree) => tree !== root)]);
  for (const { tree, name } of branches) {
    const fate = "no meta file and no result names this agent; kept as a sidechain without an origin";
    if (tree.agentId !== null && !origins.has(tree)) report(`${name}: ${fate}`);
  }
  for (const branch of branches) yield open(branch, origins.get(branch.tree), options);
  const [fault] = read.faults;
  if (fault !== undefined)
    throw unableToImport(`all of ${shownName(file)}`, `of its subagents: ${fault.message}`, fault);
}

/** A session that was gone on with in another file copies what came before, under the name that it had. */
const reportStrangers = ({ counts, sessionId }: ClaudeIndex, id: SessionId, report: Report): void => {
  const own = counts.has(id) ? id : sessionId;
  const others = [...counts].filter(([name]) => name !== own);
  const count = others.reduce((sum, [, each]) => sum + each, 0);
  if (count === 0) return;
  const names = others.slice(0, 3).map(([name]) => name);
  const more = others.length > 3 ? ", …" : "";
  const noun = count === 1 ? "record names" : "records name";
  report(`${count} ${noun} another session (${names.join(", ")}${more}); kept in this one`);
};

/** A subagent's file without its session's must not take that one's place. */
const isOfAgents = (file: SourceFile, { facts }: ClaudeIndex): boolean =>
  facts.every(
    ({ isSidechain, rare }) => isSidechain && (rare.agentId !== null || agentOf(file.name) !== null),
  );

/** A session or a sidechain of it, before it is placed. */
type Branch = {
  readonly tree: Tree;
  /** How reports name it. */
  readonly name: string;
  /** Of the file that it stands in. */
  readonly index: ClaudeIndex;
  readonly title: string | null;
  readonly outside: readonly Outside[];
  readonly meta: Json;
  readonly reports: string[];
};

type Files = {
  readonly file: SourceFile;
  readonly id: SessionId;
  readonly index: ClaudeIndex;
  /** The file is one of agents; the session itself is elsewhere. */
  readonly isAgents: boolean;
  /** Of the agent, where the file is an agent's. */
  readonly meta: Json;
  readonly ownReports: string[];
  readonly agents: readonly AgentFile[];
};

/** The session itself first, then the sidechains in its file, then those in files of their own. */
const branchesOf = (files: Files, options: ImportOptions): { root: Tree; branches: Branch[] } => {
  const { file, id, index, isAgents, meta, ownReports, agents } = files;
  const { title, outside } = index;
  const claim = createNames(id, options.newId);
  const treeOf = ({ agentId, facts }: Group, fileMeta: Json, isInline: boolean): Tree => {
    const toolUseId = textOf(fieldsOf(fileMeta).toolUseId);
    return { agentId, id: claim(agentId), facts, idOf: createIds(options.newId), toolUseId, isInline };
  };
  const rootOf = (facts: readonly ClaudeFact[]): Tree => {
    const idOf = createIds(options.newId);
    return { agentId: null, id, facts, idOf, toolUseId: null, isInline: false };
  };
  if (isAgents) {
    const branches = groupOfAgents(file, index).map((group, at): Branch => {
      const tree = treeOf(group, meta, false);
      const first = { name: file.name, index, title, outside, meta, reports: ownReports };
      return at === 0 ? { tree, ...first } : { tree, ...first, outside: [], reports: [] };
    });
    return { root: rootOf([]), branches };
  }
  const main = index.facts.filter(({ isSidechain }) => !isSidechain);
  const sidechain = main.length === 0 ? [] : index.facts.filter(({ isSidechain }) => isSidechain);
  const root = rootOf(main.length === 0 ? index.facts : main);
  return {
    root,
    branches: [
      { tree: root, name: file.name, index, title, outside, meta: null, reports: ownReports },
      ...groupInline(sidechain, main).map((group) => {
        const name = `line ${group.facts[0]?.place.line}`;
        return {
          tree: treeOf(group, null, true),
          name,
          index,
          title: null,
          outside: [],
          meta: null,
          reports: [],
        };
      }),
      ...agents.map((agent) => {
        const { facts, title: own, outside: beside } = agent.index;
        const tree = treeOf({ agentId: agent.agentId, facts }, agent.meta, false);
        return { ...agent, tree, title: own, outside: beside };
      }),
    ],
  };
};

/** By the agents that the records name; the file's name speaks for those that name none. */
const groupOfAgents = (file: SourceFile, { facts }: ClaudeIndex): Group[] => {
  const named = agentOf(file.name);
  return named === null ? groupInline(facts, []) : [{ agentId: named, facts }];
};

const open = (branch: Branch, origin: Origin | undefined, options: ImportOptions): ImportedSession => {
  const { tree, index, title, outside, meta, reports } = branch;
  const { facts, idOf, agentId } = tree;
  const { sessionId, setting, read } = index;
  const source = { format: FORMAT, ...restOf({ id: sessionId, ...setting, agentId, meta }) };
  const head = { id: tree.id, sourceId: agentId ?? sessionId, sessionId, title, source };
  const its = origin === undefined ? {} : { origin };
  return toClaudeSession({ ...head, ...its, facts, outside, read, idOf, reports }, options);
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A file is named for its session; records copied from another session still name that one. */
const sessionIdOf = (file: SourceFile, { sessionId }: ClaudeIndex, { newId }: ImportOptions): SessionId => {
  const base = baseOf(file.name);
  const candidates = UUID.test(base) ? [base, sessionId] : [sessionId, base];
  return (candidates.find(isId) ?? newId()) as SessionId;
};

/** Names of sidechains, each once. */
const createNames = (root: SessionId, newId: () => string) => {
  const taken = new Set<string>();
  return (agentId: string): SessionId => {
    let name = `${root}/${agentId}`;
    if (!isSessionId(name) || taken.has(name)) name = `${root}/${newId()}`;
    taken.add(name);
    return name as SessionId;
  };
};
