/**
 * The life of a connection, as one pure table (J4, J5):
 *
 *              start              token              opened            welcome
 *     ┌─────┐ ──────► ┌────────┐ ───────► ┌─────────┐ ──────► ┌──────────┐ ──────► ┌──────┐  quiet/wake  ┌──────────┐
 *     │ off │         │ asking │          │ opening │         │ greeting │         │ live │ ◄──────────► │ checking │
 *     └─────┘         └────────┘          └─────────┘         └──────────┘         └──────┘    heard     └──────────┘
 *        ▲ stop from   ▲    │ noToken          │ dropped, timer   │                    │ dropped              │ dropped, timer
 *        │ anywhere    │    ▼                  ▼                  ▼                    ▼                      ▼
 *        │             │  ┌─────────┐ ◄───────────────────────────────────────────────────────────────────────
 *        │     timer,  └──│ waiting │   full-jitter backoff
 *        │     wake       └─────────┘
 *                      ▲  start    ┌─────────┐
 *                      └────────── │ refused │ ◄── refused (token or protocol): not retried by itself
 *                                  └─────────┘
 *
 * Each try has a number. What belongs to an earlier try (a late close of an old socket) changes nothing.
 */
import type { ErrorBody } from "@espalier/shared";

export type LinkName =
  | "off"
  | "asking"
  | "opening"
  | "greeting"
  | "live"
  | "checking"
  | "waiting"
  | "refused";

export type LinkState = {
  readonly name: LinkName;
  /** The number of the try, raised with each. */
  readonly connection: number;
  /** Tries in a row that did not stay live for a while. */
  readonly failures: number;
  /** When this try became live; null where it has not. */
  readonly liveAt: number | null;
  /** Why it is waiting or refused. */
  readonly error: ErrorBody | null;
};

export type LinkEvent =
  | { readonly type: "start" }
  | { readonly type: "stop" }
  /** The network or the page came back: check, or try at once. */
  | { readonly type: "wake" }
  | { readonly type: "timer" }
  | { readonly type: "token"; readonly connection: number; readonly token: string | undefined }
  | { readonly type: "noToken"; readonly connection: number; readonly error: ErrorBody }
  | { readonly type: "opened"; readonly connection: number }
  | { readonly type: "welcome"; readonly connection: number }
  | { readonly type: "heard"; readonly connection: number }
  | { readonly type: "refused"; readonly connection: number; readonly error: ErrorBody }
  | { readonly type: "dropped"; readonly connection: number; readonly error: ErrorBody };

export type LinkEffect =
  | { readonly type: "getToken"; readonly connection: number }
  | { readonly type: "open"; readonly connection: number; readonly token: string | undefined }
  | { readonly type: "hello" }
  | { readonly type: "ping" }
  /** Gives up the socket, without hearing of it again. */
  | { readonly type: "drop" }
  /** Replaces the timer that runs; null ends it. */
  | { readonly type: "timer"; readonly delayMs: number | null };

export type Step = { readonly state: LinkState; readonly effects: readonly LinkEffect[] };

const OPEN_MS = 10_000;
/** With the answer's time, a dead peer is found within 35 s. */
const QUIET_MS = 25_000;
const ANSWER_MS = 10_000;
/** A connection that ends sooner is a failure, so that one which ends at once is not tried without end. */
const STABLE_MS = 3_000;
const BACKOFF_MIN_MS = 500;
const BACKOFF_MAX_MS = 30_000;

export const LINK_OFF: LinkState = { name: "off", connection: 0, failures: 0, liveAt: null, error: null };

/** Full jitter: any time up to a bound that doubles. */
export const backoffMs = (failures: number, chance: number): number =>
  chance * Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(failures, 16));

/** What a step takes from outside: the time, and chance to spread the tries of many clients. */
export type World = { readonly now: number; readonly chance: number };

type Handler<Type extends LinkEvent["type"]> = (
  state: LinkState,
  event: Extract<LinkEvent, { type: Type }>,
  world: World,
) => Step;
type Row = { readonly [Type in LinkEvent["type"]]: Handler<Type> };

const stay = (state: LinkState): Step => ({ state, effects: [] });

const ask = (state: LinkState): Step => {
  const connection = state.connection + 1;
  return {
    state: { ...state, name: "asking", connection },
    effects: [{ type: "drop" }, { type: "timer", delayMs: OPEN_MS }, { type: "getToken", connection }],
  };
};

const wait = (state: LinkState, error: ErrorBody, { now, chance }: World): Step => {
  const wasStable = state.liveAt !== null && now - state.liveAt >= STABLE_MS;
  const failures = wasStable ? 0 : state.failures;
  return {
    state: { ...state, name: "waiting", failures: failures + 1, liveAt: null, error },
    effects: [{ type: "drop" }, { type: "timer", delayMs: backoffMs(failures, chance) }],
  };
};

const LATE: ErrorBody = { code: "timeout", message: "unable to connect; the server did not answer in time" };
const waitLate: Handler<"timer"> = (state, _event, world) => wait(state, LATE, world);
const waitDropped: Handler<"dropped"> = (state, { error }, world) => wait(state, error, world);

/** What the server refuses for good would be refused again; anything else is worth another try. */
const refuse: Handler<"refused"> = (state, { error }, world) =>
  error.code === "unauthorized" || error.code === "protocol" || error.code === "forbidden"
    ? {
        state: { ...state, name: "refused", liveAt: null, error },
        effects: [{ type: "drop" }, { type: "timer", delayMs: null }],
      }
    : wait(state, error, world);

const stop: Handler<"stop"> = (state) => ({
  state: { ...state, name: "off", failures: 0, liveAt: null, error: null },
  effects: [{ type: "drop" }, { type: "timer", delayMs: null }],
});

const check = (state: LinkState): Step => ({
  state: { ...state, name: "checking" },
  effects: [{ type: "ping" }, { type: "timer", delayMs: ANSWER_MS }],
});

/** Everything that has no place in a state leaves it as it is. */
const quiet: Row = {
  start: stay,
  stop,
  wake: stay,
  timer: stay,
  token: stay,
  noToken: stay,
  opened: stay,
  welcome: stay,
  heard: stay,
  refused: stay,
  dropped: stay,
};

const TABLE: Record<LinkName, Row> = {
  off: { ...quiet, start: ask, stop: stay },
  asking: {
    ...quiet,
    token: (state, { token }) => ({
      state: { ...state, name: "opening" },
      effects: [
        { type: "timer", delayMs: OPEN_MS },
        { type: "open", connection: state.connection, token },
      ],
    }),
    noToken: (state, { error }, world) => wait(state, error, world),
    timer: waitLate,
  },
  opening: {
    ...quiet,
    opened: (state) => ({
      state: { ...state, name: "greeting" },
      effects: [{ type: "hello" }, { type: "timer", delayMs: OPEN_MS }],
    }),
    refused: refuse,
    dropped: waitDropped,
    timer: waitLate,
  },
  greeting: {
    ...quiet,
    welcome: (state, _event, { now }) => ({
      state: { ...state, name: "live", liveAt: now, error: null },
      effects: [{ type: "timer", delayMs: QUIET_MS }],
    }),
    refused: refuse,
    dropped: waitDropped,
    timer: waitLate,
  },
  live: {
    ...quiet,
    heard: (state) => ({ state, effects: [{ type: "timer", delayMs: QUIET_MS }] }),
    timer: check,
    wake: check,
    refused: refuse,
    dropped: waitDropped,
  },
  checking: {
    ...quiet,
    heard: (state) => ({
      state: { ...state, name: "live" },
      effects: [{ type: "timer", delayMs: QUIET_MS }],
    }),
    refused: refuse,
    dropped: waitDropped,
    timer: waitLate,
  },
  waiting: { ...quiet, start: ask, timer: ask, wake: ask },
  refused: { ...quiet, start: ask },
};

/** `chance` is at least 0 and below 1, `now` in ms of a clock that only rises. */
export const stepLink = (state: LinkState, event: LinkEvent, world: World): Step => {
  if ("connection" in event && event.connection !== state.connection) return stay(state);
  const handle = TABLE[state.name][event.type] as Handler<LinkEvent["type"]>;
  return handle(state, event as never, world);
};
