/**
 * What a connection's commands do. Those that write go to their session's queue, in the order in which they
 * came; those that read, or concern sessions as wholes, are done a few at a time. Each command with `n` is
 * answered once.
 */
import {
  type ClientMessage,
  type ErrorBody,
  EspalierError,
  type Runtime,
  refusal,
  type ServerMessage,
} from "@espalier/shared";
import type { Watcher } from "./announcer.js";
import type { Forest } from "./forest.js";
import type { Frame } from "./frame.js";
import type { Hub } from "./hub.js";
import { createJoins } from "./joins.js";
import { createListing } from "./listing.js";
import type { Actor } from "./principal.js";
import { createReadQueue } from "./read-queue.js";
import { answerQuestion, type Question } from "./reading.js";
import { createWholes } from "./wholes.js";
import { createWriting, NOT_JOINED } from "./writing.js";

export type Commands = {
  /** `bytes`: about how much the message took. */
  handle(message: Exclude<ClientMessage, { type: "hello" | "ping" }>, bytes: number): void;
  /** The reader has taken something: what it asked to read may go on. */
  resume(): void;
  close(): void;
};

type CommandsOptions = {
  readonly hub: Hub;
  readonly forest: Forest;
  readonly runtime: Runtime;
  readonly actor: Actor;
  send(message: ServerMessage): void;
  sendFrame(frame: Frame): void;
  /** Is told how the list of sessions changes, once that was asked for. */
  readonly watcher: Watcher;
  /** Whether the reader has taken enough of its answers to be given another. */
  hasRoom(): boolean;
  /** It asks for more than it takes, or faster than it can be done. */
  overload(error: ErrorBody): void;
};

/** Questions that may wait for their answers. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

type Numbered = Extract<ClientMessage, { n: number }>;

export const createCommands = (options: CommandsOptions): Commands => {
  const { hub, forest, actor, overload } = options;
  const reads = createReadQueue(options.hasRoom);
  let isClosed = false;

  const send = (message: ServerMessage): void => {
    if (!isClosed) options.send(message);
  };

  const joins = createJoins({ hub, actor, send, sendFrame: options.sendFrame });
  const writing = createWriting({ joins, runtime: options.runtime, actor, send, overload });
  const listing = createListing(hub, actor.principal, options.watcher);
  const wholes = createWholes(forest, joins, actor);

  /** Answered within the read: between the records before it and those after it. */
  const ask = (question: Question): Promise<void> =>
    new Promise((resolve, reject) => {
      const refuseEnded = (): void => {
        send({ type: "refused", n: question.n, error: NOT_JOINED });
        resolve();
      };
      const joined = joins.get(question.ch);
      if (joined === undefined) return refuseEnded();
      joined.session.read((session) => {
        try {
          resolve(send(answerQuestion(session, question)));
        } catch (cause) {
          reject(cause);
        }
      }, refuseEnded);
    });

  /** In its turn, and only while the reader takes its answers (J7). */
  const later = (message: Numbered, bytes: number, work: () => Promise<void>): void => {
    const doWork = (done: () => void): void => {
      work()
        .catch((cause: unknown) => send({ type: "refused", n: message.n, error: errorOf(message, cause) }))
        .finally(done);
    };
    reads.push(doWork, bytes);
    if (reads.bytes > MAX_WAITING_BYTES)
      overload(refusal("overloaded", "unable to keep up; too many answers wait to be taken"));
  };

  return {
    handle: (message, bytes) => {
      switch (message.type) {
        case "join":
          return later(message, bytes, () => joins.join(message));
        case "leave":
          return joins.leave(message.ch);
        case "publish":
        case "claim":
        case "end":
        case "register":
          return writing.write(message, bytes);
        case "append":
          return writing.append(message, bytes);
        case "page":
        case "line":
        case "alternatives":
        case "registers":
        case "context":
        case "usage":
          return later(message, bytes, () => ask(message));
        case "list":
          return later(message, bytes, () => listing.list(message).then(send));
        case "fork":
          return later(message, bytes, () => wholes.fork(message).then(send));
        case "delete":
          return later(message, bytes, () => wholes.delete(message).then(send));
        case "erase":
          return later(message, bytes, () => wholes.erase(message).then(send));
      }
    },
    resume: () => reads.resume(),
    close: () => {
      isClosed = true;
      listing.close();
      writing.close();
      joins.close();
    },
  };
};

const errorOf = (message: Numbered, cause: unknown): ErrorBody =>
  cause instanceof EspalierError
    ? refusal(cause.code, cause.message)
    : refusal("internal", `unable to ${message.type}; ${String(cause)}`);
