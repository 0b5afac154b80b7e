/** What one connection asks to be done to sessions as wholes, where it may: fork, delete, and erase across them. */
import {
  type ClientMessage,
  type ErrorBody,
  refusal,
  type ServerMessage,
  type SessionId,
} from "@espalier/shared";
import type { Forest } from "./forest.js";
import type { Joins } from "./joins.js";
import { errorFor } from "./origin-fault.js";
import { type Actor, mayDo, type Right } from "./principal.js";
import { NOT_JOINED, readOnly } from "./writing.js";

type Of<Type extends ClientMessage["type"]> = Extract<ClientMessage, { type: Type }>;

type Wholes = {
  fork(message: Of<"fork">): Promise<ServerMessage>;
  delete(message: Of<"delete">): Promise<ServerMessage>;
  erase(message: Of<"erase">): Promise<ServerMessage>;
};

export const createWholes = (forest: Forest, joins: Joins, actor: Actor): Wholes => {
  const { principal } = actor;

  const rightFault = (right: Right, id: SessionId): ErrorBody | null =>
    mayDo(principal, right, id)
      ? null
      : refusal("forbidden", `unable to ${right} ${id}; ${principal.id} may not`);

  const answer = (n: number, error: ErrorBody | null): ServerMessage =>
    error === null
      ? { type: "ack", n, entries: [] }
      : { type: "refused", n, error: errorFor(error, principal) };

  return {
    fork: async ({ n, session, from, mode }) => {
      const error = rightFault("read", from.session) ?? rightFault("create", session);
      const forked = error ?? (await forest.fork({ session, from, mode }));
      return "code" in forked
        ? { type: "refused", n, error: errorFor(forked, principal) }
        : { type: "forked", n, session, entry: forked.entry };
    },
    delete: async ({ n, session }) =>
      answer(n, rightFault("delete", session) ?? (await forest.delete(session))),
    erase: async ({ n, ch, id }) => {
      const joined = joins.get(ch);
      if (joined === undefined) return answer(n, NOT_JOINED);
      if (!joined.mayWrite) return answer(n, readOnly(joined.session.id, actor));
      if (principal.admin !== true)
        return answer(n, refusal("forbidden", `unable to erase ${id}; ${principal.id} is no admin`));
      return answer(n, await forest.erase(joined.session.id, id, actor));
    },
  };
};
