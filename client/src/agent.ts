/** The reading half of an agent: finds requested runs in all sessions, takes them, and hands them on. */
import type { ErrorBody, RunId, SessionId, SessionSummary } from "@espalier/shared";
import type { BorrowedSession } from "./client-types.js";
import { isPassing } from "./requests.js";
import type { HeldRun, Session } from "./session-types.js";

/** What is told of a handler's failure. */
const MAX_REASON_LENGTH = 1000;

export type RunHandler = (run: HeldRun, session: Session) => Promise<void>;

type AgentClient = {
  borrow(id: SessionId): BorrowedSession;
  watch(listener: (sessions: readonly SessionSummary[]) => void): () => void;
};

export type ServeOptions = {
  /** Serves the sessions that pass; all by default. */
  readonly match?: (session: SessionSummary) => boolean;
  /** Hears of what went wrong: a handler that threw, a run that could not be ended. */
  readonly onError?: (error: unknown, runId: RunId) => void;
};

/**
 * Answers every requested run that no other agent takes first (R1). A handler that returns without
 * ending its run ends it as done; one that throws, as failed.
 *
 * @example
 * const stop = serveRuns(client, async (run) => {
 *   const message = run.stream();
 *   for await (const token of answer(await run.history())) message.append(token);
 *   await message.end();
 * });
 * @returns its undo: no further run is taken; those under way go on.
 */
export const serveRuns = (
  client: AgentClient,
  handle: RunHandler,
  options: ServeOptions = {},
): (() => void) => {
  const { match = () => true, onError = () => {} } = options;
  const attendedById = new Map<SessionId, () => void>();
  let isStopped = false;

  const carryOut = async (run: HeldRun, session: Session): Promise<void> => {
    let failure: ErrorBody | null = null;
    try {
      await handle(run, session);
    } catch (cause) {
      onError(cause, run.run.id);
      failure = {
        code: "internal",
        message: `unable to answer; ${String(cause).slice(0, MAX_REASON_LENGTH)}`,
      };
    }
    if (failure === null && run.error !== null) {
      onError(run.error, run.run.id);
      failure = run.error;
    }
    const refused = await (failure === null ? run.end("done") : run.end("failed", { error: failure }));
    // `closed`: the handler has ended it already, in its own way.
    if (refused !== null && refused.code !== "closed") onError(refused, run.run.id);
  };

  /** Stays joined while there is something to do. */
  const attend = (id: SessionId): void => {
    if (attendedById.has(id) || isStopped) return;
    const { session, release: giveBack } = client.borrow(id);
    const taken = new Set<RunId>();
    let active = 0;

    const take = async (runId: RunId): Promise<void> => {
      active += 1;
      const run = await session.claim(runId);
      if (!("code" in run)) await carryOut(run, session);
      // Nobody has it yet: it is looked for again when something of the session changes.
      else if (isPassing(run)) taken.delete(runId);
      active -= 1;
      look();
    };

    const look = (): void => {
      if (session.snapshot.status === "failed") return release();
      if (session.snapshot.status !== "live") return;
      const requested = session
        .runs()
        .filter(({ status, id: runId }) => status === "requested" && !taken.has(runId));
      for (const { id: runId } of isStopped ? [] : requested) {
        taken.add(runId);
        void take(runId);
      }
      if (active === 0) release();
    };

    const release = (): void => {
      attendedById.delete(id);
      unsubscribe();
      giveBack();
    };

    const unsubscribe = session.subscribe((change) => {
      if (change.type === "run" || change.type === "status") look();
    });
    attendedById.set(id, look);
    look();
  };

  const unwatch = client.watch((sessions) => {
    for (const summary of sessions) if (summary.waiting > 0 && match(summary)) attend(summary.id);
  });
  return () => {
    isStopped = true;
    unwatch();
    for (const look of [...attendedById.values()]) look();
  };
};
