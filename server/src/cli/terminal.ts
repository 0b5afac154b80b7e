/** What a command is given of the world: where it writes and asks, time and chance, and when it is asked to stop. */
import type { Runtime } from "@espalier/shared";
import type { Output } from "./output.js";

export type Terminal = {
  readonly out: Output;
  readonly err: Output;
  readonly runtime: Runtime;
  /** Resolves at Ctrl-C or SIGTERM, which from the first call on no longer end the process by themselves. */
  untilStopped(): Promise<void>;
  /** Asks whoever sits there, and resolves with the answer; null where nobody does. */
  ask(question: string): Promise<string | null>;
};
