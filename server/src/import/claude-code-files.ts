/**
 * The files of a Claude Code session besides its own: those of its subagents, in the folder `<session>/subagents`
 * or, in an older layout, beside the session's file, each with a meta file. One that cannot be read is a fault
 * that is told at the end; the session and the others are taken.
 */
import { EspalierError, type Json } from "@espalier/shared";
import { type ClaudeIndex, scanClaudeFile } from "./claude-code-scan.js";
import type { Report, Source, SourceFile } from "./foreign.js";
import { readSmallJson } from "./jsonl.js";

export type AgentFile = {
  readonly agentId: string;
  readonly name: string;
  readonly index: ClaudeIndex;
  readonly meta: Json;
  readonly reports: string[];
};

/** What was read so far, what was odd about it, and what could not be read. */
export type Read = {
  readonly files: string[];
  readonly asides: string[];
  readonly reports: string[];
  readonly faults: EspalierError[];
};

export const baseOf = (name: string): string =>
  name.slice(name.lastIndexOf("/") + 1).replace(/\.jsonl$/i, "");

/** The agent that a file is named for. */
export const agentOf = (name: string): string | null => /^agent-(.+)$/i.exec(baseOf(name))?.[1] ?? null;

const metaNameOf = (name: string): string => name.replace(/(?:\.jsonl)?$/i, ".meta.json");

export const readAgentFiles = async (
  source: Source,
  sessionId: string,
  read: Read,
  report: Report,
): Promise<AgentFile[]> => {
  const folder = `${baseOf(source.file.name)}/subagents`;
  const inFolder = await namesIn(source, folder, read, report);
  const names = inFolder.map((name) => `${folder}/${name}`).filter(isAgentFile);
  // They belong to this session whatever becomes of them: none is to be taken for a session.
  read.files.push(...names);
  read.asides.push(
    ...inFolder.filter((name) => /\.meta\.json$/i.test(name)).map((name) => `${folder}/${name}`),
  );
  const agents: AgentFile[] = [];
  const take = async (name: string, file: SourceFile): Promise<void> => {
    const agent = await readAgentFile(source, name, file, read, report);
    if (agent !== null) agents.push(agent);
  };
  for (const name of names)
    await attempt(name, read, report, async () => {
      const file = await source.beside(name);
      if (file !== null) await take(name, file);
    });
  for (const name of await namesIn(source, "", read, report)) {
    if (!isAgentFile(name) || name === source.file.name) continue;
    // What cannot be read is told when it is read for itself.
    const file = await source.beside(name).catch(() => null);
    if (file === null || (await sessionNamedBy(file).catch(() => null)) !== sessionId) continue;
    read.files.push(name);
    await attempt(name, read, report, () => take(name, file));
  }
  return agents;
};

const isAgentFile = (name: string): boolean => /\.jsonl$/i.test(name) && agentOf(name) !== null;

const readAgentFile = async (
  source: Source,
  path: string,
  file: SourceFile,
  read: Read,
  report: Report,
): Promise<AgentFile | null> => {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const reports: string[] = [];
  const index = await scanClaudeFile(file, (line) => reports.push(line));
  if (index.facts.length === 0) {
    for (const line of [...reports, "no messages; skipped"]) report(`${name}: ${line}`);
    return null;
  }
  const meta = await readMeta(source, path, read, report);
  return { agentId: agentOf(name) as string, name, index, meta, reports };
};

/** What the file beside an agent's says of it. */
export const readMeta = async (source: Source, path: string, read: Read, report: Report): Promise<Json> => {
  const metaPath = metaNameOf(path);
  const file = await source.beside(metaPath);
  if (file === null) return null;
  if (!read.asides.includes(metaPath)) read.asides.push(metaPath);
  const meta = await readSmallJson(file);
  if (meta === undefined)
    report(`${metaNameOf(path.slice(path.lastIndexOf("/") + 1))}: not JSON, or too large; skipped`);
  return meta ?? null;
};

const namesIn = async (
  source: Source,
  folder: string,
  read: Read,
  report: Report,
): Promise<readonly string[]> => {
  let names: readonly string[] = [];
  await attempt(folder, read, report, async () => {
    names = await source.list(folder);
  });
  return names;
};

/** What fails is noted, and does not end the rest. */
const attempt = async (
  name: string,
  { faults }: Read,
  report: Report,
  step: () => Promise<void>,
): Promise<void> => {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof EspalierError)) throw error;
    faults.push(error);
    report(`${name}: ${error.message}; skipped`);
  }
};

/** A record says early which session it is of. */
const START_BYTES = 4096;

const sessionNamedBy = async (file: SourceFile): Promise<string | null> => {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of file.read(0, Math.min(file.size, START_BYTES)))
    text += decoder.decode(piece, { stream: true });
  return /"sessionId"\s*:\s*"([^"\\]*)"/.exec(text)?.[1] ?? null;
};
