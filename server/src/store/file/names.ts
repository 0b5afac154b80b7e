/**
 * Where the log of a session lies: `<dir>/<name>.jsonl`, and for a sidechain
 * `<dir>/<name>/subagents/agent-<name>.jsonl`.
 *
 * A name is the id itself; where the id has capitals, `~` and a mask of them follow, because a file
 * system may not tell `Abc` from `abc` (L8). Each digit of the mask is for four characters, from the
 * left, with 1 for the first of them: `Abc` is kept in `Abc~1.jsonl`.
 */
import { isSessionId, type SessionId } from "@espalier/shared";
import type { Disk } from "./disk.js";
import { isOfPath } from "./refusing-disk.js";

/** The folder of the store's own files; no id begins with a dot. */
export const CONTROL_DIR = ".espalier";
const EXTENSION = ".jsonl";
const AGENT_PREFIX = "agent-";
const AGENT_DIR = "subagents";

export const idToName = (id: string): string => {
  let mask = "";
  for (let group = 0; group < id.length; group += 4) {
    let digit = 0;
    for (let index = 0; index < 4; index += 1)
      if (isCapital(id.charCodeAt(group + index))) digit |= 1 << index;
    mask += digit.toString(16);
  }
  const trimmed = mask.replace(/0+$/, "");
  return trimmed === "" ? id : `${id}~${trimmed}`;
};

/** Null for a name that no id has. */
export const nameToId = (name: string): string | null => {
  const id = name.replace(/~[0-9a-f]+$/, "");
  return isSessionId(id) && !id.includes("/") && idToName(id) === name ? id : null;
};

const isCapital = (code: number): boolean => code >= 65 && code <= 90;

/** Throws nothing for a well-formed id; an id with another shape must not come this far. */
export const sessionPath = (dir: string, id: SessionId): string => {
  const [session, agent] = id.split("/") as [string, string?];
  if (agent === undefined) return `${dir}/${idToName(session)}${EXTENSION}`;
  return `${dir}/${idToName(session)}/${AGENT_DIR}/${AGENT_PREFIX}${idToName(agent)}${EXTENSION}`;
};

/** The folders whose entries lead to a session's file, the outermost first. */
export const sessionDirs = (dir: string, id: SessionId): string[] => {
  const [session, agent] = id.split("/") as [string, string?];
  if (agent === undefined) return [dir];
  const own = `${dir}/${idToName(session)}`;
  return [dir, own, `${own}/${AGENT_DIR}`];
};

/** Every session that has a file. Other files are nobody's business here. */
export const findSessions = async (disk: Disk, dir: string): Promise<SessionId[]> => {
  const found: SessionId[] = [];
  for (const { name, isDirectory } of await disk.list(dir)) {
    const id = nameToId(isDirectory ? name : withoutAround("", name, EXTENSION));
    if (id === null) continue;
    if (!isDirectory) found.push(id as SessionId);
    else
      for (const agent of await findAgents(disk, `${dir}/${name}/${AGENT_DIR}`))
        found.push(`${id}/${agent}` as SessionId);
  }
  return found;
};

const findAgents = async (disk: Disk, dir: string): Promise<string[]> => {
  const agents: string[] = [];
  // A folder that cannot be read hides its sidechains, and no other session.
  const names = await disk.list(dir).catch((error: unknown) => {
    if (isOfPath(error)) return [];
    throw error;
  });
  for (const { name, isDirectory } of names) {
    const agent = isDirectory ? null : nameToId(withoutAround(AGENT_PREFIX, name, EXTENSION));
    if (agent !== null) agents.push(agent);
  }
  return agents;
};

/** The empty string, which is no name, where the text is not so enclosed. */
const withoutAround = (before: string, text: string, after: string): string =>
  text.startsWith(before) && text.endsWith(after) ? text.slice(before.length, -after.length) : "";
