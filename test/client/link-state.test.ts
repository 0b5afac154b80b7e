/** The life of a connection as its table says it. */
import { refusal } from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  backoffMs,
  LINK_OFF,
  type LinkEvent,
  type LinkName,
  type LinkState,
  stepLink,
} from "../../client/src/link-state.js";

const WORLD = { now: 0, chance: 0.5 };
const gone = refusal("offline", "unable to go on; the line is cut");

const run = (
  events: readonly LinkEvent[],
  from: LinkState = LINK_OFF,
): { state: LinkState; effects: string[] } => {
  let state = from;
  const effects: string[] = [];
  for (const event of events) {
    const step = stepLink(state, event, WORLD);
    state = step.state;
    effects.push(...step.effects.map(({ type }) => type));
  }
  return { state, effects };
};

const live = (connection = 1): LinkEvent[] => [
  { type: "start" },
  { type: "token", connection, token: "t" },
  { type: "opened", connection },
  { type: "welcome", connection },
];

describe("a connection", () => {
  test("[J4] asks for a token, opens, greets, and is live", () => {
    const { state, effects } = run(live());
    expect(state).toMatchObject({ name: "live", liveAt: 0, error: null });
    expect(effects.filter((type) => type !== "timer" && type !== "drop")).toEqual([
      "getToken",
      "open",
      "hello",
    ]);
  });

  test("[J5] case-J5: what an old socket says late changes nothing", () => {
    const before = run([
      ...live(1),
      { type: "dropped", connection: 1, error: gone },
      { type: "timer" },
      ...live(2).slice(1),
    ]).state;
    expect(before).toMatchObject({ name: "live", connection: 2 });
    for (const late of [
      { type: "dropped", connection: 1, error: gone },
      { type: "refused", connection: 1, error: refusal("unauthorized", "no") },
      { type: "opened", connection: 1 },
      { type: "token", connection: 1, token: "old" },
    ] satisfies LinkEvent[])
      expect(stepLink(before, late, WORLD)).toEqual({ state: before, effects: [] });
  });

  test("[J4] waits longer after each failure, spread over the whole time, up to 30 s", () => {
    expect([0, 1, 2, 3, 10, 1000].map((failures) => backoffMs(failures, 0.999999))).toEqual(
      [500, 1000, 2000, 4000, 30_000, 30_000].map((bound) => expect.closeTo(bound, 0)),
    );
    expect(backoffMs(5, 0)).toBe(0);
  });

  test("[J4] a connection that ends at once counts as a failure, one that lasted does not", () => {
    const drop = (livedMs: number) => {
      const { state } = run(live());
      return stepLink(
        { ...state, failures: 4 },
        { type: "dropped", connection: 1, error: gone },
        { now: livedMs, chance: 1 },
      );
    };
    expect(drop(100).effects.at(-1)).toEqual({ type: "timer", delayMs: 8000 });
    expect(drop(60_000).effects.at(-1)).toEqual({ type: "timer", delayMs: 500 });
  });

  test("[J4] a refused token is not tried again by itself; a start is", () => {
    const refusedEvent: LinkEvent = { type: "refused", connection: 1, error: refusal("unauthorized", "no") };
    const { state } = run([...live().slice(0, 3), refusedEvent]);
    expect(state.name).toBe("refused");
    expect(run([{ type: "timer" }, { type: "wake" }], state).state.name).toBe("refused");
    expect(run([{ type: "start" }], state).state.name).toBe("asking");
  });

  test("[J5] a quiet connection is checked, and given up when nothing comes", () => {
    const { state, effects } = run([...live(), { type: "timer" }]);
    expect(state.name).toBe("checking");
    expect(effects).toContain("ping");
    expect(run([{ type: "heard", connection: 1 }], state).state.name).toBe("live");
    expect(run([{ type: "timer" }], state).state).toMatchObject({
      name: "waiting",
      error: { code: "timeout" },
    });
  });

  test("[J4] from whatever state, it becomes live again when the server is there", () => {
    const events: fc.Arbitrary<LinkEvent> = fc.oneof(
      fc.constantFrom<LinkEvent>({ type: "start" }, { type: "stop" }, { type: "wake" }, { type: "timer" }),
      fc.record({
        type: fc.constantFrom("opened" as const, "welcome" as const, "heard" as const),
        connection: fc.nat(4),
      }),
      fc.record({
        type: fc.constant("token" as const),
        connection: fc.nat(4),
        token: fc.constant(undefined),
      }),
      fc.record({
        type: fc.constantFrom("dropped" as const, "refused" as const, "noToken" as const),
        connection: fc.nat(4),
        error: fc.constantFrom(gone, refusal("unauthorized", "no"), refusal("overloaded", "later")),
      }),
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 30 }), (before) => {
        let { state } = run([{ type: "start" }, ...before, { type: "start" }]);
        const seen: LinkName[] = [];
        for (let index = 0; index < 10 && state.name !== "live"; index += 1) {
          seen.push(state.name);
          const { connection } = state;
          const next: Record<LinkName, LinkEvent> = {
            off: { type: "start" },
            refused: { type: "start" },
            waiting: { type: "timer" },
            asking: { type: "token", connection, token: undefined },
            opening: { type: "opened", connection },
            greeting: { type: "welcome", connection },
            checking: { type: "heard", connection },
            live: { type: "wake" },
          };
          state = stepLink(state, next[state.name], WORLD).state;
        }
        expect([...seen, state.name].at(-1)).toBe("live");
      }),
    );
  });
});
