/**
 * Open development mode: without `authenticate` everyone may do everything, so only this machine gets in.
 * A page of elsewhere could reach a loopback server through its reader's browser, and a proxy on this
 * machine could let strangers through; both are turned away.
 */
import type { IncomingMessage } from "node:http";
import { isPrincipalId, refusal } from "@espalier/shared";
import type { Authenticate } from "./principal.js";

/**
 * The token names the principal, so that several can be tried without any set-up. Each is an admin: it is
 * one's own machine.
 */
export const authenticateAnyone: Authenticate = ({ token = "local" }) =>
  isPrincipalId(token)
    ? { id: token, admin: true }
    : refusal("unauthorized", "unable to sign in; in open mode the token is the name of the principal");

/** Why a request is turned away, or null. */
export const turnAwayStrangers = ({ headers, socket }: IncomingMessage): string | null => {
  if (!isLoopback(socket.remoteAddress ?? "")) return "open development mode serves this machine only";
  if (headers.forwarded !== undefined || headers["x-forwarded-for"] !== undefined)
    return "open development mode serves nobody through a proxy";
  const { origin } = headers;
  if (origin === undefined || isLoopback(hostOf(origin))) return null;
  return "open development mode serves pages of this machine only";
};

/** Names are not looked up: `127.example.com` is no address of this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(host);

const hostOf = (origin: string): string => {
  try {
    return new URL(origin).hostname.replace(/^\[|\]$/g, "");
  } catch {
    return "";
  }
};
