/** Carries out a run: writes the answer into a message as it comes, and ends both the way the answer ended. */
import { type Entry, EspalierError, type RunHandler, type Session, type Usage } from "@espalier/client";
import { type Answer, isPrompt, textOf } from "./answer.js";

const TITLE_LENGTH = 60;

/** `stop`: the agent is told to end; what it has written so far stays. */
export const createHandler =
  (answer: Answer, stop: AbortSignal): RunHandler =>
  async (run, session) => {
    const message = run.stream();
    const over = new AbortController();
    const signal = AbortSignal.any([stop, over.signal]);
    const unsubscribe = session.subscribe((change) => {
      if (change.type === "run" && change.id === run.run.id && !isWanted(session, run.run.id)) over.abort();
    });
    let usage: Usage | undefined;
    try {
      const history = await run.history();
      if ("code" in history) throw new EspalierError(history.code, history.message);
      giveTitle(session, history);
      const question = { history, seed: run.run.id, options: run.run.options ?? {}, signal };
      for await (const piece of answer(question)) {
        if ("text" in piece) message.append(piece.text);
        else usage = piece.usage;
        if (signal.aborted || message.error !== null) break;
      }
      await message.end(signal.aborted ? "aborted" : "complete", usage);
    } catch (cause) {
      if (!signal.aborted) message.push({ type: "data", name: "error", data: { message: reasonOf(cause) } });
      await message.end(signal.aborted ? "aborted" : "failed");
      if (!signal.aborted) throw cause;
    } finally {
      unsubscribe();
    }
    if (stop.aborted)
      await run.end("failed", {
        error: { code: "unavailable", message: "unable to go on; the agent was stopped" },
      });
  };

const isWanted = (session: Session, runId: Parameters<Session["run"]>[0]): boolean => {
  const status = session.run(runId)?.status;
  return status === undefined || status === "requested" || status === "active";
};

/** A conversation without a title is named after its first prompt. */
const giveTitle = (session: Session, history: readonly Entry[]): void => {
  const prompt = textOf(history.find(isPrompt)).trim();
  if (session.snapshot.title === null && prompt !== "") void session.setRegister("title", shorten(prompt));
};

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ");
  if (line.length <= TITLE_LENGTH) return line;
  const cut = line.slice(0, TITLE_LENGTH + 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), TITLE_LENGTH / 2)).toWellFormed()} …`;
};

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
