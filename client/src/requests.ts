/** Commands and their answers, told apart by `n`. A connection that ends answers what is left. */
import { type ClientMessage, type ErrorBody, refusal, type ServerMessage } from "@espalier/shared";

export type Numbered = Extract<ClientMessage, { n: number }>;
export type Unnumbered = Numbered extends infer M ? (M extends Numbered ? Omit<M, "n"> : never) : never;
export type Answered = Extract<
  ServerMessage,
  { type: "joined" | "ack" | "window" | "alternatives" | "listed" }
>;
export type Reply = Answered | { readonly type: "refused"; readonly error: ErrorBody };

/**
 * Asks, and resolves with the answer. `take` is given it first, before anything that was sent after it: a
 * socket may hand over several messages in one go, and a promise would tell of this one after all of them.
 */
export type Ask<M> = (message: M, take?: (reply: Reply) => void) => Promise<Reply>;

export type Requests = {
  /** Always answered; with `offline` where there is no connection, or it ends first. */
  readonly ask: Ask<Unnumbered>;
  /** True where the message was the answer to a command. */
  settle(message: ServerMessage): boolean;
  /** The connection has ended. */
  drop(): void;
};

const OFFLINE: Reply = {
  type: "refused",
  error: refusal("offline", "unable to ask; there is no connection"),
};

export const createRequests = (send: (message: ClientMessage) => boolean): Requests => {
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
        if (send({ ...message, n } as Numbered)) waiting.set(n, answer);
        else answer(OFFLINE);
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
      for (const answer of dropped) answer(OFFLINE);
    },
  };
};

export const errorOf = (reply: Reply): ErrorBody | null => (reply.type === "refused" ? reply.error : null);
