/** Where sessions come from: what of it a reader may know (F4), and what a sidechain may come from (F5). */
import {
  type ErrorBody,
  isSidechain,
  type Origin,
  refusal,
  rootOf,
  type SessionId,
  type SessionSummary,
  type Start,
} from "@espalier/shared";
import { errorFor } from "./origin-fault.js";
import { mayDo, type SignedIn } from "./principal.js";

export const maskOrigin = (origin: Origin, principal: SignedIn): Origin =>
  origin.session === null || mayDo(principal, "read", origin.session) ? origin : { ...origin, session: null };

export const maskSummary = (summary: SessionSummary, principal: SignedIn): SessionSummary => ({
  ...summary,
  ...(summary.origin === undefined ? {} : { origin: maskOrigin(summary.origin, principal) }),
  ...(summary.error === undefined ? {} : { error: errorFor(summary.error, principal) }),
});

/** Why a session cannot begin from there, or null. */
export const startFault = (id: SessionId, start: Start): ErrorBody | null => {
  if (!isSidechain(id))
    return refusal(
      "invalid",
      `unable to begin ${id} from ${start.session}; only a sidechain begins from another session`,
    );
  if (start.session !== id && rootOf(start.session) === rootOf(id)) return null;
  return refusal(
    "invalid",
    `unable to begin ${id} from ${start.session}; a sidechain begins in its root session or in another sidechain of it`,
  );
};
