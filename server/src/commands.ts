/**
 * What a connection's commands do: join and leave sessions, read windows of them, and hand what is to be
 * written to the session's queue. Each command with `n` is answered once.
 */
import {
  type ClientMessage,
  type EntryId,
  type ErrorBody,
  type Runtime,
  refusal,
  type ServerMessage,
  type SessionSummary,
  type TreeNode,
} from "@espalier/shared";
import type { Answer, Command, Decision } from "./decide/decision.js";
import type { Frame } from "./frame.js";
import type { Hub } from "./hub.js";
import { answerJoin } from "./join.js";
import { type Actor, mayDo } from "./principal.js";
import { createReadQueue } from "./read-queue.js";
import type { Session, SessionRead } from "./session.js";
import { addLine, alternativesFrom, alternativesOf, createWindow, leafOf, sortedEntries } from "./window.js";

export type Commands = {
  /** `bytes`: about how much the message took. */
  handle(message: Exclude<ClientMessage, { type: "hello" | "ping" }>, bytes: number): void;
  /** The reader has taken something: what it asked to read may go on. */
  resume(): void;
  close(): void;
};

type CommandsOptions = {
  readonly hub: Hub;
  readonly runtime: Runtime;
  readonly actor: Actor;
  send(message: ServerMessage): void;
  sendFrame(frame: Frame): void;
  sendSummary(summary: SessionSummary): void;
  /** Whether the reader has taken enough of its answers to be given another. */
  hasRoom(): boolean;
  /** It asks for more than it takes, or faster than it can be done. */
  overload(error: ErrorBody): void;
};

/** Sessions that one connection may have joined at once. */
const MAX_JOINED = 1000;
/** Questions that may wait for their answers, and commands that may wait for the disk. */
const MAX_WAITING_READ_BYTES = 4 * 1024 * 1024;
const MAX_WAITING_WRITE_BYTES = 64 * 1024 * 1024;
/** What is asked of the store at once, where only some of it may be shown. */
const LIST_PAGE = 1000;

type Of<Type extends ClientMessage["type"]> = Extract<ClientMessage, { type: Type }>;
type Numbered = Extract<ClientMessage, { n: number }>;
type Appended = Extract<ServerMessage, { type: "appended" }>;

type Joining = { readonly session: Session; readonly mayWrite: boolean; release(): void };
type Joined = { readonly session: Session; readonly mayWrite: boolean; leave(): void };

export const createCommands = (options: CommandsOptions): Commands => {
  const { hub, runtime, actor, send } = options;
  const reads = createReadQueue(options.hasRoom);
  const joinedByCh = new Map<number, Joined>();
  const appendedByEntry = new Map<string, Appended>();
  let unwatch: (() => void) | null = null;
  let writeBytes = 0;
  let isClosed = false;

  const refuse = (message: { n: number }, error: ErrorBody): void =>
    send({ type: "refused", n: message.n, error });

  const join = async (message: Of<"join">): Promise<void> => {
    const { principal } = actor;
    const id = message.session;
    if (!mayDo(principal, "read", id))
      return refuse(message, refusal("forbidden", `unable to join ${id}; ${principal.id} may not read it`));
    const mayWrite = mayDo(principal, "write", id);
    const mayCreate = message.create === true && mayDo(principal, "create", id);
    const opened = await hub.open(id, mayCreate);
    if (opened.type === "refused") return isClosed ? undefined : refuse(message, opened.error);
    const { session, release } = opened;
    if (isClosed) return release();
    if (joinedByCh.size >= MAX_JOINED && !joinedByCh.has(session.ch)) {
      release();
      const reason = `unable to join ${id}; a connection joins at most ${MAX_JOINED}`;
      return refuse(message, refusal("overloaded", reason));
    }
    return new Promise((resolve) =>
      session.read(
        (read) => {
          if (isClosed) release();
          else subscribe(message, { session, mayWrite, release }, read);
          resolve();
        },
        (error) => {
          release();
          if (!isClosed) refuse(message, error);
          resolve();
        },
      ),
    );
  };

  /** Subscribe and read in one step (J1). A former subscription ends when the new one has begun. */
  const subscribe = (
    message: Of<"join">,
    { session, mayWrite, release }: Joining,
    read: SessionRead,
  ): void => {
    const { ch } = session;
    const before = joinedByCh.get(ch);
    const end = (error: ErrorBody): void => {
      joinedByCh.delete(ch);
      release();
      send({ type: "left", ch, error });
    };
    const unsubscribe = read.subscribe({ send: options.sendFrame, end }, actor);
    before?.leave();
    joinedByCh.set(ch, {
      session,
      mayWrite,
      leave: () => {
        unsubscribe();
        release();
      },
    });
    send(answerJoin(read, message, ch));
  };

  const leave = ({ ch }: Of<"leave">): void => {
    joinedByCh.get(ch)?.leave();
    joinedByCh.delete(ch);
  };

  const readJoined = (
    message: Numbered & { ch: number },
    read: (session: SessionRead) => ServerMessage,
  ): Promise<void> => {
    const joined = joinedByCh.get(message.ch);
    return new Promise((resolve) => {
      const refuseEnded = (): void => {
        if (!isClosed) refuse(message, NOT_JOINED);
        resolve();
      };
      if (joined === undefined) return refuseEnded();
      joined.session.read((session) => {
        if (!isClosed) send(read(session));
        resolve();
      }, refuseEnded);
    });
  };

  const page = (message: Of<"page">): Promise<void> =>
    readJoined(message, (session) => {
      const node = session.state.tree.get(message.before);
      if (node === undefined) return notFound(message, message.before);
      return windowUpTo(session, message, node.parent);
    });

  const line = (message: Of<"line">): Promise<void> =>
    readJoined(message, (session) => {
      const { tree } = session.state;
      const [first] = message.candidates;
      const isKnown = message.candidates.some((id) => id === null || tree.get(id) !== undefined);
      if (!isKnown && first !== undefined) return notFound(message, first);
      return windowUpTo(session, message, leafOf(session.state, message));
    });

  const alternatives = (message: Of<"alternatives">): Promise<void> =>
    readJoined(message, ({ state, epoch }) => ({
      type: "alternatives",
      n: message.n,
      epoch,
      head: state.head,
      ...alternativesFrom(state.tree, message.parentId, message.from, message.limit),
    }));

  /** A command that writes; refused before it is queued where it may not. */
  const submit = (
    ch: number,
    bytes: number,
    command: Command,
    respond: (decision: Decision) => void,
  ): void => {
    const joined = joinedByCh.get(ch);
    if (joined === undefined) return respond({ type: "refused", error: NOT_JOINED });
    if (!joined.mayWrite) {
      const reason = `unable to write to ${joined.session.id}; ${actor.principal.id} may only read it`;
      return respond({ type: "refused", error: refusal("forbidden", reason) });
    }
    writeBytes += bytes;
    joined.session.submit(command, actor, (decision) => {
      writeBytes -= bytes;
      if (!isClosed) respond(decision);
    });
    if (writeBytes > MAX_WAITING_WRITE_BYTES)
      options.overload(refusal("overloaded", "unable to keep up; too much waits to be written"));
  };

  const write = (message: Numbered & { ch: number }, bytes: number, command: Command): void =>
    submit(message.ch, bytes, command, (decision) => {
      if (decision.type === "refused") return refuse(message, decision.error);
      send(acknowledgement(message.n, decision.answer));
    });

  const append = ({ type: _type, ch, ...draft }: Of<"append">, bytes: number): void =>
    submit(ch, bytes, { type: "append", append: draft }, (decision) => {
      if (decision.type === "refused")
        return send({ type: "refused", ch, id: draft.id, error: decision.error });
      if (decision.answer.type === "appended") paceAppended({ ch, ...decision.answer });
    });

  /** Acknowledgements of appends are cumulative: the last one of a turn says it all (D1). */
  const paceAppended = (appended: Appended): void => {
    if (appendedByEntry.size === 0)
      runtime.defer(() => {
        for (const message of appendedByEntry.values()) send(message);
        appendedByEntry.clear();
      });
    appendedByEntry.set(`${appended.ch}/${appended.id}`, appended);
  };

  const list = async (message: Of<"list">): Promise<void> => {
    if (message.watch === true && !isClosed)
      unwatch ??= hub.watch((summary) => {
        if (mayDo(actor.principal, "read", summary.id)) options.sendSummary(summary);
      });
    const sessions: SessionSummary[] = [];
    let { after } = message;
    for (;;) {
      const found = await hub.list({ limit: LIST_PAGE, after });
      const readable = found.sessions.filter(({ id }) => mayDo(actor.principal, "read", id));
      const room = message.limit - sessions.length;
      sessions.push(...readable.slice(0, room));
      const more = found.more || readable.length > room;
      after = found.sessions.at(-1)?.id;
      if (sessions.length >= message.limit || !found.more) {
        if (!isClosed) send({ type: "listed", n: message.n, sessions, more });
        return;
      }
    }
  };

  const read = (message: Numbered, bytes: number, work: () => Promise<void>): void => {
    const doWork = (done: () => void): void => {
      work()
        .catch((cause: unknown) => {
          if (!isClosed) refuse(message, refusal("internal", `unable to ${message.type}; ${String(cause)}`));
        })
        .finally(done);
    };
    reads.push(doWork, bytes);
    if (reads.bytes > MAX_WAITING_READ_BYTES)
      options.overload(refusal("overloaded", "unable to keep up; too many answers wait to be taken"));
  };

  return {
    handle: (message, bytes) => {
      switch (message.type) {
        case "join":
          return read(message, bytes, () => join(message));
        case "leave":
          return leave(message);
        case "publish":
          return write(message, bytes, { type: "publish", items: message.items, run: message.run });
        case "append":
          return append(message, bytes);
        case "claim":
          return write(message, bytes, { type: "claim", id: message.id });
        case "end": {
          const { id, status, usage, error } = message;
          return write(message, bytes, { type: "end", id, status, usage, error });
        }
        case "register":
          return write(message, bytes, { type: "register", key: message.key, value: message.value });
        case "page":
          return read(message, bytes, () => page(message));
        case "line":
          return read(message, bytes, () => line(message));
        case "alternatives":
          return read(message, bytes, () => alternatives(message));
        case "list":
          return read(message, bytes, () => list(message));
      }
    },
    resume: () => reads.resume(),
    close: () => {
      isClosed = true;
      unwatch?.();
      for (const joined of [...joinedByCh.values()]) joined.leave();
      joinedByCh.clear();
    },
  };
};

const NOT_JOINED = refusal("not_joined", "unable to do that; the session was not joined on this connection");

const notFound = ({ n }: { n: number }, id: EntryId | null): ServerMessage => ({
  type: "refused",
  n,
  error: refusal("not_found", `unable to read; there is no entry ${id}`),
});

const windowUpTo = (
  { state, epoch }: SessionRead,
  { n, limit }: { n: number; limit: number },
  leaf: TreeNode | null,
): ServerMessage => {
  const window = createWindow();
  addLine(window, state.tree, leaf, limit);
  return {
    type: "window",
    n,
    epoch,
    head: state.head,
    leaf: leaf?.entry.id ?? null,
    entries: sortedEntries(window),
    alternatives: alternativesOf(window),
  };
};

const acknowledgement = (n: number, answer: Answer): ServerMessage => {
  if (answer.type === "appended") throw new TypeError("an append is not acknowledged by number");
  const { run } = answer;
  return { type: "ack", n, entries: [...answer.entries], ...(run === undefined ? {} : { run }) };
};
