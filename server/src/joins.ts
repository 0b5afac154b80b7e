/** The sessions that one connection has joined: each is subscribed to and read in one step (J1). */
import { type ClientMessage, type ErrorBody, refusal, type ServerMessage } from "@espalier/shared";
import type { Frame } from "./frame.js";
import type { Hub } from "./hub.js";
import { answerJoin } from "./join.js";
import { startFault } from "./origin.js";
import { errorFor } from "./origin-fault.js";
import { type Actor, mayDo } from "./principal.js";
import type { Session, SessionRead } from "./session.js";

type Join = Extract<ClientMessage, { type: "join" }>;

export type Joined = { readonly session: Session; readonly mayWrite: boolean };

export type Joins = {
  get(ch: number): Joined | undefined;
  /** Answered when it resolves. */
  join(message: Join): Promise<void>;
  leave(ch: number): void;
  close(): void;
};

type JoinsOptions = {
  readonly hub: Hub;
  readonly actor: Actor;
  send(message: ServerMessage): void;
  sendFrame(frame: Frame): void;
};

/** Sessions that one connection may have joined at once. */
const MAX_JOINED = 1000;

type Joining = Joined & { release(): void };
type Held = Joined & { leave(): void };

export const createJoins = ({ hub, actor, send, sendFrame }: JoinsOptions): Joins => {
  const heldByCh = new Map<number, Held>();
  let isClosed = false;

  const refuse = ({ n }: Join, error: ErrorBody): void => {
    if (!isClosed) send({ type: "refused", n, error: errorFor(error, actor.principal) });
  };

  /** Subscribe and read in one step (J1). A former subscription ends when the new one has begun. */
  const subscribe = (message: Join, { session, mayWrite, release }: Joining, read: SessionRead): void => {
    const { ch } = session;
    const before = heldByCh.get(ch);
    const end = (error: ErrorBody): void => {
      heldByCh.delete(ch);
      release();
      send({ type: "left", ch, error: errorFor(error, actor.principal) });
    };
    const unsubscribe = read.subscribe({ send: sendFrame, end }, actor);
    before?.leave();
    heldByCh.set(ch, {
      session,
      mayWrite,
      leave: () => {
        unsubscribe();
        release();
      },
    });
    send(answerJoin(read, message, ch, actor.principal));
  };

  /** Why it cannot be joined after all, or null. */
  const joinFault = ({ session: id, origin }: Join, session: Session): ErrorBody | null => {
    if (heldByCh.size >= MAX_JOINED && !heldByCh.has(session.ch))
      return refusal("overloaded", `unable to join ${id}; a connection joins at most ${MAX_JOINED}`);
    // Where the session is there, its origin is what its log says.
    return session.isStored || origin === undefined ? null : startFault(id, origin);
  };

  const join = async (message: Join): Promise<void> => {
    const { principal } = actor;
    const { session: id, origin } = message;
    if (!mayDo(principal, "read", id))
      return refuse(message, refusal("forbidden", `unable to join ${id}; ${principal.id} may not read it`));
    const mayWrite = mayDo(principal, "write", id);
    const mayCreate = message.create === true && mayDo(principal, "create", id);
    const opened = await hub.open(id, mayCreate);
    if (opened.type === "refused") return refuse(message, opened.error);
    const { session, release } = opened;
    const error = joinFault(message, session) ?? (session.isStored ? null : await hub.beginFault(id));
    if (isClosed || error !== null) {
      release();
      return error === null ? undefined : refuse(message, error);
    }
    if (origin !== undefined) session.beginFrom(origin);
    return new Promise((resolve) =>
      session.read(
        (read) => {
          if (isClosed) release();
          else subscribe(message, { session, mayWrite, release }, read);
          resolve();
        },
        (reason) => {
          release();
          refuse(message, reason);
          resolve();
        },
      ),
    );
  };

  return {
    get: (ch) => heldByCh.get(ch),
    join,
    leave: (ch) => {
      heldByCh.get(ch)?.leave();
      heldByCh.delete(ch);
    },
    close: () => {
      isClosed = true;
      for (const held of [...heldByCh.values()]) held.leave();
      heldByCh.clear();
    },
  };
};
