/**
 * Where `ls` and `tree` read from: a running server, by the client, or the files of a directory that no
 * server has. A server that has the directory is found by what it noted there.
 */
import { existsSync } from "node:fs";
import type { Client } from "@espalier/client";
import {
  createRegisters,
  createTree,
  type Epoch,
  EspalierError,
  type Runtime,
  refusal,
  type SessionId,
  type SessionSummary,
  type Tree,
} from "@espalier/shared";
import { readAddress } from "../store/file/address.js";
import { createNodeDisk } from "../store/file/disk.js";
import { createFileStore } from "../store/file/file-store.js";
import type { LogStore } from "../store/log-store.js";
import { CommandError, errorOf } from "./failure.js";
import { reach } from "./reach.js";
import { readRemoteTree } from "./remote-tree.js";

export type Source = {
  /** The newest change first. */
  list(): Promise<SessionSummary[]>;
  tree(id: string): Promise<{ tree: Tree; title: string | null }>;
  close(): Promise<void>;
};

export type SourceOptions = {
  readonly dir: string;
  /** Names a server; the directory is then not looked at. */
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly runtime: Runtime;
};

const LIST_LIMIT = 1000;

/** @throws CommandError or EspalierError where neither the directory nor its server can be read */
export const openSource = async (options: SourceOptions): Promise<Source> => {
  const { dir, url, token, runtime } = options;
  if (url !== undefined) return serverSource(await reach({ url, token, runtime }));
  requireDirectory(dir);
  // The lock says who has the directory; what a server noted there only says where that one is.
  const opened = await openDirectoryOr(dir, runtime, (found) => reach({ url: found, token, runtime }));
  return opened.type === "store" ? storeSource(opened.store) : serverSource(opened.server);
};

export const requireDirectory = (dir: string): void => {
  if (!existsSync(dir))
    throw new CommandError(
      `unable to open ${dir}; there is no such directory`,
      "name another one with --dir",
    );
};

const WAITS = 8;
const WAIT_MS = 250;

/**
 * Opens a directory, or, where a server has it, calls `onServed` with that one's URL. A command that has
 * the directory for a moment, or a server that is about to say where it is, is waited for.
 */
export const openDirectoryOr = async <T>(
  dir: string,
  runtime: Runtime,
  onServed: (url: string) => Promise<T>,
): Promise<{ type: "store"; store: LogStore } | { type: "served"; server: T }> => {
  for (let waits = 0; ; waits += 1) {
    const address = await readAddress(createNodeDisk(), dir);
    let unreachable: unknown;
    if (address !== null)
      try {
        return { type: "served", server: await onServed(address.url) };
      } catch (error) {
        unreachable = error;
      }
    try {
      return { type: "store", store: await openStore(dir, runtime) };
    } catch (error) {
      if (!(error instanceof EspalierError) || error.code !== "locked") throw error;
      if (unreachable !== undefined) throw unreachable;
      if (waits === WAITS)
        throw new CommandError(error.message, "stop it, or name its server with --url", { cause: error });
    }
    await new Promise<void>((resolve) => void runtime.setTimer(WAIT_MS, resolve));
  }
};

const openStore = (dir: string, runtime: Runtime): Promise<LogStore> =>
  createFileStore({ dir, newEpoch: () => runtime.newId() as Epoch, runtime });

const storeSource = (store: LogStore): Source => ({
  list: async () => {
    const sessions: SessionSummary[] = [];
    for (;;) {
      const page = await store.list({ limit: LIST_LIMIT, after: sessions.at(-1)?.id });
      sessions.push(...page.sessions);
      if (!page.more) return sessions;
    }
  },
  tree: async (id) => {
    const outcome = await store.load(id as SessionId);
    if (outcome.type === "refused") throw errorOf(outcome.error);
    if (outcome.type === "absent")
      throw errorOf(refusal("not_found", `unable to open ${id}; there is no such session`));
    const tree = createTree();
    const registers = createRegisters();
    for (const record of outcome.log.records)
      if (record.kind === "register") registers.apply(record);
      else tree.apply(record);
    const title = registers.get("title");
    return { tree, title: typeof title === "string" ? title : null };
  },
  close: () => store.close(),
});

const serverSource = (client: Client): Source => ({
  list: async () => {
    const sessions: SessionSummary[] = [];
    for (;;) {
      const last = sessions.at(-1);
      const page = await client.list({
        limit: LIST_LIMIT,
        ...(last === undefined ? {} : { after: last.id }),
      });
      if ("code" in page) throw errorOf(page);
      sessions.push(...page.sessions);
      if (!page.more) return sessions;
    }
  },
  tree: (id) => readRemoteTree(client, id),
  close: async () => client.close(),
});
