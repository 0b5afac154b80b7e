/** What one connection writes: handed to the queue of the session, and acknowledged when it is on disk (D1). */
import {
  type ClientMessage,
  type ErrorBody,
  type Runtime,
  refusal,
  type ServerMessage,
} from "@espalier/shared";
import type { Answer, Command, Decision } from "./decide/decision.js";
import type { Joins } from "./joins.js";
import type { Actor } from "./principal.js";

export type Writing = {
  /** Answered by its `n`. */
  write(message: Written, bytes: number): void;
  /** Answered by `appended`, cumulatively. */
  append(message: AppendMessage, bytes: number): void;
  close(): void;
};

type WritingOptions = {
  readonly joins: Joins;
  readonly runtime: Runtime;
  readonly actor: Actor;
  send(message: ServerMessage): void;
  /** More is to be written than the disk takes. */
  overload(error: ErrorBody): void;
};

/** Commands that may wait for the disk. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

type Of<Type extends ClientMessage["type"]> = Extract<ClientMessage, { type: Type }>;
export type Written = Of<"publish" | "claim" | "end" | "register">;
type AppendMessage = Of<"append">;
type Appended = Extract<ServerMessage, { type: "appended" }>;

export const createWriting = ({ joins, runtime, actor, send, overload }: WritingOptions): Writing => {
  const appendedByEntry = new Map<string, Appended>();
  let waitingBytes = 0;
  let isClosed = false;

  /** Refused before it is queued where it may not. */
  const submit = (
    ch: number,
    bytes: number,
    command: Command,
    respond: (decision: Decision) => void,
  ): void => {
    const joined = joins.get(ch);
    if (joined === undefined) return respond({ type: "refused", error: NOT_JOINED });
    if (!joined.mayWrite) return respond({ type: "refused", error: readOnly(joined.session.id, actor) });
    waitingBytes += bytes;
    joined.session.submit(command, actor, (decision) => {
      waitingBytes -= bytes;
      if (!isClosed) respond(decision);
    });
    if (waitingBytes > MAX_WAITING_BYTES)
      overload(refusal("overloaded", "unable to keep up; too much waits to be written"));
  };

  /** Acknowledgements of appends are cumulative: the last one of a turn says it all (D1). */
  const paceAppended = (appended: Appended): void => {
    if (appendedByEntry.size === 0)
      runtime.defer(() => {
        for (const message of appendedByEntry.values()) send(message);
        appendedByEntry.clear();
      });
    appendedByEntry.set(`${appended.ch}/${appended.id}`, appended);
  };

  return {
    write: (message, bytes) =>
      submit(message.ch, bytes, commandOf(message), (decision) => {
        if (decision.type === "refused")
          return send({ type: "refused", n: message.n, error: decision.error });
        send(acknowledgement(message.n, decision.answer));
      }),
    append: ({ type: _type, ch, ...draft }, bytes) =>
      submit(ch, bytes, { type: "append", append: draft }, (decision) => {
        if (decision.type === "refused")
          return send({ type: "refused", ch, id: draft.id, error: decision.error });
        if (decision.answer.type === "appended") paceAppended({ ch, ...decision.answer });
      }),
    close: () => {
      isClosed = true;
    },
  };
};

export const NOT_JOINED = refusal(
  "not_joined",
  "unable to do that; the session was not joined on this connection",
);

export const readOnly = (id: string, { principal }: Actor): ErrorBody =>
  refusal("forbidden", `unable to write to ${id}; ${principal.id} may only read it`);

const commandOf = (message: Written): Command => {
  switch (message.type) {
    case "publish":
      return { type: "publish", items: message.items, run: message.run };
    case "claim":
      return { type: "claim", id: message.id };
    case "end": {
      const { id, status, usage, error } = message;
      return { type: "end", id, status, usage, error };
    }
    case "register":
      return { type: "register", key: message.key, value: message.value };
  }
};

const acknowledgement = (n: number, answer: Answer): ServerMessage => {
  if (answer.type === "appended") throw new TypeError("an append is not acknowledged by number");
  const { run } = answer;
  return { type: "ack", n, entries: [...answer.entries], ...(run === undefined ? {} : { run }) };
};
