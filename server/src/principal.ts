/** Who a connection acts as, and what they may do. */
import type { ErrorBody, PrincipalId, SessionId, WriterId } from "@espalier/shared";

/**
 * `read`: join, list and fork from; `write`: publish, append, claim, set registers; `create`: begin a session,
 * also as a fork; `delete`: remove it for good, with its sidechains.
 */
export type Right = "read" | "write" | "create" | "delete";

export type Principal = {
  /** A letter or digit, then up to 127 letters, digits and `._@:+-`: an e-mail address is one. */
  readonly id: string;
  /** May append to and end what others have open, erase entries, and set the registers that are others' own. */
  readonly admin?: boolean;
  /** Asked at each join and for each session of a list. Without it, everything is allowed. */
  readonly may?: (right: Right, session: SessionId) => boolean;
};

/** A principal whose id was found to be one. */
export type SignedIn = Omit<Principal, "id"> & { readonly id: PrincipalId };

/** A principal at work through one client instance. */
export type Actor = { readonly principal: SignedIn; readonly writer: WriterId };

export type AuthRequest = {
  /** What the client was given as its token. */
  readonly token: string | undefined;
  /** Of the request that opened the socket: cookies, `authorization`, `origin`. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The peer's address; a proxy's, where there is one. */
  readonly remoteAddress: string | undefined;
};

/**
 * Says who a connection acts as, or refuses it. One that throws is told to `onTrouble`; the client tries again.
 *
 * @example
 * const authenticate: Authenticate = async ({ token }) => {
 *   const user = await userOfToken(token);
 *   return user === null ? refusal("unauthorized", "unable to sign in; the token has expired") : { id: user.email };
 * };
 */
export type Authenticate = (request: AuthRequest) => Principal | ErrorBody | Promise<Principal | ErrorBody>;

export const isRefusal = (value: Principal | ErrorBody): value is ErrorBody => "code" in value;

export const mayDo = (principal: SignedIn, right: Right, session: SessionId): boolean =>
  principal.may === undefined || principal.may(right, session);
