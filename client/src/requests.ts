/** Commands and their answers, told apart by `n`. A connection that ends answers what is left. */
import { type ClientMessage, type ErrorBody, refusal, type ServerMessage } from "@espalier/shared";

export type Numbered = Extract<ClientMessage, { n: number }>;
export type Unnumbered = Numbered extends infer M ? (M extends Numbered ? Omit<M, "n"> : never) : never;
export type Answered = Extract<
  ServerMessage,
  { type: "joined" | "ack" | "window" | "alternatives" | "listed" }
>;
export type Reply = Answered | { readonly type: "refused"; readonly error: ErrorBody };

export type Requests = {
  /** Always answered; with `offline` where there is no connection, or it ends first. */
  ask(message: Unnumbered): Promise<Reply>;
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
    ask: (message) =>
      new Promise((resolve) => {
        const n = nextN;
        nextN += 1;
        if (!send({ ...message, n } as Numbered)) return resolve(OFFLINE);
        waiting.set(n, resolve);
      }),
    settle: (message) => {
      if (!("type" in message) || !("n" in message) || message.n === undefined) return false;
      const resolve = waiting.get(message.n);
      waiting.delete(message.n);
      resolve?.(message as Reply);
      return true;
    },
    drop: () => {
      const dropped = [...waiting.values()];
      waiting.clear();
      for (const resolve of dropped) resolve(OFFLINE);
    },
  };
};

export const errorOf = (reply: Reply): ErrorBody | null => (reply.type === "refused" ? reply.error : null);
