/** `espalier tail`: follows a session of a running server, over its restarts, until it is stopped. */
import type { Client, Session } from "@espalier/client";
import { readAddress } from "../store/file/address.js";
import { createNodeDisk } from "../store/file/disk.js";
import { CommandError, errorOf } from "./failure.js";
import { follow } from "./follow.js";
import { oneAtATime } from "./one-at-a-time.js";
import { say } from "./output.js";
import { reach } from "./reach.js";
import { requireDirectory, type SourceOptions } from "./source.js";
import { createTailJson } from "./tail-json.js";
import { createTailText } from "./tail-text.js";
import type { Terminal } from "./terminal.js";

export type TailOptions = Omit<SourceOptions, "runtime"> & {
  readonly lines: number;
  readonly json?: boolean;
};

export const runTail = async (id: string, options: TailOptions, terminal: Terminal): Promise<void> => {
  const { out, runtime } = terminal;
  const { token, lines, json = false } = options;
  const client = await reach({ url: options.url ?? (await urlFor(options.dir)), token, runtime });
  try {
    const session = client.session(id);
    const stopped = new Promise<void>((resolve) => {
      void terminal.untilStopped().then(resolve);
      out.onClosed(resolve);
    });
    const failed = untilFailed(client, session, terminal);
    const undo = follow(session, lines, json ? createTailJson(out) : oneAtATime(createTailText(out)));
    await Promise.race([stopped, failed]);
    undo();
  } finally {
    client.close();
  }
  // The prompt of the shell begins on a line of its own.
  if (out.isTerminal) out.write("\n");
  await out.drained();
};

const urlFor = async (dir: string): Promise<string> => {
  requireDirectory(dir);
  const address = await readAddress(createNodeDisk(), dir);
  if (address !== null) return address.url;
  throw new CommandError(
    `unable to follow; no server runs on ${dir}`,
    `start one with \`espalier serve --dir ${dir}\`, or name one with --url`,
  );
};

/** Rejects where there is no use in waiting; what passes by itself is told on stderr. */
const untilFailed = (client: Client, session: Session, { err }: Terminal): Promise<never> =>
  new Promise((_, reject) => {
    let isLost = false;
    const look = (): void => {
      const { status, error } = client.snapshot;
      if (status === "refused" && error !== null) return reject(errorOf(error));
      if (session.snapshot.status === "failed" && session.snapshot.error !== null)
        return reject(errorOf(session.snapshot.error));
      if (status === "offline" && !isLost) {
        isLost = true;
        say(err, "the connection was lost; trying again …");
      }
      if (session.snapshot.status === "live" && isLost) {
        isLost = false;
        say(err, "connected again");
      }
    };
    client.subscribe(look);
    session.subscribe(look);
    look();
  });
