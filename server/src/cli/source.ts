/**
 * Where a command finds sessions: a running server, by the client, or the files of a directory that no
 * server has. A server that has the directory is found by what it noted there, which counts only while it
 * has it.
 */
import { existsSync } from "node:fs";
import {
  type Entry,
  type EntryId,
  type Epoch,
  EspalierError,
  type Runtime,
  type SessionId,
  type SessionSummary,
  type Tree,
} from "@espalier/shared";
import type { Conversation } from "../export/conversation.js";
import { readAddress } from "../store/file/address.js";
import { createNodeDisk } from "../store/file/disk.js";
import { createFileStore } from "../store/file/file-store.js";
import type { LogStore } from "../store/log-store.js";
import { CommandError } from "./failure.js";
import type { Names } from "./names.js";
import { reach } from "./reach.js";
import { serverSource } from "./server-source.js";
import { storeSource } from "./store-source.js";

export type LineItem = {
  readonly entry: Entry;
  /** Among its alternatives, from 1. */
  readonly place: number;
  readonly alternatives: number;
};

export type Line = { readonly title: string | null; readonly items: readonly LineItem[] };

export type SessionTree = {
  readonly tree: Tree;
  readonly title: string | null;
  readonly names: Names;
  readonly hasReset: boolean;
};

export type ListAsk = { readonly archived?: boolean; readonly of?: SessionId };

export type ForkAsk = {
  readonly session: SessionId;
  readonly from: { readonly session: SessionId; readonly entry: EntryId | null };
  readonly mode: "copy" | "share";
};

/** Everything throws what a command can end with: a CommandError or an EspalierError. */
export type Source = {
  /** A server tells what is since the last reset, and of the runs that ended the newest; files give all. */
  readonly isServer: boolean;
  /** The newest change first; without `of`, no sidechains. */
  pages(ask: ListAsk): AsyncIterable<readonly SessionSummary[]>;
  tree(id: SessionId): Promise<SessionTree>;
  /** The line that ends at an entry; without one, the line that is shown where none is asked for (V2). */
  line(id: SessionId, leaf: EntryId | undefined): Promise<Line>;
  /** The end of that line. */
  leaf(id: SessionId): Promise<EntryId | null>;
  /** All of it that is told. */
  conversation(id: SessionId): Promise<Conversation>;
  /** `entry`: the one that the line was taken up to (F3). */
  fork(ask: ForkAsk): Promise<{ readonly entry: EntryId | null }>;
  remove(id: SessionId): Promise<void>;
  close(): Promise<void>;
};

export type SourceOptions = {
  readonly dir: string;
  /** Names a server; the directory is then not looked at. */
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly runtime: Runtime;
};

/** @throws CommandError or EspalierError where neither the directory nor its server can be read */
export const openSource = async (options: SourceOptions): Promise<Source> => {
  const { dir, url, token, runtime } = options;
  const reached = async (found: string): Promise<Source> =>
    serverSource(await reach({ url: found, token, runtime }), { url: found, token });
  if (url !== undefined) return reached(url);
  requireDirectory(dir);
  // The lock says who has the directory; what a server noted there only says where that one is.
  const opened = await openDirectoryOr(dir, runtime, reached);
  return opened.type === "store" ? storeSource(opened.store, runtime) : opened.server;
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
