/**
 * Ids and their grammar (L8). An id is chosen by whoever makes the thing and never reused (L3).
 * Brands keep one kind of id from standing where another belongs; at run time they are strings.
 */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type EntryId = Branded<"EntryId">;
export type RunId = Branded<"RunId">;
/** `name`, or `name/agent` for a sidechain of the session `name`. */
export type SessionId = Branded<"SessionId">;
/** One client instance: a process or a page, kept over reconnects. */
export type WriterId = Branded<"WriterId">;
export type PrincipalId = Branded<"PrincipalId">;
/** One unbroken incarnation of a log. */
export type Epoch = Branded<"Epoch">;
/** The serial of a record: a positive safe integer that only rises within a session's log. */
export type Seq = number & { readonly [brand]: "Seq" };

const NAME = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}";

export const ID_PATTERN = new RegExp(`^${NAME}$`);
export const SESSION_ID_PATTERN = new RegExp(`^${NAME}(?:/${NAME})?$`);
/** Principals come from other systems' tokens, so they may also be e-mail addresses and the like. */
export const PRINCIPAL_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._@:+-]{0,127}$/;

export const isId = (value: unknown): value is EntryId & RunId & WriterId & Epoch =>
  typeof value === "string" && ID_PATTERN.test(value);

export const isSessionId = (value: unknown): value is SessionId =>
  typeof value === "string" && SESSION_ID_PATTERN.test(value);

export const isPrincipalId = (value: unknown): value is PrincipalId =>
  typeof value === "string" && PRINCIPAL_ID_PATTERN.test(value);

/** The session whose sidechain it is, or itself: sidechains are flat below their root session. */
export const rootOf = (id: SessionId): SessionId => id.split("/", 1)[0] as SessionId;

export const isSidechain = (id: SessionId): boolean => rootOf(id) !== id;

/** Letters and digits only, so an id can be selected with a double click and needs no escaping. */
export const ID_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^16 ids: a collision within one session is out of reach. */
export const ID_LENGTH = 16;
