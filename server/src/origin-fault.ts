/**
 * Why a session cannot be used for the sake of another, which the reader may not know of (F4). The error
 * itself names no other session, so it may be told to anybody; who may read that one is told the rest.
 */
import { type ErrorBody, refusal, type SessionId } from "@espalier/shared";
import { mayDo, type SignedIn } from "./principal.js";

/** A symbol, so that no encoding holds it. */
const DETAIL = Symbol("detail");

type Detail = { readonly session: SessionId; readonly message: string };
type OriginFault = ErrorBody & { readonly [DETAIL]?: Detail };

/** `message` is for who may read `session`. */
export const originFault = (
  code: ErrorBody["code"],
  publicMessage: string,
  session: SessionId,
  message: string,
): ErrorBody => {
  const fault: OriginFault = { ...refusal(code, publicMessage), [DETAIL]: { session, message } };
  return fault;
};

export const cannotOpen = (id: SessionId): string => `unable to open ${id}; its origin cannot be read`;

/** In full, for who owns the server; null where there is no more to it. */
export const detailOf = (error: OriginFault): string | null => error[DETAIL]?.message ?? null;

/** The error as somebody may be told it. */
export const errorFor = (error: OriginFault, principal: SignedIn): ErrorBody => {
  const detail = error[DETAIL];
  if (detail === undefined) return error;
  const isTold = principal.admin === true || mayDo(principal, "read", detail.session);
  return refusal(error.code, isTold ? detail.message : error.message);
};
