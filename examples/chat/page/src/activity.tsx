/** What the agent is doing for this line, while there is nothing of it to read yet. */
import type { Run } from "@espalier/client";
import { useProvidedView, useRuns, useView } from "@espalier/client/react";
import { useActs } from "./acts.js";

export const Activity = () => {
  const view = useProvidedView();
  const { leafId } = useView(view);
  const acts = useActs();
  // Who looks at another alternative did not ask for this answer and will not see it.
  const run = useRuns().findLast(({ id, inputId }) => inputId === leafId || acts.wasAskedHere(id));
  const isShown = run !== undefined && leafRunId(view.get(leafId as never)?.entry) !== run.id;
  return (
    <p className="activity" role="status" aria-label="Agent">
      {isShown && (LINES[run.status] ?? "")}
    </p>
  );
};

const leafRunId = (entry: { runId?: string } | undefined): string | undefined => entry?.runId;

const LINES: Partial<Record<Run["status"], string>> = {
  requested: "Waiting for an agent …",
  active: "The agent is thinking …",
  suspended: "The agent waits for an answer.",
  cancelling: "Stopping …",
};
