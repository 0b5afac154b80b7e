/** Who a connection acts as, and what they may do. */
import type { ErrorBody, PrincipalId, SessionId, WriterId } from "@espalier/shared";

export type Right = "read" | "write" | "create";

export type Principal = {
  readonly id: PrincipalId;
  /** May append to and end what others have open. */
  readonly admin?: boolean;
  /** Without it, everything is allowed. */
  readonly may?: (right: Right, session: SessionId) => boolean;
};

/** A principal at work through one client instance. */
export type Actor = { readonly principal: Principal; readonly writer: WriterId };

export type AuthRequest = {
  /** From `hello`. */
  readonly token: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly remoteAddress: string | undefined;
};

/**
 * Says who a connection acts as, or refuses it.
 * @example authenticate: async ({ token }) => (await lookUp(token)) ?? refusal("unauthorized", "unable to sign in; the token has expired")
 */
export type Authenticate = (request: AuthRequest) => Principal | ErrorBody | Promise<Principal | ErrorBody>;

export const isRefusal = (value: Principal | ErrorBody): value is ErrorBody => "code" in value;

export const mayDo = (principal: Principal, right: Right, session: SessionId): boolean =>
  principal.may === undefined || principal.may(right, session);
