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
import type { Session, SessionRead } from "./session.js";
import { addLine, alternativesFrom, createWindow, leafOf, sortedEntries } from "./window.js";

export type Commands = {
  handle(message: Exclude<ClientMessage, { type: "hello" | "ping" }>): void;
  close(): void;
};

type CommandsOptions = {
  readonly hub: Hub;
  readonly runtime: Runtime;
  readonly actor: Actor;
  send(message: ServerMessage): void;
  sendFrame(frame: Frame): void;
};

type Of<Type extends ClientMessage["type"]> = Extract<ClientMessage, { type: Type }>;
type Numbered = Extract<ClientMessage, { n: number }>;
type Appended = Extract<ServerMessage, { type: "appended" }>;
type Alternatives = Extract<ServerMessage, { type: "window" }>["alternatives"];

type Joined = { readonly session: Session; readonly mayWrite: boolean; leave(): void };

export const createCommands = ({ hub, runtime, actor, send, sendFrame }: CommandsOptions): Commands => {
  const joinedByCh = new Map<number, Joined>();
  const appendedByEntry = new Map<string, Appended>();
  let unwatch: (() => void) | null = null;
  let isClosed = false;

  const refuse = (message: { n: number }, error: ErrorBody): void =>
    send({ type: "refused", n: message.n, error });

  const join = async (message: Of<"join">): Promise<void> => {
    const { principal, writer } = actor;
    const id = message.session;
    if (!mayDo(principal, "read", id))
      return refuse(message, refusal("forbidden", `unable to join ${id}; ${principal.id} may not read it`));
    const mayCreate = message.create === true && mayDo(principal, "create", id);
    const opened = await hub.open(id, mayCreate);
    if (opened.type === "refused") return isClosed ? undefined : refuse(message, opened.error);
    const { session, release } = opened;
    if (isClosed) return release();
    session.read((read) => {
      if (isClosed) return release();
      const before = joinedByCh.get(session.ch);
      const end = (error: ErrorBody): void => {
        joinedByCh.delete(session.ch);
        release();
        send({ type: "left", ch: session.ch, error });
      };
      const unsubscribe = read.subscribe({ send: sendFrame, end }, writer);
      before?.leave();
      joinedByCh.set(session.ch, {
        session,
        mayWrite: mayDo(principal, "write", id),
        leave: () => {
          unsubscribe();
          release();
        },
      });
      send(answerJoin(read, message, session.ch));
    });
  };

  const leave = ({ ch }: Of<"leave">): void => {
    joinedByCh.get(ch)?.leave();
    joinedByCh.delete(ch);
  };

  const readJoined = (
    message: Numbered & { ch: number },
    read: (session: SessionRead) => ServerMessage,
  ): void => {
    const joined = joinedByCh.get(message.ch);
    if (joined === undefined) return refuse(message, NOT_JOINED);
    joined.session.read((session) => {
      if (!isClosed) send(read(session));
    });
  };

  const page = (message: Of<"page">): void =>
    readJoined(message, (session) => {
      const node = session.state.tree.get(message.before);
      if (node === undefined) return notFound(message, message.before);
      return windowUpTo(session, message, node.parent);
    });

  const line = (message: Of<"line">): void =>
    readJoined(message, (session) => {
      const { tree } = session.state;
      const [first] = message.candidates;
      const isKnown = message.candidates.some((id) => id === null || tree.get(id) !== undefined);
      if (!isKnown && first !== undefined) return notFound(message, first);
      return windowUpTo(session, message, leafOf(tree, message));
    });

  const alternatives = (message: Of<"alternatives">): void =>
    readJoined(message, ({ state, epoch }) => ({
      type: "alternatives",
      n: message.n,
      epoch,
      head: state.head,
      ...alternativesFrom(state.tree, message.parentId, message.from, message.limit),
    }));

  /** A command that writes; refused before it is queued where it may not. */
  const submit = (ch: number, command: Command, respond: (decision: Decision) => void): void => {
    const joined = joinedByCh.get(ch);
    if (joined === undefined) return respond({ type: "refused", error: NOT_JOINED });
    if (!joined.mayWrite) {
      const reason = `unable to write to ${joined.session.id}; ${actor.principal.id} may only read it`;
      return respond({ type: "refused", error: refusal("forbidden", reason) });
    }
    joined.session.submit(command, actor, respond);
  };

  const write = (message: Numbered & { ch: number }, command: Command): void =>
    submit(message.ch, command, (decision) => {
      if (isClosed) return;
      if (decision.type === "refused") return refuse(message, decision.error);
      send(acknowledgement(message.n, decision.answer));
    });

  const append = ({ type: _type, ch, ...draft }: Of<"append">): void =>
    submit(ch, { type: "append", append: draft }, (decision) => {
      if (isClosed) return;
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
    if (message.watch === true)
      unwatch ??= hub.watch((summary) => {
        if (mayDo(actor.principal, "read", summary.id)) send({ type: "sessions", sessions: [summary] });
      });
    const sessions: SessionSummary[] = [];
    let { after } = message;
    for (;;) {
      const found = await hub.list({ limit: message.limit, after });
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

  const orRefuse = (message: Numbered, work: Promise<void>): void => {
    work.catch((cause: unknown) => {
      if (!isClosed) refuse(message, refusal("internal", `unable to ${message.type}; ${String(cause)}`));
    });
  };

  return {
    handle: (message) => {
      switch (message.type) {
        case "join":
          return orRefuse(message, join(message));
        case "leave":
          return leave(message);
        case "publish":
          return write(message, { type: "publish", items: message.items, run: message.run });
        case "append":
          return append(message);
        case "claim":
          return write(message, { type: "claim", id: message.id });
        case "end": {
          const { id, status, usage, error } = message;
          return write(message, { type: "end", id, status, usage, error });
        }
        case "register":
          return write(message, { type: "register", key: message.key, value: message.value });
        case "page":
          return page(message);
        case "line":
          return line(message);
        case "alternatives":
          return alternatives(message);
        case "list":
          return orRefuse(message, list(message));
      }
    },
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
    entries: sortedEntries(window) as Extract<ServerMessage, { type: "window" }>["entries"],
    alternatives: window.alternatives as Alternatives,
  };
};

const acknowledgement = (n: number, answer: Answer): ServerMessage => {
  if (answer.type === "appended") throw new TypeError("an append is not acknowledged by number");
  const { run } = answer;
  return { type: "ack", n, entries: [...answer.entries], ...(run === undefined ? {} : { run }) };
};
