/**
 * Asks until there is an answer: waits for a connection, and asks again after a drop or a passing refusal. For
 * what may be asked twice (L4).
 */
import type { ErrorBody, ErrorCode, Runtime } from "@espalier/shared";
import { backoffMs } from "./link-state.js";
import { type Ask, isPassing } from "./requests.js";

type PatientOptions<M> = {
  readonly runtime: Runtime;
  /** One try. */
  readonly ask: Ask<M>;
  /** Resolves with null where one can ask, or with why that will not be. */
  readonly untilReady: () => Promise<ErrorBody | null>;
};

/** After so many passing refusals in a row, about a minute, one is answered with them. */
const MAX_TRIES = 8;
/** The connection or subscription ended before there was an answer. */
const DROPPED: ReadonlySet<ErrorCode> = new Set(["offline", "not_joined"]);

export const createPatientAsk = <M>({ runtime, ask, untilReady }: PatientOptions<M>): Ask<M> => {
  const pause = (delayMs: number): Promise<void> =>
    new Promise((resolve) => void runtime.setTimer(delayMs, resolve));

  return async (message, take) => {
    for (let tries = 1; ; ) {
      const error = await untilReady();
      if (error !== null) return { type: "refused", error };
      const reply = await ask(message, take);
      if (reply.type !== "refused") return reply;
      if (DROPPED.has(reply.error.code)) {
        // The connection's end is told next; until then this would ask in a circle.
        await new Promise<void>((resolve) => runtime.defer(resolve));
      } else if (isPassing(reply.error) && tries < MAX_TRIES) {
        await pause(backoffMs(tries, runtime.random()));
        tries += 1;
      } else return reply;
    }
  };
};
