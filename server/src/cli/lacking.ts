/** What the files of a session hold and its running server does not tell, in words for stderr. */
import { pathTo, RESET } from "@espalier/shared";
import { type Conversation, leafOf } from "../export/conversation.js";
import { type Output, say } from "./output.js";
import { countOf } from "./wording.js";

export const BEFORE_RESET = "what came before its last reset";

/** Of an export in Espalier's own format: of one line where a leaf is named, else of the whole. */
export const lackingIn = (conversation: Conversation, leaf: Parameters<typeof leafOf>[1]): string[] => {
  const { tree, registers, runs } = conversation;
  const end = leaf === undefined ? null : leafOf(conversation, leaf);
  const nodes = end === null ? tree.nodes() : pathTo(end);
  const lackingRuns = new Set<string>();
  for (const { entry } of nodes)
    if (entry.runId !== undefined && runs.get(entry.runId) === undefined) lackingRuns.add(entry.runId);
  // A line is whole wherever it begins.
  const isCut = end === null && (registers.get(RESET) ?? null) !== null;
  return [
    ...(isCut ? [BEFORE_RESET] : []),
    ...(lackingRuns.size > 0
      ? [countOf(lackingRuns.size, "run that has ended", "runs that have ended")]
      : []),
  ];
};

/** Says it on stderr, in one line, where something lacks. @param done what becomes of the whole */
export const sayLacking = (
  err: Output,
  session: string,
  lacking: readonly string[],
  done: "exported" | "shown",
): void => {
  if (lacking.length === 0) return;
  const told = `its running server does not tell ${lacking.join(", nor ")}`;
  say(err, `this is not all of ${session}; ${told} (all of it is ${done} when the server is stopped)`);
};
