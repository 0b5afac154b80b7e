/**
 * One socket: hello first, then commands. Messages are decoded and checked here, and what the reader has
 * not taken yet waits here, bounded (J7). What the commands mean is in `commands.ts`.
 *
 *     hello ─► (authenticate) ─► open ─► closed
 */
import {
  type ClientMessage,
  ERRORS,
  type ErrorBody,
  isAppendMessage,
  isPrincipalId,
  jsonFault,
  MESSAGE_BYTES,
  PROTOCOL_VERSION,
  type Runtime,
  refusal,
  type ServerMessage,
} from "@espalier/shared";
import { clientMessageSchema } from "@espalier/shared/schema";
import { type Commands, createCommands } from "./commands.js";
import type { Forest } from "./forest.js";
import type { Hub } from "./hub.js";
import { createOutbox } from "./outbox.js";
import { type Authenticate, type AuthRequest, isRefusal, type SignedIn } from "./principal.js";
import type { ServerSocket, SocketHandler } from "./socket.js";

const HELLO_MS = 10_000;
const MAX_EARLY = 64;
const PING_MS = 15_000;
/** Longer than two pings; a dead peer is found within 35 s (J5). */
const SILENCE_MS = 34_000;
/** Handed to the socket at once; what is more waits in the outbox, where it can be merged. */
const IN_FLIGHT_BYTES = 64 * 1024;
/** Records that may wait for one reader. Larger than the longest tail of a join (J2). */
const OUTBOX_BYTES = 4 * 1024 * 1024;
/** While more than this waits in answers, no further question is answered. */
const ANSWER_ROOM_BYTES = 1024 * 1024;
/** Out of reach for who takes its answers: room for several of the largest, and what is acknowledged meanwhile. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export type ConnectionOptions = {
  readonly socket: ServerSocket;
  readonly request: Omit<AuthRequest, "token">;
  readonly hub: Hub;
  readonly forest: Forest;
  readonly runtime: Runtime;
  readonly authenticate: Authenticate;
  readonly graceMs: number;
  /** Hears what went wrong on this side. */
  readonly onTrouble: (error: Error) => void;
  readonly onClosed: () => void;
};

type Command = Exclude<ClientMessage, { type: "hello" | "ping" }>;
type Hello = Extract<ClientMessage, { type: "hello" }>;

export type Connection = SocketHandler & {
  /** Hears no more commands; those that were heard are still answered. */
  stopHearing(): void;
  /** Ends it from this side; the other side is told why. */
  close(error: ErrorBody, code?: number): void;
};

export const createConnection = (options: ConnectionOptions): Connection => {
  const { socket, hub, forest, runtime, authenticate, graceMs, onTrouble, onClosed } = options;
  const outbox = createOutbox();
  /** Commands that came while their sender was being signed in. */
  const early: { message: Command; bytes: number }[] = [];
  let commands: Commands | null = null;
  let isGreeted = false;
  let isHearing = true;
  let isClosed = false;
  let inFlight = 0;
  let heardAt = runtime.elapsed();
  let cancelTimer = runtime.setTimer(HELLO_MS, () =>
    close(refusal("timeout", "unable to go on; no hello came")),
  );

  const pump = (): void => {
    while (!isClosed && inFlight < IN_FLIGHT_BYTES) {
      const text = outbox.take();
      if (text === undefined) return;
      inFlight += text.length;
      socket.send(text, () => {
        inFlight -= text.length;
        if (!outbox.isEmpty) pump();
        if (!isClosed) commands?.resume();
      });
    }
  };

  const send = (message: ServerMessage): void => {
    if (isClosed) return;
    outbox.pushAnswer(JSON.stringify(message));
    pump();
    if (outbox.answerBytes > MAX_ANSWER_BYTES) close(TOO_SLOW);
  };

  const finish = (): void => {
    if (isClosed) return;
    isClosed = true;
    cancelTimer();
    commands?.close();
    onClosed();
  };

  const close = (error: ErrorBody, code = closeCodeOf(error)): void => {
    if (isClosed) return;
    socket.send(JSON.stringify({ type: "refused", error } satisfies ServerMessage), () => {});
    socket.close(code, error.code);
    finish();
  };

  const watchSilence = (): void => {
    const silentMs = runtime.elapsed() - heardAt;
    cancelTimer = runtime.setTimer(Math.min(PING_MS, SILENCE_MS - silentMs), () => {
      if (runtime.elapsed() - heardAt >= SILENCE_MS) {
        socket.terminate();
        finish();
        return;
      }
      socket.ping();
      watchSilence();
    });
  };

  const greet = async ({ protocol, writer, token }: Hello): Promise<void> => {
    if (protocol !== PROTOCOL_VERSION)
      return close(
        refusal(
          "protocol",
          `unable to talk; this server speaks protocol ${PROTOCOL_VERSION}, not ${protocol}`,
        ),
      );
    const answer = await authenticate({ ...options.request, token });
    if (isClosed) return;
    if (isRefusal(answer)) return close(answer, ERRORS.unauthorized.close);
    if (!isPrincipalId(answer.id)) throw new RangeError(`${JSON.stringify(answer.id)} is no principal's id`);
    const principal = answer as SignedIn;
    cancelTimer();
    watchSilence();
    commands = createCommands({
      hub,
      forest,
      runtime,
      actor: { principal, writer },
      send,
      sendFrame: (frame) => {
        if (isClosed) return;
        outbox.pushFrame(frame);
        pump();
        if (outbox.bytes > OUTBOX_BYTES) close(TOO_SLOW);
      },
      watcher: {
        changed: (summary) => {
          outbox.pushSummary(summary);
          pump();
        },
        gone: (id) => {
          outbox.pushGone(id);
          pump();
        },
      },
      hasRoom: () => !isClosed && outbox.answerBytes <= ANSWER_ROOM_BYTES,
      overload: close,
    });
    send({ type: "welcome", protocol: PROTOCOL_VERSION, principal: principal.id, graceMs });
    for (const { message, bytes } of early.splice(0)) commands.handle(message, bytes);
  };

  const receive = (message: ClientMessage, bytes: number): void => {
    if (message.type === "ping") return send({ type: "pong" });
    if (message.type === "hello") {
      if (isGreeted) return close(refusal("invalid", "unable to go on; hello came twice"));
      isGreeted = true;
      greet(message).catch((cause: unknown) => {
        // What went wrong is for the server's owner; a stranger learns nothing of it.
        onTrouble(new Error("unable to sign somebody in", { cause }));
        close(refusal("internal", "unable to sign in; the server failed, try again"));
      });
      return;
    }
    if (!isGreeted) return close(refusal("invalid", "unable to go on; hello comes first"));
    if (commands !== null) return commands.handle(message, bytes);
    early.push({ message, bytes });
    if (early.length > MAX_EARLY)
      close(refusal("overloaded", "unable to go on; too much came before the welcome"));
  };

  return {
    message: (text) => {
      if (isClosed || !isHearing) return;
      heardAt = runtime.elapsed();
      const decoded = decode(text);
      if (decoded.type === "ok") return receive(decoded.message, text.length);
      if (decoded.answer === undefined || commands === null) return close(decoded.error);
      send({ type: "refused", ...decoded.answer, error: decoded.error });
    },
    heard: () => {
      heardAt = runtime.elapsed();
    },
    closed: finish,
    stopHearing: () => {
      isHearing = false;
    },
    close,
  };
};

const TOO_SLOW = refusal("overloaded", "unable to keep up; the reader is too slow, join again");

const closeCodeOf = ({ code }: ErrorBody): number => {
  const info = ERRORS[code];
  return "close" in info ? info.close : ERRORS.internal.close;
};

type Decoded =
  | { type: "ok"; message: ClientMessage }
  /** `answer` says which command is refused; without it the connection cannot go on. */
  | { type: "refused"; error: ErrorBody; answer?: { n: number } | { ch: number; id: never } };

const decode = (text: string): Decoded => {
  if (text.length > MESSAGE_BYTES)
    return {
      type: "refused",
      error: refusal("too_large", `unable to read a message; it holds at most ${MESSAGE_BYTES} bytes`),
    };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { type: "refused", error: refusal("invalid", "unable to read a message; it is not JSON") };
  }
  const fault = jsonFault(value);
  if (fault !== null)
    return {
      type: "refused",
      error: refusal("invalid", `unable to read a message; ${fault}`),
      ...answerTo(value),
    };
  // Appends come once a token: a check by hand takes a tenth of the schema's time.
  if (isAppendMessage(value)) return { type: "ok", message: value };
  // What was sent is handed on, not what the schema made of it: that leaves out a key such as `__proto__`.
  const checked = clientMessageSchema.safeParse(value);
  if (checked.success) return { type: "ok", message: value as ClientMessage };
  if (isHelloOfOtherVersion(value)) return { type: "ok", message: value };
  const [issue] = checked.error.issues;
  const reason =
    issue === undefined ? "it has the wrong shape" : `${issue.path.join(".") || "it"}: ${issue.message}`;
  return {
    type: "refused",
    error: refusal("invalid", `unable to read a message; ${reason}`),
    ...answerTo(value),
  };
};

/** Another version's `hello` may look otherwise; it is told which version this is. */
const isHelloOfOtherVersion = (value: unknown): value is Hello => {
  if (typeof value !== "object" || value === null) return false;
  const { type, protocol } = value as Record<string, unknown>;
  return type === "hello" && Number.isSafeInteger(protocol) && protocol !== PROTOCOL_VERSION;
};

const answerTo = (value: unknown): { answer?: { n: number } | { ch: number; id: never } } => {
  if (typeof value !== "object" || value === null) return {};
  const { n, ch, id, type } = value as Record<string, unknown>;
  if (Number.isSafeInteger(n) && (n as number) >= 0) return { answer: { n: n as number } };
  const isAppend = type === "append" && Number.isSafeInteger(ch) && typeof id === "string";
  return isAppend ? { answer: { ch: ch as number, id: id as never } } : {};
};
