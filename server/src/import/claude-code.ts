/**
 * Imports a session of Claude Code: a JSONL file, and the files of its subagents in the folder of its
 * name. The session comes first, then its sidechains, each with the call that began it as its origin.
 */
import { isId, isSessionId, type Json, type Origin, type SessionId } from "@espalier/shared";
import { findOrigins, type Group, groupInline, type Tree } from "./claude-code-agents.js";
import { type ClaudeIndex, isClaudeRecord, scanClaudeFile } from "./claude-code-scan.js";
import { toClaudeSession } from "./claude-code-session.js";
import { fieldsOf, restOf, textOf } from "./fields.js";
import type { ImportedSession, Importing, ImportOptions, Source, SourceFile } from "./foreign.js";
import { firstRecords, readSmallJson, unableToRead } from "./jsonl.js";
import type { Outside } from "./outside.js";
import { createIds } from "./records.js";

const FORMAT = "claude-code";

/** Whether a file that begins with these bytes is of this format. */
export const detectClaudeCode = (firstBytes: Uint8Array): boolean =>
  firstRecords(firstBytes).some(isClaudeRecord);

/** Its sessions throw `invalid` where the file holds no record of Claude Code. */
export const importClaudeCode = (source: Source, options: ImportOptions): Importing => {
  const read: Read = { files: [], asides: [], reports: [] };
  return { format: FORMAT, ...read, sessions: sessionsOf(source, options, read) };
};

/** What was read so far, and what was odd about it. */
type Read = { readonly files: string[]; readonly asides: string[]; readonly reports: string[] };

async function* sessionsOf(
  source: Source,
  options: ImportOptions,
  read: Read,
): AsyncGenerator<ImportedSession> {
  const { file } = source;
  read.files.push(file.name);
  const ownReports: string[] = [];
  const index = await scanClaudeFile(file, (line) => ownReports.push(line));
  if (index.facts.length === 0) {
    if (index.outside.length === 0) throw unableToRead(file, "it holds no record of Claude Code");
    read.reports.push(...ownReports, `${file.name}: no messages; skipped`);
    return;
  }
  const agents = await readAgentFiles(source, read, ownReports);
  const branches = branchesOf({ file, index, ownReports, agents }, options);
  const origins = findOrigins(branches.map(({ tree }) => tree));
  for (const { tree, name } of branches) {
    const fate = "no meta file and no result names this agent; kept as a sidechain without an origin";
    if (tree.agentId !== null && !origins.has(tree)) ownReports.push(`${name}: ${fate}`);
  }
  for (const branch of branches) yield open(branch, origins.get(branch.tree), options);
}

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

type AgentFile = Group & Pick<Branch, "name" | "index" | "meta" | "reports">;

type Files = {
  readonly file: SourceFile;
  readonly index: ClaudeIndex;
  readonly ownReports: string[];
  readonly agents: readonly AgentFile[];
};

/** The session itself first, then the sidechains in its file, then those in files of their own. */
const branchesOf = ({ file, index, ownReports, agents }: Files, options: ImportOptions): Branch[] => {
  const main = index.facts.filter(({ isSidechain }) => !isSidechain);
  const isAgentsOwn = main.length === 0;
  const inline = isAgentsOwn
    ? []
    : groupInline(
        index.facts.filter(({ isSidechain }) => isSidechain),
        main,
      );
  const id = sessionIdOf(file, index, options);
  const claim = createNames(id, options.newId);
  const treeOf = ({ agentId, facts }: Group): Tree => {
    const idOf = createIds(options.newId);
    return { agentId, id: claim(agentId), facts, idOf, toolUseId: null, isInline: true };
  };
  const { title, outside } = index;
  const idOf = createIds(options.newId);
  const facts = isAgentsOwn ? index.facts : main;
  // A subagent's file without its session's: it must not take that one's place.
  const agentId = isAgentsOwn ? /^agent-(.+)$/i.exec(baseOf(file.name))?.[1] : undefined;
  const own = agentId === undefined ? id : claim(agentId);
  const root: Tree = { agentId: null, id: own, facts, idOf, toolUseId: null, isInline: false };
  return [
    { tree: root, name: file.name, index, title, outside, meta: null, reports: ownReports },
    ...inline.map((group) => {
      const name = `line ${group.facts[0]?.place.line}`;
      return { tree: treeOf(group), name, index, title: null, outside: [], meta: null, reports: [] };
    }),
    ...agents.map((agent) => {
      const toolUseId = textOf(fieldsOf(agent.meta).toolUseId);
      const tree = { ...treeOf(agent), toolUseId, isInline: false };
      return { ...agent, tree, title: agent.index.title, outside: agent.index.outside };
    }),
  ];
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

const baseOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1).replace(/\.jsonl$/i, "");

const readAgentFiles = async (source: Source, read: Read, sessionReports: string[]): Promise<AgentFile[]> => {
  const folder = `${baseOf(source.file.name)}/subagents`;
  const agents: AgentFile[] = [];
  for (const name of await source.list(folder)) {
    const agentId = /^agent-(.+)\.jsonl$/i.exec(name)?.[1];
    const file = agentId === undefined ? null : await source.beside(`${folder}/${name}`);
    if (agentId === undefined || file === null) continue;
    read.files.push(`${folder}/${name}`);
    const reports: string[] = [];
    const index = await scanClaudeFile(file, (line) => reports.push(line));
    if (index.facts.length === 0) {
      sessionReports.push(...reports.map((line) => `${name}: ${line}`), `${name}: no messages; skipped`);
      continue;
    }
    const metaName = `agent-${agentId}.meta.json`;
    const metaFile = await source.beside(`${folder}/${metaName}`);
    if (metaFile !== null) read.asides.push(`${folder}/${metaName}`);
    const meta = metaFile === null ? null : await readSmallJson(metaFile);
    if (meta === undefined) sessionReports.push(`${metaName}: not JSON, or too large; skipped`);
    agents.push({ agentId, facts: index.facts, name, index, meta: meta ?? null, reports });
  }
  return agents;
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A file is named for its session; records copied from another session still name that one. */
const sessionIdOf = (file: SourceFile, { sessionId }: ClaudeIndex, { newId }: ImportOptions): SessionId => {
  const base = baseOf(file.name);
  const candidates = UUID.test(base) ? [base, sessionId] : [sessionId, base];
  return (candidates.find(isId) ?? newId()) as SessionId;
};

/** Names of sidechains, each once; names that differ only in case would share a file (L8). */
const createNames = (root: SessionId, newId: () => string) => {
  const taken = new Set<string>();
  return (agentId: string): SessionId => {
    let name = `${root}/${agentId}`;
    if (!isSessionId(name) || taken.has(name.toLowerCase())) name = `${root}/${newId()}`;
    taken.add(name.toLowerCase());
    return name as SessionId;
  };
};
