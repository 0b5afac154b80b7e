/** Commands and their answers, told apart by `n`. A connection that ends answers what is left. */
import {
  type ClientMessage,
  type ErrorBody,
  type ErrorCode,
  refusal,
  type ServerMessage,
} from "@espalier/shared";

export type Numbered = Extract<ClientMessage, { n: number }>;
export type Unnumbered = Numbered extends infer M ? (M extends Numbered ? Omit<M, "n"> : never) : never;
export type Answered = Extract<
  ServerMessage,
  {
    type:
      | "joined"
      | "ack"
      | "window"
      | "alternatives"
      | "listed"
      | "registers"
      | "context"
      | "usage"
      | "forked";
  }
>;
export type Reply = Answered | { readonly type: "refused"; readonly error: ErrorBody };

/**
 * Asks, and resolves with the answer. `take` is given it first, before anything that was sent after it: a
 * socket may hand over several messages in one go, and a promise would tell of this one after all of them.
 */
export type Ask<M> = (message: M, take?: (reply: Reply) => void) => Promise<Reply>;

export type Requests = {
  /** Always answered; with what `send` says where it was not sent, with `offline` where the connection ends first. */
  readonly ask: Ask<Unnumbered>;
  /** True where the message was the answer to a command. */
  settle(message: ServerMessage): boolean;
  /** The connection has ended. */
  drop(): void;
};

const DROPPED: Reply = {
  type: "refused",
  error: refusal("offline", "unable to wait for the answer; the connection ended"),
};

export const createRequests = (send: (message: ClientMessage) => ErrorBody | null): Requests => {
  const waiting = new Map<number, (reply: Reply) => void>();
  let nextN = 1;
  return {
    ask: (message, take) =>
      new Promise((resolve) => {
        const n = nextN;
        nextN += 1;
        const answer = (reply: Reply): void => {
          resolve(reply);
          take?.(reply);
        };
        const error = send({ ...message, n } as Numbered);
        if (error === null) waiting.set(n, answer);
        else answer({ type: "refused", error });
      }),
    settle: (message) => {
      if (!("type" in message) || !("n" in message) || message.n === undefined) return false;
      const answer = waiting.get(message.n);
      waiting.delete(message.n);
      answer?.(message as Reply);
      return true;
    },
    drop: () => {
      const dropped = [...waiting.values()];
      waiting.clear();
      for (const answer of dropped) answer(DROPPED);
    },
  };
};

/** Refusals of what was right, by a server that could not do it just then: another try may not meet them. */
export const isPassing = ({ code }: ErrorBody): boolean => PASSING.has(code);
const PASSING: ReadonlySet<ErrorCode> = new Set(["unavailable", "overloaded", "timeout", "internal"]);

export const errorOf = (reply: Reply): ErrorBody | null => (reply.type === "refused" ? reply.error : null);
