/** Folders with sessions in them, and a server on real sockets that keeps them there. */
import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EntryId, View } from "@espalier/client";
import type { ServerOptions } from "@espalier/server";
import type { LogRecord, Part, Usage } from "@espalier/shared";
import { connectTo, openSession, startServer, undoLater } from "../server/sockets.js";

/** An empty folder; `cleanUp` removes it after its servers are closed. */
export const createDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "espalier-test-"));
  undoLater(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** A server on a folder, and somebody who has opened the session `s` there. */
export const openDir = async (dir: string | undefined, options: ServerOptions = {}) => {
  const { server, url } = await startServer(dir === undefined ? options : { dir, ...options });
  const client = connectTo(url, { token: "ann" });
  const { session, view } = await openSession(client);
  return { server, url, client, session, view };
};

/** What a process that died at this moment would leave. */
export const copyDir = (dir: string): string => {
  const copy = createDir();
  cpSync(dir, copy, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
  return copy;
};

/** The first line of a session's file. */
export type HeaderLine = {
  readonly kind: "session";
  readonly version: number;
  readonly id: string;
  readonly createdAt: number;
  readonly origin?: unknown;
};

export const readText = (dir: string, name: string): string => readFileSync(join(dir, name), "utf8");

/** A session's file: its header, and then a record a line. */
export const readLog = (
  dir: string,
  name = "s.jsonl",
): { header: HeaderLine; records: readonly LogRecord[] } => {
  const [header, ...records] = readText(dir, name)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  return { header: header as HeaderLine, records: records as LogRecord[] };
};

/** Every file below a folder, by its path within. */
export const filesIn = (dir: string): string[] =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((path) =>
        lstatSync(join(dir, path)).isFile(),
      )
    : [];

/** Sends texts one after the other, each on the server's disk before the next. */
export const sayAll = async (view: View, ...texts: string[]): Promise<EntryId[]> => {
  const ids: EntryId[] = [];
  for (const text of texts) {
    const { id, settled } = view.send(text);
    const outcome = await settled;
    if (!outcome.ok) throw new Error(outcome.error.message);
    ids.push(id as EntryId);
  }
  return ids;
};

/** Publishes a message of an assistant or a tool where the view is; on the server's disk when it resolves. */
export const sendParts = async (
  view: View,
  parts: readonly Part[],
  more: { role?: "assistant" | "tool"; usage?: Usage } = {},
): Promise<EntryId> => {
  const { id, settled } = view.send({ type: "message", role: "assistant", parts, ...more });
  const outcome = await settled;
  if (!outcome.ok) throw new Error(outcome.error.message);
  return id as EntryId;
};
