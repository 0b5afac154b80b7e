/** Carries out what the table in `link-state.ts` says: sockets, timers, tokens. Holds no policy. */
import {
  type ClientMessage,
  type ErrorBody,
  MESSAGE_BYTES,
  PROTOCOL_VERSION,
  type Runtime,
  refusal,
  type ServerMessage,
  type WriterId,
} from "@espalier/shared";
import { LINK_OFF, type LinkEffect, type LinkEvent, type LinkState, stepLink } from "./link-state.js";
import type { WebSocketConstructor, WebSocketLike } from "./socket.js";

export type LinkOptions = {
  readonly url: string;
  readonly writer: WriterId;
  readonly getToken: () => string | undefined | Promise<string | undefined>;
  readonly WebSocket: WebSocketConstructor;
  readonly runtime: Runtime;
  readonly onMessage: (message: ServerMessage) => void;
  readonly onState: (state: LinkState) => void;
};

export type Link = {
  readonly state: LinkState;
  /** Connects; also after a refusal, with a new token. */
  start(): void;
  stop(): void;
  /** The page was shown, or the network came back: look at once. */
  wake(): void;
  /** Null where it was handed to the connection; else why it was not. */
  send(message: ClientMessage): ErrorBody | null;
};

export const createLink = (options: LinkOptions): Link => {
  const { runtime } = options;
  let state = LINK_OFF;
  let socket: WebSocketLike | null = null;
  let cancelTimer: (() => void) | null = null;
  let token: string | undefined;
  let heardAt = 0;

  const dispatch = (event: LinkEvent): void => {
    const before = state;
    const step = stepLink(state, event, { now: runtime.elapsed(), chance: runtime.random() });
    state = step.state;
    for (const effect of step.effects) carryOut(effect);
    if (before.name !== state.name) options.onState(state);
  };

  const getToken = async (connection: number): Promise<void> => {
    let given: string | undefined;
    try {
      given = await options.getToken();
    } catch (cause) {
      const error = refusal("unauthorized", `unable to get a token; ${String(cause)}`);
      return dispatch({ type: "noToken", connection, error });
    }
    dispatch({ type: "token", connection, token: given });
  };

  const open = (connection: number): void => {
    let opened: WebSocketLike;
    try {
      opened = new options.WebSocket(options.url);
    } catch (cause) {
      const error = refusal("offline", `unable to connect to ${options.url}; ${String(cause)}`);
      runtime.defer(() => dispatch({ type: "dropped", connection, error }));
      return;
    }
    socket = opened;
    opened.onopen = () => dispatch({ type: "opened", connection });
    opened.onmessage = ({ data }) => receive(connection, data);
    opened.onerror = ignoreError;
    opened.onclose = ({ code }) => {
      const error = refusal(
        "offline",
        `unable to go on; the connection to ${options.url} was closed (${code})`,
      );
      dispatch({ type: "dropped", connection, error });
    };
  };

  const receive = (connection: number, data: unknown): void => {
    if (connection !== state.connection) return;
    const message = parse(data);
    if (message === null) return dropSenseless(connection);
    heard(connection);
    try {
      take(connection, message);
    } catch (cause) {
      // It has not the shape that was promised. Listeners cannot throw this far.
      dropSenseless(connection, cause);
    }
  };

  const dropSenseless = (connection: number, cause?: unknown): void => {
    const reason = cause === undefined ? "" : ` (${String(cause)})`;
    const error = refusal("invalid", `unable to go on; the server sent what makes no sense${reason}`);
    dispatch({ type: "dropped", connection, error });
  };

  const take = (connection: number, message: ServerMessage): void => {
    if (!("type" in message)) return options.onMessage(message);
    if (message.type === "pong") return;
    if (message.type === "refused" && message.n === undefined && message.id === undefined)
      return dispatch({ type: "refused", connection, error: message.error });
    // The welcome is told before the state: whoever hears of `live` may ask who they are.
    options.onMessage(message);
    if (message.type === "welcome") dispatch({ type: "welcome", connection });
  };

  /** While nobody waits for a sign of life it is only noted: this runs with every message. */
  const heard = (connection: number): void => {
    if (state.name === "live") heardAt = runtime.elapsed();
    else dispatch({ type: "heard", connection });
  };

  /** A timer that ran out while messages came is set again from the last one. */
  const setTimer = (delayMs: number): void => {
    const setAt = runtime.elapsed();
    cancelTimer = runtime.setTimer(delayMs, () => {
      const restMs = Math.min(delayMs, heardAt + delayMs - runtime.elapsed());
      if (state.name === "live" && heardAt > setAt && restMs > 0) setTimer(restMs);
      else dispatch({ type: "timer" });
    });
  };

  const drop = (): void => {
    if (socket === null) return;
    const dropped = socket;
    socket = null;
    dropped.onopen = null;
    dropped.onmessage = null;
    dropped.onclose = null;
    dropped.onerror = ignoreError;
    dropped.close();
  };

  /** A message that is too large would end the connection, and be sent again on the next one. */
  const sendNow = (message: ClientMessage): ErrorBody | null => {
    const text = JSON.stringify(message);
    if (text.length * 3 > MESSAGE_BYTES && new TextEncoder().encode(text).length > MESSAGE_BYTES)
      return refusal("too_large", `unable to send; a message takes at most ${MESSAGE_BYTES} bytes`);
    try {
      socket?.send(text);
      return null;
    } catch (cause) {
      const error = refusal("offline", `unable to send to ${options.url}; ${String(cause)}`);
      const { connection } = state;
      runtime.defer(() => dispatch({ type: "dropped", connection, error }));
      return error;
    }
  };

  const carryOut = (effect: LinkEffect): void => {
    switch (effect.type) {
      case "getToken":
        void getToken(effect.connection);
        break;
      case "open":
        token = effect.token;
        open(effect.connection);
        break;
      case "hello":
        sendNow({
          type: "hello",
          protocol: PROTOCOL_VERSION,
          writer: options.writer,
          ...(token === undefined ? {} : { token }),
        });
        break;
      case "ping":
        sendNow({ type: "ping" });
        break;
      case "drop":
        drop();
        break;
      case "timer":
        cancelTimer?.();
        cancelTimer = null;
        if (effect.delayMs !== null) setTimer(effect.delayMs);
        break;
    }
  };

  return {
    get state() {
      return state;
    },
    start: () => dispatch({ type: "start" }),
    stop: () => dispatch({ type: "stop" }),
    wake: () => dispatch({ type: "wake" }),
    send: (message) => {
      if (!isConnected(state)) return NOT_CONNECTED;
      return sendNow(message);
    },
  };
};

const NOT_CONNECTED = refusal("offline", "unable to send; there is no connection");

const parse = (data: unknown): ServerMessage | null => {
  try {
    const message: unknown = JSON.parse(String(data));
    return typeof message === "object" && message !== null ? (message as ServerMessage) : null;
  } catch {
    return null;
  }
};

/** A close follows every error of a socket, and says what there is to say. */
const ignoreError = (): void => {};

export const isConnected = ({ name }: LinkState): boolean => name === "live" || name === "checking";
