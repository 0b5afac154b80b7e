/**
 * The agent: a process of its own, and an ordinary user of the client. It answers from its library, or, with
 * `OPENAI_API_KEY`, by a model (`OPENAI_BASE_URL` and `OPENAI_MODEL` are optional).
 *
 * When whoever started it is gone it takes nothing new, ends what it has under way, and goes too. So an
 * answer outlives a server that is killed and comes back.
 */
import { connect, serveRuns } from "@espalier/client";
import { WebSocket } from "ws";
import type { Answer } from "./answer.js";
import { createGardener } from "./gardener.js";
import { createHandler } from "./handler.js";

const DEFAULT_URL = "ws://127.0.0.1:4400/espalier";
const DEFAULT_SPEED = 30;
/** How long an answer may take once its starter is gone. */
const ORPHAN_MS = 120_000;
const STOP_MS = 2000;

const { env } = process;

const createAnswer = async (): Promise<Answer> => {
  if (!env.OPENAI_API_KEY) return createGardener({ speed: Number(env.AGENT_SPEED) || DEFAULT_SPEED });
  const { createOpenAiAnswer } = await import("./openai.js");
  return createOpenAiAnswer({
    apiKey: env.OPENAI_API_KEY,
    baseURL: env.OPENAI_BASE_URL || undefined,
    model: env.OPENAI_MODEL || undefined,
  });
};

const stop = new AbortController();
const handle = createHandler(await createAnswer(), stop.signal);
const client = connect({ url: env.ESPALIER_URL ?? DEFAULT_URL, token: "agent", WebSocket });
let underWay = 0;
let isLeaving = false;

const leave = (): void => {
  client.close();
  process.exit(0);
};

/** Leaves when nothing is under way, and in any case after a while. */
const leaveWhenDone = (withinMs: number): void => {
  isLeaving = true;
  stopServing();
  if (underWay === 0) leave();
  setTimeout(leave, withinMs);
};

const stopServing = serveRuns(
  client,
  async (run, session) => {
    underWay += 1;
    try {
      await handle(run, session);
      await run.end();
    } finally {
      underWay -= 1;
      if (isLeaving && underWay === 0) leave();
    }
  },
  {
    onError: (error, runId) => console.error(`Unable to answer run ${runId}; ${String(error)}`),
  },
);

const onSignal = (): void => {
  stop.abort();
  leaveWhenDone(STOP_MS);
};
process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
process.on("disconnect", () => leaveWhenDone(ORPHAN_MS));
